package wording

// precisionTexts are about number formats.
var precisionTexts = table{}
