package wording

// compileTexts are about compiling again.
var compileTexts = table{}
