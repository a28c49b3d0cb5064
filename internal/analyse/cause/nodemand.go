package cause

import (
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
	f.Title = wording.Say("nodemand.title", wording.Share("share", f.Share), c.unit())
	f.Evidence = []wording.Text{wording.Say("nodemand.accepts", wording.Time("t", c.perStep(t)), c.unit())}
	f.Fix.Advice = []wording.Text{wording.Say("nodemand.fix")}
	f.Caveat = []wording.Text{wording.Say("nodemand.caveat")}
	if ok && o.own {
		c.requestsSleep(&f.Finding, o)
	}
	return []Draft{f}
}

// requestsSleep says of a server whose loop waits that other threads of it stand in the program's own code all the while, asleep:
// requests that hang there are in progress, so that no lack of demand can be told from the loop alone.
func (c *Facts) requestsSleep(f *Finding, o otherSide) {
	f.Where = o.place
	id := "nodemand.thread"
	if o.several {
		id = "nodemand.threads"
	}
	other := wording.With("other", wording.Say(id, wording.Named("in", in(o.place))))
	f.Title = wording.Say("nodemand.title-asleep", wording.Share("share", f.Share), c.unit(), other)
	f.Evidence = []wording.Text{wording.Say("nodemand.meanwhile", wording.Count("samples", o.samples), other)}
	f.Fix.Advice = []wording.Text{wording.Say("nodemand.fix-asleep"), wording.Say("nodemand.fix-dump")}
	f.Caveat = []wording.Text{wording.Say("nodemand.caveat-asleep")}
}
