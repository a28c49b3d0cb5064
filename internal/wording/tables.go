package wording

import "maps"

// table is texts by id: the cause, a point, and the text's own name.
type table map[string]string

var tables = []table{
	common, againTexts, allocTexts, commTexts, compileTexts, computeTexts, copyTexts, gcTexts, gilTexts, gradientsTexts, growthTexts,
	inputTexts, ioTexts, launchTexts, layoutTexts, machineTexts, memoryTexts, nodemandTexts, paddingTexts, precisionTexts, pythonTexts,
	stragglerTexts, syncTexts, threadsTexts, tracedTexts, warmupTexts,
}

// all are the texts of all tables.
var all = func() table {
	out := table{}
	for _, t := range tables {
		maps.Copy(out, t)
	}
	return out
}()

// Templates gives all texts by their ids, for tests that ask whether each is used and well formed.
func Templates() map[string]string { return maps.Clone(all) }
