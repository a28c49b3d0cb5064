package usage

import (
	"sort"

	"bottleneck/internal/model"
)

// Processor is what a process computed over a stretch of the run.
type Processor struct {
	CPU      float64 // ns, of all its threads, user and system time
	From, To model.Time
}

// ProcessorOf is what the kernel counted for p between its first and its last look within a stretch; ok is false where it looked less than
// twice.
func ProcessorOf(p *model.Process, from, to model.Time) (u Processor, ok bool) {
	first := sort.Search(len(p.Usage), func(i int) bool { return p.Usage[i].At >= from })
	last := sort.Search(len(p.Usage), func(i int) bool { return p.Usage[i].At > to }) - 1
	if first >= last {
		return u, false
	}
	a, b := &p.Usage[first], &p.Usage[last]
	return Processor{float64(b.User + b.System - a.User - a.System), a.At, b.At}, b.At > a.At
}
