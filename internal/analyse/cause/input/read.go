package input

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/usage"
	"bottleneck/internal/model"
	"regexp"
	"strings"
)

// readCall matches source lines that do nothing but read from a file.
var readCall = regexp.MustCompile(`\b(pread|preadv|read|readinto|read_bytes)\s*\(`)

// fetchesFromDisk says that the fetch stands in reads of files that are not in memory: its line reads, nearly none of it holds the
// interpreter's lock, and some of it sleeps, or the kernel counts what comes from disks. A fast disk's reads are too short to be seen
// asleep more often; one that the page cache answers never sleeps.
func (v *inputView) fetchesFromDisk(c *facts.Facts) bool {
	return v.samples >= 10 && v.blocked+v.native >= price.DiskNative && v.hotOK && v.hotPart >= 0.5 &&
		readCall.MatchString(c.Where(v.hot).Source) && (v.blocked >= price.DiskAsleep || v.fromDisks(c) > 0)
}

// fromDisks is what the program itself, which fetches, reads from disks in each step, in bytes; 0 where that is not so much that it waits
// for them, or not known.
func (v *inputView) fromDisks(c *facts.Facts) float64 {
	perStep, ok := usage.FromDisks(c.P, c.B.Kind)
	if !ok || v.workers > 0 || perStep < price.DiskBytes*c.PerStep(v.wait) {
		return 0
	}
	return perStep
}

// stored is the share of a fetch that ends when what it reads is in memory: what sleeps or waits for an answer, and of a fast disk's reads
// all but the copy.
func (v *inputView) stored(c *facts.Facts) float64 {
	gain := price.Cached.Mid * min(v.blocked, 1)
	if v.asking() {
		gain = max(gain, price.Cached.Mid*float64(len(v.asks))/float64(v.samples))
	}
	if v.fetchesFromDisk(c) {
		gain = max(gain, price.CachedDisk.Mid*v.hotPart)
	}
	return gain
}

// inArchive says that a stack is in a NumPy archive's lookup by name, which reads the array from the file and unpacks all of it each time.
func inArchive(cls *code.FrameClasses, id model.StackID) (found bool) {
	cls.Walk(id, func(fr model.FrameID) bool {
		f := &cls.Stacks.Frames[fr]
		path := cls.Strings.Text(f.File)
		found = strings.Contains(path, "/numpy/lib/") && strings.Contains(path, "npyio") &&
			strings.HasSuffix(cls.Strings.Text(f.Function), "__getitem__")
		return !found && cls.File(f.File) != code.FileUser
	})
	return found
}

// unpacks says that most of the fetch looks up arrays in a NumPy archive.
func (v *inputView) unpacks() bool { return v.samples >= facts.MinSamples && v.unpacked >= 0.5 }
