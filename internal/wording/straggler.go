package wording

// stragglerTexts are about a late rank.
var stragglerTexts = table{}
