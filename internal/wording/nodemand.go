package wording

// nodemandTexts are about a device without work.
var nodemandTexts = table{}
