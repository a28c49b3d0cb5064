package wording

// launchTexts are about calls of tiny operators.
var launchTexts = table{}
