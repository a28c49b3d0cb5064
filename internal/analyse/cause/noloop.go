package cause

import "bottleneck/internal/wording"

// loopFix says what helps where a call sleeps in a coroutine.
const loopFix = "This call holds up the event loop, and with it every other request: await an asynchronous client, or let a thread make the call (await asyncio.to_thread(...))."

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
	f.Evidence = append(f.Evidence, wording.Raw("an event loop runs this code: no other coroutine goes on meanwhile"))
	f.Fix = Fix{Advice: []wording.Text{wording.Raw(loopFix)}}
	f.Caveat = []wording.Text{wording.Raw("The saving assumes that there are other requests to answer meanwhile.")}
}
