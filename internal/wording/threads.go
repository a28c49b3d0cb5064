package wording

// threadsTexts are about too many threads.
var threadsTexts = table{}
