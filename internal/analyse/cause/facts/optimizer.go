package facts

import (
	"math"
	"slices"
	"strings"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
)

// optimizerBuilt is the span that tells where an optimizer was built.
const optimizerBuilt = "Optimizer.__init__"

// BuiltAt is the line that builds the optimizer whose samples these chains are, where the program does not call its step itself: a trainer
// or a gradient scaler does, and the line that runs these says nothing about it. ok is false where the program calls it, or builds several.
func (c *Facts) BuiltAt(chains []Chain) (at finding.Where, ok bool) {
	direct, all := 0.0, 0.0
	for i := range chains {
		all += chains[i].Weight
		if c.callsOptimizer(c.P.Samples.Stack[c.B.Samples[chains[i].Index].Index]) {
			direct += chains[i].Weight
		}
	}
	if 2*direct >= all {
		return at, false
	}
	return c.OptimizerLine()
}

// OptimizerLine is the line that builds the program's optimizer; ok is false where several do.
func (c *Facts) OptimizerLine() (at finding.Where, ok bool) {
	at = finding.Nowhere()
	for i := range c.P.Spans {
		sp := &c.P.Spans[i]
		if sp.Kind != model.SpanOther || c.Text(sp.Name) != optimizerBuilt || sp.File == 0 {
			continue
		}
		file := c.Text(sp.File)
		if ok && (at.File != file || at.Line != int(sp.Line)) {
			return finding.Nowhere(), false
		}
		at.File, at.Line, ok = file, int(sp.Line), true
	}
	at.Source = c.Source(at.File, at.Line)
	return at, ok
}

// callsOptimizer says that what the user's innermost frame called is the optimizer: nothing stands between but PyTorch's wrappers of it.
func (c *Facts) callsOptimizer(id model.StackID) (direct bool) {
	c.C.Walk(id, func(fr model.FrameID) bool {
		f := &c.C.Stacks.Frames[fr]
		switch class := c.C.File(f.File); {
		case class == code.FileUser:
			return false
		case class == code.FileAgent:
		default:
			direct = strings.Contains(strings.ReplaceAll(c.Text(f.File), `\`, "/"), "/torch/optim/")
		}
		return true
	})
	return direct
}

// Updated is how many parameters the accounted process's optimizers change, and how many backward passes there are for each step of theirs;
// ok is false where that is not known of each optimizer.
func (c *Facts) Updated() (parameters, passes float64, ok bool) {
	seen, built := map[int64]int64{}, int64(0)
	for i := range c.P.Updates {
		u := &c.P.Updates[i]
		if u.Parameters == 0 || u.Backwards == 0 {
			return 0, 0, false
		}
		seen[u.Optimizer], built = u.Parameters, max(built, u.Optimizers)
		passes = max(passes, math.Round(float64(u.Backwards)/float64(u.Steps)))
	}
	for _, n := range seen {
		parameters += float64(n)
	}
	return parameters, max(passes, 1), len(seen) > 0 && int64(len(seen)) >= built
}

// UnusedWeights are the numbers of weights by their numbers of elements that hold gradients and that no optimizer has changed so far, of
// the models of the process, and the model that has most of their elements. None are known where an optimizer began to step when models'
// calls were not looked at any more.
func (c *Facts) UnusedWeights() (model.Unused, map[int64]int64) {
	last, sizes := map[int64]*model.Unused{}, map[int64]int64{}
	began := map[int64]model.Time{} // of each optimizer, when it was seen first
	for i := range c.P.Updates {
		if u := &c.P.Updates[i]; began[u.Optimizer] == 0 {
			began[u.Optimizer] = u.Time
		}
	}
	for _, t := range began {
		if n := len(c.P.Asked); n == 0 || t > c.P.Asked[n-1].Time {
			return model.Unused{}, nil
		}
	}
	for i := range c.P.Unused {
		last[c.P.Unused[i].Module] = &c.P.Unused[i]
	}
	most, largest := model.Unused{}, int64(0)
	for _, u := range last {
		elements := int64(0)
		for size, n := range u.Sizes {
			sizes[size] += n
			elements += size * n
		}
		if elements > largest || elements == largest && elements > 0 && u.Module < most.Module {
			most, largest = *u, elements
		}
	}
	return most, sizes
}

// BuildsOptimizer says that the process was seen to build an optimizer of torch.optim: it trains, or means to.
func (c *Facts) BuildsOptimizer() bool {
	return slices.ContainsFunc(c.P.Spans, func(sp model.Span) bool { return c.Text(sp.Name) == optimizerBuilt })
}
