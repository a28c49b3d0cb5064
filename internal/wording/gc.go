package wording

// gcTexts are about garbage collections.
var gcTexts = table{}
