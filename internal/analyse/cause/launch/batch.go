package launch

import (
	"math"
	"slices"
	"strconv"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
	"bottleneck/internal/wording"
)

// perItem is what the steps of a kind take for each item of their batches.
type perItem struct {
	kind  model.Str
	items float64 // of a batch, on average
	ns    float64 // per item, in the median step
}

// FindBatch names steps that go through their data a few items at a time, where steps of another kind of the same program take far less
// for an item in larger batches, though they do at least as much with it: a validation of single samples beside a training.
func FindBatch(c *facts.Facts, l finding.Ledger) []finding.Draft {
	own, other, ok := smallBatches(c)
	if !ok {
		return nil
	}
	around := c.PythonSamples(l, true)
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		return a.Part == account.PartOps && !l.Taken(k) || around(k, a)
	})
	t := facts.Sum(chains)
	sp, ok := facts.Hottest(facts.UpToDriver(chains, c.Drivers), c.Drivers)
	if !ok || len(chains) < facts.MinSamples || c.Share(t) < price.LaunchShare {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Launch, Sub: "batch", Where: c.Where(sp), Share: c.Share(t),
		Confidence: c.Basis(len(chains))}, finding.Parts{})
	c.ClaimAll(&f, chains, 1)
	f.Claim.Small = f.Claim.Parts[account.PartOps]
	per, ratio := c.PerStep(t), other.ns/own.ns
	left := f.By(price.ForwardAlone).Scale(ratio)
	f.Step = finding.Bounds(per*max(1-left.High, 0), per*max(1-left.Mid, 0), per*max(1-left.Low, 0))
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("launch.title-batch", wording.Share("share", f.Share), c.Said(), wording.Count("items", math.Round(own.items)))
	f.Evidence = []wording.Text{wording.Say("launch.batch", wording.Time("own", own.ns), wording.Time("other", other.ns),
		wording.Named("kind", c.Text(other.kind)), wording.Count("others", math.Round(other.items)))}
	f.Fix.Advice = []wording.Text{wording.Say("launch.fix-batch")}
	f.Caveat = []wording.Text{wording.Say("launch.caveat-batch")}
	largerBatches(c, &f.Finding, own, other)
	return []finding.Draft{f}
}

// smallBatches compares the accounted steps with those of the other kind that has the largest batches.
func smallBatches(c *facts.Facts) (own, other perItem, ok bool) {
	if !c.B.PerStep || c.B.Phase != model.PhaseBaseline {
		return own, other, false
	}
	own, ok = itemsOf(c, c.B.Kind)
	for _, k := range account.KindsOfSteps(c.P) {
		if o, known := itemsOf(c, k.Kind); known && k.Kind != c.B.Kind && o.items > other.items {
			other = o
		}
	}
	return own, other, ok && other.items >= price.BatchLarger*own.items && own.ns >= price.BatchSlower*other.ns
}

// itemsOf is what the untraced steps of a kind take per item without waiting for data; false where too few of them tell their items.
func itemsOf(c *facts.Facts, kind model.Str) (perItem, bool) {
	waits := c.Waits()
	var each []float64
	items := 0.0
	for i := range c.P.Steps {
		st := &c.P.Steps[i]
		if st.Kind != kind || st.Phase != model.PhaseBaseline || st.Items <= 0 || st.End <= st.Start {
			continue
		}
		each = append(each, max(float64(st.End-st.Start)-times.Overlap(waits, st.Start, st.End), 0)/float64(st.Items))
		items += float64(st.Items)
	}
	if len(each) < facts.MinSamples {
		return perItem{}, false
	}
	slices.Sort(each)
	return perItem{kind, items / float64(len(each)), stats.Quantile(each, 0.5)}, true
}

// largerBatches changes the one loader that hands out such small batches.
func largerBatches(c *facts.Facts, f *finding.Finding, own, other perItem) {
	var at *model.Loader
	for i := range c.P.Loaders {
		l := &c.P.Loaders[i]
		if l.File == 0 || float64(l.BatchSize) != math.Round(own.items) {
			continue
		}
		if at != nil && (at.File != l.File || at.Line != l.Line) {
			return
		}
		at = l
	}
	if at != nil {
		f.Fix.Action = finding.SetArguments("DataLoader", finding.Argument{Name: "batch_size",
			Value: strconv.Itoa(int(math.Round(other.items)))})
		f.Fix.Action.File, f.Fix.Action.Line = c.Text(at.File), int(at.Line)
	}
}
