package wording

// layoutTexts are about memory layouts.
var layoutTexts = table{}
