package wording

// allocTexts are about allocations.
var allocTexts = table{}
