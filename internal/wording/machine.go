package wording

// machineTexts are about what the machine withholds.
var machineTexts = table{}
