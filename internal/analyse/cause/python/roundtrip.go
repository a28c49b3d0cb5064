package python

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/wording"
)

// ofRoundTrip says in a finding about a library's code that it works on what the same function fetches from the device, which has nothing
// to do until the answer is there: the cure is to leave it there. members are indices of attributed samples.
func ofRoundTrip(c *facts.Facts, f *finding.Finding, members []int, library wording.Fact) {
	if !c.OnDevice() {
		return
	}
	of, lines := map[int]bool{}, map[facts.PlaceKey]bool{}
	for _, m := range members {
		of[m] = true
	}
	functions := map[facts.FuncKey]bool{}
	for _, ch := range facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, _ *account.Attributed) bool { return of[k] }) {
		at := leafOf(&ch)
		functions[at.F], lines[at] = true, true
	}
	idle, samples := c.DeviceIdles(func(ch *facts.Chain) bool { return lines[leafOf(ch)] })
	if samples < facts.MinSamples || idle < price.IdleShare {
		return
	}
	fetches, ok := facts.Hottest(facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		info := c.C.Info(c.P.Samples.Stack[a.Index])
		if a.Part != account.PartOps && a.Part != account.PartSync || info.User < 0 {
			return false
		}
		at := &c.C.Stacks.Frames[info.User]
		return functions[facts.KeyOf(at)] && pysource.ReadsBack(c.Source(c.Text(at.File), int(at.Line)))
	}), c.Drivers)
	if !ok {
		return
	}
	f.Evidence = append(f.Evidence, wording.Say("python.fetched", wording.Named("at", finding.Place(c.Where(fetches))),
		wording.Share("share", idle), wording.Count("samples", samples)))
	if needed(c, members) {
		f.Fix.Advice = []wording.Text{wording.Say("python.fix-round-trip", library)}
	}
}

// leafOf is the user's line at the end of a chain.
func leafOf(ch *facts.Chain) (at facts.PlaceKey) {
	if n := len(ch.Frames); n > 0 {
		last := &ch.Frames[n-1]
		at = facts.PlaceKey{F: facts.KeyOf(last), Line: last.Line}
	}
	return at
}
