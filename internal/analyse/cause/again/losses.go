package again

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindLosses names steps that go backward through one part of a graph for several losses, as a GAN does whose discriminator's loss is
// computed from the generator's picture without detach().
func FindLosses(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if !c.B.PerStep {
		return nil
	}
	b := account.BackwardLosses(c.S, c.B)
	if b == nil || b.All <= 0 {
		return nil
	}
	if b.Thrown > 0 && oneOptimizer(c) {
		return nil // it has used them: a fused step changes weights unseen by autograd, which goes through them a second time then
	}
	computed, took := b.Kernels/max(b.AllKernels, 1), b.Time
	if b.AllKernels > 0 {
		took = b.Kernels
	}
	all, parts := c.Fewer(b.Time/b.All, computed)
	if c.Share(all) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Again, Sub: "losses", Where: passesWhere(c, b.Spans, ".backward("),
		Share: c.Share(all), Confidence: c.Basis(len(c.B.Samples))}, parts)
	f.Step = f.By(price.BackwardLosses).Times(c.PerStep(all))
	f.Step.High = max(f.Step.High, c.B.Mean()*c.B.Device.Computes*computed) // tracing may have made the host the slower of the two
	f.Step = f.Step.AtMost(c.B.Mean())
	f.Run = c.OverRun(f.Step)
	title, fix := "again.title-losses", []wording.Text{wording.Say("again.fix-detach"), wording.Say("again.fix-add-or")}
	f.Evidence = []wording.Text{
		wording.Say("again.losses", wording.Value("passes", b.Passes), c.Said(), wording.Value("nodes", b.Shared)),
	}
	switch {
	case b.Thrown >= b.Again:
		title, fix = "again.title-thrown", fix[:1]
		f.Evidence = append(f.Evidence, wording.Say("again.thrown", wording.Value("gradients", b.Gradients), c.Said()))
		f.Caveat = []wording.Text{wording.Say("again.caveat-thrown")}
	case b.Added >= b.Again:
		fix = []wording.Text{wording.Say("again.fix-add")}
		f.Caveat = []wording.Text{wording.Say("again.caveat-added")}
	}
	f.Evidence = append(f.Evidence, wording.Say("again.losses-time", wording.Time("time", took), c.Said()))
	f.Title, f.Fix.Advice = wording.Say(title, wording.Share("share", f.Share), c.Said()), fix
	return []finding.Draft{f}
}

// oneOptimizer says that the program has a single optimizer, as far as the agent counts.
func oneOptimizer(c *facts.Facts) bool {
	built := int64(0)
	for i := range c.B.Process.Updates {
		built = max(built, c.B.Process.Updates[i].Optimizers)
	}
	return built == 1
}
