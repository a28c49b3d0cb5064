package cause

import (
	"fmt"

	"bottleneck/internal/analyse"
	"bottleneck/internal/wording"
)

// asksForWork says that a blocked sample waits for a request from outside: in a server's loop, or in a call that accepts one.
func (c *Facts) asksForWork(a *analyse.Attributed) bool {
	if a.Part != analyse.PartBlocked {
		return false
	}
	info := c.C.Info(c.P.Samples.Stack[a.Index])
	if info.Acts&analyse.ActServer != 0 {
		return true
	}
	if !info.UserLeaf {
		return false
	}
	fr := c.C.Stacks.Frames[info.User]
	return accepts(c.source(c.text(fr.File), int(fr.Line)))
}

// findNoDemand says that a server stands idle because nothing is asked of it. It is no defect and saves nothing. Where another
// thread or process of the run works meanwhile, that one is waited for instead (input/queue).
func findNoDemand(c *Facts, _ Ledger) []Draft {
	chains := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool { return c.asksForWork(a) })
	t := sum(chains)
	if c.share(t) < Floor || len(chains) < minSamples {
		return nil
	}
	var members []int
	for _, ch := range chains {
		members = append(members, ch.index)
	}
	o, ok := c.waitedFor(members)
	if ok && o.busy >= 0.5 && o.asleep < 0.5 {
		return nil
	}
	f := draft(Finding{Cause: NoDemand, Where: nowhere(), Share: c.share(t), Healthy: true, Confidence: c.basis(len(chains))},
		Parts{analyse.PartBlocked: t})
	if sp, ok := hottest(chains, c.drivers); ok {
		f.Where = c.where(sp)
	}
	f.Title = wording.Raw(fmt.Sprintf("%s of %s waits for requests: nothing is asked of the program", percent(f.Share), c.each()))
	f.Evidence = []wording.Text{wording.Raw(fmt.Sprintf("%s per %s in a call that accepts work from outside, while no other process of the run works", ms(c.perStep(t)), c.Unit()), wording.RawFact(c.perStep(t)/1e6, "ms"))}
	f.Fix.Advice = []wording.Text{wording.Raw("No defect: look at the requests that are answered, or measure under load.")}
	f.Caveat = []wording.Text{wording.Raw("A client that waits for its last answer before it asks again looks the same from here.")}
	if ok && o.own {
		c.requestsSleep(&f.Finding, o)
	}
	return []Draft{f}
}

// requestsSleep says of a server whose loop waits that other threads of it stand in the program's own code all the while, asleep:
// requests that hang there are in progress, so that no lack of demand can be told from the loop alone.
func (c *Facts) requestsSleep(f *Finding, o otherSide) {
	f.Where = o.place
	f.Title = wording.Raw(fmt.Sprintf("%s of %s waits for requests in this thread, while %s %s%s", percent(f.Share), c.each(), o.process, o.sleeps(), in(o.place)))
	f.Evidence = []wording.Text{wording.Raw(fmt.Sprintf("meanwhile %s %s%s (%s)", o.process, o.sleeps(), in(o.place), plural(o.samples, "sample")), wording.RawFact(float64(o.samples), ""))}
	f.Fix.Advice = []wording.Text{wording.Raw("See what is waited for there: a request that hangs is not answered. `bottleneck dump PID --locals` shows each thread with its variables.")}
	f.Caveat = []wording.Text{wording.Raw("A background thread that sleeps between its turns looks the same, and is no defect.")}
}
