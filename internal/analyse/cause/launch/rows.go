package launch

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/wording"
)

// FindRows names steps that only ask a model, and for one row at a time, such as those of a server that answers one request after the
// other: most of their time goes into products that read all weights for it.
func FindRows(c *facts.Facts, l finding.Ledger) []finding.Draft {
	rows, part := fewRows(c), 0.0
	if rows == 0 || len(c.B.Windows) < price.RowsSteps || c.B.Ops.SmallTime > (1-price.RowsShare)*c.B.Ops.Time {
		return nil // of small operators it is the calling that takes the time
	}
	for _, k := range c.B.Ops.Kinds {
		if k.Kind == naming.OpMatmul {
			part = k.Time / max(c.B.Ops.Time, 1)
		}
	}
	learns := false
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		learns = learns || c.C.Info(c.P.Samples.Stack[a.Index]).Acts&(code.ActBackward|code.ActOptimizer) != 0
		return a.Part == account.PartOps && !l.Taken(k)
	})
	t := part * facts.Sum(chains)
	sp, ok := facts.Hottest(facts.UpToDriver(chains, c.Drivers), c.Drivers)
	if !ok || learns || part < price.RowsShare || len(chains) < facts.MinSamples || c.Share(t) < price.LaunchShare ||
		environmentLoops(c).waitForEnvironment(c, chains) {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Launch, Sub: "batch", Where: c.Where(sp), Share: c.Share(t),
		Confidence: c.Basis(len(chains))}, finding.Parts{})
	c.ClaimAll(&f, chains, part)
	f.Step = f.By(price.FewRows).Times(c.PerStep(t))
	f.Guess = true
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("launch.title-rows", wording.Share("share", f.Share), c.Said(), wording.Count("rows", int(rows)))
	f.Evidence = []wording.Text{wording.Say("launch.rows", wording.Time("time", c.PerStep(t)), c.Said())}
	f.Fix.Advice = []wording.Text{wording.Say("launch.fix-rows")}
	f.Caveat = []wording.Text{wording.Say("launch.caveat-rows")}
	return []finding.Draft{f}
}

// fewRows is the number of rows in the largest product with weights, as traced steps and looks at calls tell, where it is small and steps
// have an account of operators on a CPU; 0 elsewhere.
func fewRows(c *facts.Facts) (most int64) {
	if c.B.Ops == nil || !c.B.PerStep || c.B.Part(account.PartGPUCompute) > 0 {
		return 0
	}
	for _, st := range account.MatrixRows(c.S, c.B) {
		most = max(most, st.Rows)
	}
	for i := range c.P.Asked {
		q := &c.P.Asked[i]
		if most = max(most, q.Rows); q.Rows < 0 {
			return 0
		}
	}
	if most > price.RowsFew {
		return 0
	}
	return most
}
