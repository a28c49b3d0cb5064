package usage

import (
	"sort"

	"bottleneck/internal/model"
)

// Processor is what a process computed over a stretch of the run.
type Processor struct {
	CPU      float64 // ns, of all its threads, user and system time
	Faults   float64 // pages that the kernel gave the first thread; all threads where it was not looked at alone
	System   float64 // ns, of the same
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
	u = Processor{CPU: float64(b.User + b.System - a.User - a.System), From: a.At, To: b.At}
	if u.Faults, u.System = float64(b.MinorFaults-a.MinorFaults), float64(b.System-a.System); a.First != nil && b.First != nil {
		u.Faults, u.System = float64(b.First.MinorFaults-a.First.MinorFaults), float64(b.First.System-a.First.System)
	}
	return u, b.At > a.At
}
