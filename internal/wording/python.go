package wording

// pythonTexts are about the interpreter.
var pythonTexts = table{}
