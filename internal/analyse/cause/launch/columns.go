package launch

import (
	"math"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// columnWork is what traced steps say of lookups in tables, a step's on average.
type columnWork struct {
	tables   float64 // that lookups went into: each has a gradient of its own
	mean     float64 // ns of a lookup
	backward float64 // share of all operators' time that their gradients take, each of them as long as a small operator at most
}

// FindColumns names a loop that looks up each column of a batch in a table of its own: one table with an offset for each column is one
// lookup and one gradient.
func FindColumns(c *facts.Facts, l finding.Ledger) []finding.Draft {
	w, ok := columnsOf(c)
	if !ok || !c.B.PerStep || c.OnDevice() || w.tables < price.ColumnsLeast || w.mean > price.ColumnsLongest {
		return nil
	}
	in := lookingUp(c, l)
	if len(in) < facts.MinSamples {
		return nil
	}
	back := w.backward * c.B.Part(account.PartOps)
	t := facts.Sum(in) + back
	if c.Share(t) < price.LaunchShare {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Launch, Sub: "columns", Where: c.Where(facts.LineTimes(in)[0]), Share: c.Share(t),
		Confidence: c.Basis(len(in))}, finding.Parts{})
	c.ClaimAll(&f, in, 1)
	claimBackward(c, c.Working(l), &f, back)
	f.Step = f.By(price.Columns).Times(c.PerStep(t))
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("launch.title-columns", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("launch.columns", wording.Time("time", c.PerStep(t)), c.Said(),
		wording.Count("tables", math.Round(w.tables)))}
	f.Fix.Advice = []wording.Text{wording.Say("launch.fix-columns")}
	f.Caveat = []wording.Text{wording.Say("launch.caveat-columns")}
	return []finding.Draft{f}
}

// columnsOf reads them off the traced steps: a table's own gradient is accumulated right after the pass through its lookup, and that of a
// table which several lookups share once, after all of them. ok is false where no step was traced.
func columnsOf(c *facts.Facts) (w columnWork, ok bool) {
	lookups, time, tables, back, all, after := 0.0, 0.0, 0.0, 0.0, 0.0, false
	n := account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		name, d := c.Text(ev.Name[id]), float64(ev.Dur[id])
		if name == "aten::embedding" || name == "aten::embedding_bag" {
			lookups, time = lookups+1, time+d
		}
		if !outer {
			return
		}
		all += d
		node, backward := strings.CutPrefix(name, naming.EngineNode+": ")
		if !backward {
			return
		}
		switch own := strings.HasPrefix(node, "Embedding"); {
		case own:
			back += min(d, price.ColumnsLongest)
			after = true
		case after && strings.Contains(node, "AccumulateGrad"):
			back += min(d, price.ColumnsLongest)
			tables++
			after = false
		default:
			after = false
		}
	})
	if n == 0 || lookups == 0 || all <= 0 {
		return w, false
	}
	return columnWork{tables: tables / float64(n), mean: time / lookups, backward: min(back/all, 1)}, true
}

// lookingUp are the samples of the user's line that calls most of the tables, before the backward pass.
func lookingUp(c *facts.Facts, l finding.Ledger) (in []facts.Chain) {
	working := slices.DeleteFunc(c.Working(l), func(ch facts.Chain) bool {
		return c.C.Info(c.P.Samples.Stack[c.B.Samples[ch.Index].Index]).Acts&(code.ActBackward|code.ActOptimizer) != 0
	})
	tables := slices.DeleteFunc(slices.Clone(working), func(ch facts.Chain) bool {
		return !c.Passes(c.P.Samples.Stack[c.B.Samples[ch.Index].Index], "/torch/nn/modules/sparse.py", "", true)
	})
	lines := facts.LineTimes(tables)
	if len(lines) == 0 {
		return nil
	}
	return slices.DeleteFunc(working, func(ch facts.Chain) bool {
		if len(ch.Frames) == 0 {
			return true
		}
		f := &ch.Frames[len(ch.Frames)-1]
		return facts.KeyOf(f) != facts.KeyOf(&lines[0].Frame) || f.Line != lines[0].Frame.Line
	})
}
