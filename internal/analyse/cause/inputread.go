package cause

import "regexp"

// readCall matches source lines that do nothing but read from a file.
var readCall = regexp.MustCompile(`\b(pread|preadv|read|readinto|read_bytes)\s*\(`)

// fetchesFromDisk says that the fetch stands in reads of files that are not in memory: its line reads, nearly none of it holds the
// interpreter's lock, and some of it sleeps. A fast disk's reads are too short to be seen asleep more often; one that the page cache answers
// never sleeps.
func (v *inputView) fetchesFromDisk(c *Context) bool {
	return v.samples >= 10 && v.blocked >= 0.15 && v.blocked+v.native >= 0.75 && v.hotOK && v.hotPart >= 0.5 && readCall.MatchString(c.where(v.hot).Source)
}

// stored is the share of a fetch that ends when what it reads is in memory: what sleeps or waits for an answer, and of a fast disk's reads all
// but the copy.
func (v *inputView) stored(c *Context) float64 {
	gain := 0.97 * min(v.blocked, 1)
	if v.asking() {
		gain = max(gain, 0.97*float64(len(v.asks))/float64(v.samples))
	}
	if v.fetchesFromDisk(c) {
		gain = max(gain, 0.9*v.hotPart)
	}
	return gain
}
