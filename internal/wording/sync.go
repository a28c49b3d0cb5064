package wording

// syncTexts are about waits for a device.
var syncTexts = table{}
