package input

import (
	"bottleneck/internal/analyse/cause/facts"
	"regexp"
)

// lockCall matches source lines that take a lock which several processes share.
var lockCall = regexp.MustCompile(
	`\b(flock|lockf|acquire|FileLock|InterProcessLock)\s*\(|\bwith\s+[\w.\[\]]*(?i:lock|mutex|semaphore)\w*\s*(\(|:)`)

// locked says that the workers sleep at a line that takes a lock: they fetch one after the other, however many they are.
func (v *inputView) locked(c *facts.Facts) bool {
	return v.workers > 1 && v.blocked >= 0.5 && v.hotOK && v.hotPart >= 0.5 && lockCall.MatchString(c.Where(v.hot).Source)
}

// unlocked is the share of a fetch that is gone once the workers no longer wait for each other.
func (v *inputView) unlocked() float64 { return 1 - 1/float64(max(v.workers, 1)) }
