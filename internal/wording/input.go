package wording

// inputTexts are about waits for data.
var inputTexts = table{}
