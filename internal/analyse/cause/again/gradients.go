package again

import (
	"math"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/gradients"
	"bottleneck/internal/wording"
)

// FindUnusedGradients names backward passes that compute the gradients of many more parameters than the program's optimizers change: layers
// that are kept as they are, below a head that learns, without being told so.
func FindUnusedGradients(c *facts.Facts, l finding.Ledger) []finding.Draft {
	used, passes, ok := c.Updated()
	if !ok || c.B.Part(account.PartGPUCompute) > 0 { // the device's part of a backward pass is not told apart
		return nil
	}
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		return (a.Part == account.PartOps || a.Part == account.PartPython) && !l.Taken(k) &&
			c.C.Info(c.P.Samples.Stack[a.Index]).Acts&code.ActBackward != 0
	})
	t := facts.Sum(chains)
	sp, placed := facts.Hottest(chains, c.Drivers)
	if !placed || len(chains) < facts.MinSamples || t <= 0 {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.UnusedGradients, Where: c.Where(sp), Confidence: c.Basis(len(chains))},
		finding.Parts{})
	gone := besideWhatLearns(c, &f, passes, c.PerStep(t))
	if gone == 0 {
		gone = belowWhatLearns(c, &f, used, passes, c.PerStep(t))
	}
	if gone == 0 {
		gone = thrownAway(c, &f, used, passes, c.PerStep(t))
	}
	if f.Share = c.Share(gone * t); f.Share < finding.Floor {
		return nil
	}
	c.ClaimAll(&f, chains, gone)
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("gradients.title", wording.Share("share", f.Share), c.Said())
	f.Evidence = append(f.Evidence, wording.Say("gradients.time", wording.Time("time", c.PerStep(t)), c.Said()))
	return []finding.Draft{f}
}

// besideWhatLearns prices gradients of networks that lie above or beside what learns, as a loss network and a teacher do, by the products
// for their weights; per is the backward pass, ns per step. It gives the share of the pass that goes, 0 where nothing tells of such
// networks.
func besideWhatLearns(c *facts.Facts, f *finding.Draft, passes, per float64) (gone float64) {
	model, sizes := c.UnusedWeights()
	u := gradients.UnusedOf(c.S, c.B, sizes, passes)
	if u == nil || u.Last {
		return 0
	}
	gone = min(u.Weights+u.Dead*(u.Inputs+u.Others), 1)
	row := f.By(price.UnusedWeights)
	most := min(u.Weights+u.Inputs+u.Others, 1)
	f.Step = finding.Bounds(row.Times(u.Weights*per).Low, row.Times(gone*per).Mid, row.Times(most*per).High)
	n := int64(0)
	for _, of := range sizes {
		n += of
	}
	f.Where = c.At(model.File, model.Line)
	class := wording.Named("class", c.Text(model.Class))
	f.Evidence = []wording.Text{wording.Say("gradients.model", class, wording.Count("weights", n))}
	f.Fix.Advice = []wording.Text{wording.Say("gradients.fix-model", class)}
	f.Caveat = []wording.Text{wording.Say("gradients.caveat-model")}
	return gone
}

// belowWhatLearns prices gradients of layers below what learns, which come last in a backward pass: by number, and by time where a step has
// one pass. It gives the share of the pass that goes, 0 where the gradients are hardly more than the optimizers' parameters.
func belowWhatLearns(c *facts.Facts, f *finding.Draft, used, passes, per float64) (gone float64) {
	g := gradients.GradientsOf(c.S, c.B)
	if g == nil {
		return 0
	}
	all := g.PerStep / passes
	if all < used+price.UnusedFew || 1-used/all < price.UnusedLeast {
		return 0
	}
	if gone = 1 - used/all; passes <= 1 {
		gone = 1 - g.Until(int(used))
	}
	f.Step = f.By(price.UnusedGradients).Times(gone * per)
	if at, ok := c.OptimizerLine(); ok {
		f.Where = at
	}
	f.Evidence = []wording.Text{wording.Say("gradients.counts", wording.Count("all", math.Round(all)), wording.Count("used", used))}
	f.Fix.Advice = []wording.Text{wording.Say("gradients.fix")}
	f.Caveat = []wording.Text{wording.Say("gradients.caveat")}
	return gone
}

// thrownAway prices the weights' gradients of passes that only ask for an input's, as an attack on it does: each makes those of all
// parameters anew, which nobody has added to when the optimizer steps. It gives the share of the pass that goes, 0 where passes add up, or
// where none has a gradient besides the parameters', for the program may read those itself.
func thrownAway(c *facts.Facts, f *finding.Draft, used, passes, per float64) (gone float64) {
	if passes < 2 {
		return 0
	}
	t := gradients.ThrownOf(c.S, c.B)
	if t == nil || t.Added > price.ThrownAdded*t.Made || t.Made < passes*used+price.ThrownInputs*(passes-1) {
		return 0
	}
	gone = t.Weights * (passes - 1) / passes
	f.Step = f.By(price.UnusedWeights).Times(gone * per)
	f.Evidence = []wording.Text{wording.Say("gradients.thrown", wording.Count("passes", passes), wording.Count("used", used))}
	f.Fix.Advice = []wording.Text{wording.Say("gradients.fix-thrown")}
	f.Caveat = []wording.Text{wording.Say("gradients.caveat-thrown")}
	return gone
}

// FindUnusedGraph names steps that only ask a model, while autograd keeps a graph of its operators: nothing goes backward through it. Only
// what making the nodes takes is priced; that memory is held for longer may cost more.
func FindUnusedGraph(c *facts.Facts, l finding.Ledger) []finding.Draft {
	kind := c.Text(c.B.Kind)
	if kind != "validation" && kind != "inference" || !c.B.PerStep || c.B.Part(account.PartGPUCompute) > 0 {
		return nil
	}
	nodes := gradients.GraphNodes(c.S, c.B)
	chains := c.Working(l)
	sp, placed := facts.Hottest(facts.UpToDriver(chains, c.Drivers), c.Drivers)
	per := c.PerStep(facts.Sum(chains))
	if !placed || len(chains) < facts.MinSamples || nodes == 0 || per <= 0 {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.UnusedGradients, Sub: "graph", Where: c.Where(sp),
		Confidence: c.Basis(len(chains))}, finding.Parts{})
	made := f.By(price.UnusedGraph).Times(nodes * 1e3)
	f.Step = finding.Bounds(min(made.Low, per), min(made.Mid, per), min(max(made.High, price.UnusedGraphMost.High*per), per))
	if f.Step.Mid < finding.Floor*c.B.Mean() {
		return nil
	}
	f.Claim.Parts[account.PartOps] = f.Step.Mid * float64(len(c.B.Windows)) // of all samples a part: others may be about the rest
	f.Share = f.Step.Mid / c.B.Mean()
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("gradients.title-graph", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("gradients.nodes", wording.Count("nodes", math.Round(nodes)), c.Said())}
	f.Fix.Advice = []wording.Text{wording.Say("gradients.fix-graph")}
	f.Caveat = []wording.Text{wording.Say("gradients.caveat-graph")}
	return []finding.Draft{f}
}
