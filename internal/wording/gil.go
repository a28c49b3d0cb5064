package wording

// gilTexts are about the interpreter's lock.
var gilTexts = table{}
