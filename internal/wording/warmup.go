package wording

// warmupTexts are about first steps.
var warmupTexts = table{}
