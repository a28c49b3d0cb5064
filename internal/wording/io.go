package wording

// ioTexts are about files and networks inside the loop.
var ioTexts = table{}
