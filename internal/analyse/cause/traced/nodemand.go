package traced

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/wording"
)

// FindNoDemand says that a server stands idle because nothing is asked of it. It is no defect and saves nothing. Where another
// thread or process of the run works meanwhile, that one is waited for instead (input/queue).
func FindNoDemand(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool { return c.AsksForWork(a) })
	t := facts.Sum(chains)
	if c.Share(t) < finding.Floor || len(chains) < facts.MinSamples {
		return nil
	}
	var members []int
	for _, ch := range chains {
		members = append(members, ch.Index)
	}
	o, ok := c.WaitedFor(members)
	if ok && o.Busy >= 0.5 && o.Asleep < 0.5 {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.NoDemand, Where: finding.Nowhere(), Share: c.Share(t), Healthy: true,
		Confidence: c.Basis(len(chains))},
		finding.Parts{account.PartBlocked: t})
	if sp, ok := facts.Hottest(chains, c.Drivers); ok {
		f.Where = c.Where(sp)
	}
	f.Title = wording.Say("nodemand.title", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("nodemand.accepts", wording.Time("t", c.PerStep(t)), c.Said())}
	f.Fix.Advice = []wording.Text{wording.Say("nodemand.fix")}
	f.Caveat = []wording.Text{wording.Say("nodemand.caveat")}
	if ok && o.Own {
		requestsSleep(c, &f.Finding, o)
	}
	return []finding.Draft{f}
}

// requestsSleep says of a server whose loop waits that other threads of it stand in the program's own code all the while, asleep:
// requests that hang there are in progress, so that no lack of demand can be told from the loop alone.
func requestsSleep(c *facts.Facts, f *finding.Finding, o facts.OtherSide) {
	f.Where = o.Place
	id := "nodemand.thread"
	if o.Several {
		id = "nodemand.threads"
	}
	other := wording.With("other", wording.Say(id, wording.Named("in", finding.In(o.Place))))
	f.Title = wording.Say("nodemand.title-asleep", wording.Share("share", f.Share), c.Said(), other)
	f.Evidence = []wording.Text{wording.Say("nodemand.meanwhile", wording.Count("samples", o.Samples), other)}
	f.Fix.Advice = []wording.Text{wording.Say("nodemand.fix-asleep"), wording.Say("nodemand.fix-dump")}
	f.Caveat = []wording.Text{wording.Say("nodemand.caveat-asleep")}
}
