package cause

import (
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
	"bottleneck/internal/wording"
)

// restOfRun adds to findings about a function of the program's what that function takes in the rest of the run: between the steps, and in
// steps of other kinds of which too little is known for findings of their own. What is slow there is slow here, and one change ends both.
func restOfRun(c *facts.Facts, found []finding.Finding) {
	if !c.B.PerStep || len(c.B.Windows) == 0 {
		return
	}
	all := func(int, *account.Attributed) bool { return true }
	rest := facts.ChainsOf(c.C, &c.P.Samples, c.Outside(c.StepsAndPauses(func(kind model.Str) bool { return kind == c.B.Kind })), all)
	own := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, all)
	for i := range found {
		f := &found[i]
		if f.Cause != finding.Launch && f.Cause != finding.Python || f.Sub != "" || f.OfRun || f.Guess || f.Where.Function == "" ||
			f.Elsewhere != (finding.Range{}) || slices.ContainsFunc(found, func(o finding.Finding) bool {
			return o.OfRun && o.Where.File == f.Where.File && o.Where.Function == f.Where.Function // it has that time
		}) {
			continue
		}
		more, inside, claimed := timeIn(c, f, rest), timeIn(c, f, own), 0.0
		for _, t := range stats.InOrder(f.Booked) {
			claimed += t
		}
		if inside <= 0 || more < finding.Floor*c.Wall {
			continue
		}
		// Where a finding holds the backward pass as well, there is none in the rest.
		f.Elsewhere = f.Step.Scale(float64(len(c.B.Windows)) * more / max(inside, claimed))
		f.Run = f.Run.Add(f.Elsewhere)
		f.Evidence = append(f.Evidence, wording.Say("rest.too", wording.Time("time", more), wording.Time("saved", f.Elsewhere.Mid)))
	}
}

// timeIn is the time of chains, in ns, that pass through a finding's function; 0 for one that drives the loop.
func timeIn(c *facts.Facts, f *finding.Finding, chains []facts.Chain) (t float64) {
	for _, ch := range chains {
		if slices.ContainsFunc(ch.Frames, func(fr model.Frame) bool {
			return !c.Drivers[facts.KeyOf(&fr)] && c.Text(fr.Function) == f.Where.Function && c.Text(fr.File) == f.Where.File
		}) {
			t += ch.Weight
		}
	}
	return t
}
