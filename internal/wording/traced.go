package wording

// tracedTexts are about traces from elsewhere.
var tracedTexts = table{}
