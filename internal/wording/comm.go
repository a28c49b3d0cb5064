package wording

// commTexts are about communication.
var commTexts = table{}
