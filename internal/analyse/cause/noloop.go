package cause

import "bottleneck/internal/wording"

// holdsLoop says that an event loop runs the code in which most of the members' samples (indices of attributed ones) sleep: no other
// coroutine can run meanwhile.
func (c *Facts) holdsLoop(members []int) bool {
	n := 0
	for _, m := range members {
		if c.C.InEventLoop(c.P.Samples.Stack[c.B.Samples[m].Index]) {
			n++
		}
	}
	return 2*n > len(members)
}

// atLoop rewrites a finding about a call that sleeps, where it holds up an event loop.
func (c *Facts) atLoop(f *Finding, members []int) {
	if !c.holdsLoop(members) {
		return
	}
	f.Evidence = append(f.Evidence, wording.Say("event-loop.runs"))
	f.Fix = Fix{Advice: []wording.Text{wording.Say("event-loop.fix")}}
	f.Caveat = []wording.Text{wording.Say("event-loop.caveat")}
}
