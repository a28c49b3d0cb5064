package cause

import (
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/again"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/input"
	"bottleneck/internal/analyse/cause/launch"
	"bottleneck/internal/analyse/cause/memory"
	"bottleneck/internal/analyse/cause/precision"
	"bottleneck/internal/analyse/cause/python"
	"bottleneck/internal/analyse/cause/timed"
	"bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/wording"
)

// rulesOfSteps are the rules that explain the time inside steps by what the program does there. What holds for the whole run (start-up, the
// machine, what lies between steps) is told once.
func rulesOfSteps() []rule[*facts.Facts] {
	return []rule[*facts.Facts]{
		{finding.Input, input.FindInput},
		{finding.Sync, traced.FindSync},
		{finding.GIL, python.FindGIL},
		{finding.Python, python.FindChores},
		{finding.Again, again.FindPrefix},
		{finding.Again, again.FindFrozen},
		{finding.UnusedGradients, again.FindUnusedGraph},
		{finding.Launch, launch.FindParameters},
		{finding.Launch, launch.FindRecurrent},
		{finding.Launch, launch.FindBatch},
		{finding.Launch, launch.FindLaunch},
		{finding.Python, python.FindPython},
		{finding.Padding, again.FindPadding},
		{finding.Precision, precision.FindFormat},
		{finding.MemoryBound, memory.FindAttention},
		{finding.MemoryBound, memory.FindRegrown},
		{finding.MemoryBound, memory.FindSuppression},
		{finding.MemoryBound, memory.FindMemoryBound},
	}
}

// leastSteps is the number of steps of a kind from which they are looked at apart.
const leastSteps = 8

// otherKinds looks at the steps of other kinds than the accounted one, such as a validation beside a training: each kind has an account of
// its own, and its findings are priced over the run. What has the place and the cause of one that was found is that one's: a change of the
// line ends both, so that its saving of the run holds them.
func otherKinds(c *facts.Facts, found []finding.Finding) (out []finding.Finding) {
	if !c.B.PerStep || c.Wall <= 0 {
		return nil
	}
	for _, k := range account.KindsOfSteps(c.P) {
		if k.Kind == c.B.Kind || k.Steps < leastSteps || k.Time < 2*finding.Floor*c.Wall {
			continue
		}
		b := account.KindBreakdown(c.S, c.P, k.Kind)
		if !b.PerStep {
			continue
		}
		own := facts.NewFacts(c.S, b)
		l := newBook(b)
		run(rulesOfSteps(), own, l, func(d *finding.Draft) {
			f := d.Finding
			f.Booked = d.Claim.Parts
			own.AtUser(&f)
			own.CalledFrom(&f)
			certain(own, &f)
			most := max(f.Run.High, k.Time)
			timed.Beyond(own, &f)
			f.Run.High = min(f.Run.High, most)
			l.settle(&f)
			if i := slices.IndexFunc(found, func(o finding.Finding) bool { return samePlace(&o, &f) }); i >= 0 {
				found[i].Elsewhere = found[i].Elsewhere.Add(f.Run)
				found[i].Run = found[i].Run.Add(f.Run)
				found[i].Evidence = append(found[i].Evidence, wording.Say("kinds.too", wording.Time("time", f.Run.Mid),
					wording.Named("kind", c.Text(k.Kind))))
				return
			}
			f.OfRun, f.Kind, f.Share = true, c.Text(k.Kind), f.Share*k.Time/c.Wall
			f.Booked, f.Ask, f.Step = nil, nil, finding.Range{}
			if facts.SavedShare(c, &f) >= finding.Floor && !f.Healthy {
				out = append(out, f)
			}
		})
	}
	return out
}

// cheaperRounds prices rounds of validation, of which there may be fewer, as they are once what is sure to save in their steps is done:
// that leaves what a training knows of itself as it is.
func cheaperRounds(c *facts.Facts, found []finding.Finding) {
	saved := 0.0
	for i := range found {
		f := &found[i]
		of := f.Kind
		if !f.OfRun {
			of = c.Text(c.B.Kind)
		}
		if of == again.Validation && f.Run.Low > 0 {
			saved += f.Run.Mid - f.Elsewhere.Mid
		}
	}
	for i := range found {
		if f := &found[i]; saved > 0 && f.Cause == finding.Again && f.Sub == again.Validation && f.Kind == "" {
			all := f.Share * c.Wall
			f.Run = f.Run.Scale(max(all-saved, 0) / all)
			f.Caveat = append(f.Caveat, wording.Say("again.caveat-cheaper", wording.Time("time", saved)))
		}
	}
}

// samePlace says that two findings are of one cause in one line. A loop is the same one where no trace shows its turns.
func samePlace(f, g *finding.Finding) bool {
	sub := func(f *finding.Finding) string {
		if f.Cause == finding.Launch && f.Sub == launch.AtOnce {
			return ""
		}
		return f.Sub
	}
	return !f.OfRun && f.Cause == g.Cause && sub(f) == sub(g) && f.Where.File != "" && f.Where.File == g.Where.File &&
		f.Where.Line == g.Where.Line && f.Where.Process == g.Where.Process
}
