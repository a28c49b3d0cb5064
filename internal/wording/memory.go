package wording

// memoryTexts are about operators that move data.
var memoryTexts = table{}
