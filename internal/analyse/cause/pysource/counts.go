package pysource

import "regexp"

// index matches what stands for one index of a table: brackets within it hold no further ones.
const index = `(?:[^\[\](),]|\([^()]*\)|\[[^\[\]]*\])+`

// addsOne matches a statement that adds one to an element at two indices.
var addsOne = regexp.MustCompile(`^\s*[\w.]+\[` + index + `(?:,|\]\[)` + index + `\]\s*\+=\s*1(?:\.0?)?\s*(?:#.*)?$`)

// CountsPairs says that a line adds one to the element of a table at two indices, as a loop does that counts a confusion matrix.
func CountsPairs(line string) bool { return addsOne.MatchString(line) }
