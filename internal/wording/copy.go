package wording

// copyTexts are about copies.
var copyTexts = table{}
