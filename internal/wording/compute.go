package wording

// computeTexts are about computing.
var computeTexts = table{}
