package facts

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// Thresholds of launch: below them operators are few or large enough that calling them does not matter.
const (
	LaunchOpsPerStep = 20
	LaunchOpsPerMs   = 15 // outermost operators per ms of operator and interpreter time; PyTorch manages 50 to 200 of the smallest
)

// UpToDriver cuts chains below the innermost function that drives the loop.
func UpToDriver(chains []Chain, drivers map[FuncKey]bool) []Chain {
	out := make([]Chain, 0, len(chains))
	for _, ch := range chains {
		last := -1
		for i := range ch.Frames {
			if drivers[KeyOf(&ch.Frames[i])] {
				last = i
			}
		}
		if last >= 0 {
			ch.Frames = ch.Frames[:last+1]
		}
		out = append(out, ch)
	}
	return out
}

// findCalling finds the user's lines, in a run without steps, at which the interpreter calls one small operator after another: where
// most of a line's samples in traced stretches lie in a small operator or in the short gap between two. Untraced samples of such
// a line are the same work. Nil with steps, whose lines tensorFuncs and tensorLine tell.
func (c *Facts) findCalling() map[model.FrameID]bool {
	o := c.B.Ops
	if c.B.PerStep || o == nil || len(o.Tops) < LaunchOpsPerStep {
		return nil
	}
	calls, all := map[model.FrameID]int{}, map[model.FrameID]int{}
	for k := range c.B.Samples {
		a := &c.B.Samples[k]
		fr := c.C.Info(c.P.Samples.Stack[a.Index]).User
		if fr < 0 || a.Part != account.PartOps && a.Part != account.PartPython {
			continue
		}
		calling, traced := o.Calling(c.P.Samples.Time[a.Index])
		if traced {
			all[fr]++
		}
		if calling {
			calls[fr]++
		}
	}
	out := map[model.FrameID]bool{}
	for fr, n := range calls {
		if n >= MinSamples && 2*n >= all[fr] {
			out[fr] = true
		}
	}
	return out
}

// Calls says that an attributed sample lies on a line that calls one small operator after another.
func (c *Facts) Calls(a *account.Attributed) bool {
	return c.Calling[c.C.Info(c.P.Samples.Stack[a.Index]).User]
}

// OwnOptimizer says that an optimizer's samples are in code of the program's own.
func (c *Facts) OwnOptimizer(chains []Chain) bool {
	own := 0.0
	for i := range chains {
		if c.C.Info(c.P.Samples.Stack[c.B.Samples[chains[i].Index].Index]).UserLeaf {
			own += chains[i].Weight
		}
	}
	return own > price.LaunchMost*Sum(chains)
}

// tensorShare is the share of native time without the interpreter's lock from which a function counts as tensor code: its
// interpreter time is then the price of calling operators (cause launch), not Python work of its own. Native code of other libraries
// calls none; where a function spends more in it than in what looks like operators, those are the library's as well (an array's
// indexing has no frame of its own).
const tensorShare = price.TensorShare

// tensorFuncs finds the functions, the user's and of packages beside PyTorch, that mostly call operators.
func (c *Facts) tensorFuncs() map[FuncKey]bool {
	ops, all, others := map[FuncKey]float64{}, map[FuncKey]float64{}, map[FuncKey]float64{}
	for k := range c.B.Samples {
		a := &c.B.Samples[k]
		if a.Part != account.PartOps && a.Part != account.PartPython {
			continue
		}
		info := c.C.Info(c.P.Samples.Stack[a.Index])
		if info.Owner < 0 {
			continue
		}
		key := KeyOf(&c.C.Stacks.Frames[info.Owner])
		all[key] += a.Weight
		switch {
		case a.Part == account.PartOps:
			ops[key] += a.Weight
		case info.Acts&code.ActNumeric != 0:
			others[key] += a.Weight
		}
	}
	out := map[FuncKey]bool{}
	for k, w := range ops {
		if w >= tensorShare*all[k] && w >= others[k] {
			out[k] = true
		}
	}
	return out
}

// tensorLine says that a line mostly calls operators, by the weight of its samples in operators and of all of them. It is asked of
// functions that drive the loop: there the function as a whole says nothing about one line.
func (c *Facts) tensorLine(ops, all map[model.FrameID]float64, fr model.FrameID) bool {
	return all[fr] > 0 && ops[fr] >= tensorShare*all[fr]
}

// PythonSamples are the samples in which the interpreter (or native code that holds its lock, such as NumPy's small calls)
// works for the user's own code; forOps turns the choice round: interpreter time around operators.
func (c *Facts) PythonSamples(l finding.Ledger, forOps bool) func(int, *account.Attributed) bool {
	tensor := c.tensorFuncs()
	ops, all := map[model.FrameID]float64{}, map[model.FrameID]float64{}
	frameOf := func(a *account.Attributed) model.FrameID { return c.C.Info(c.P.Samples.Stack[a.Index]).User }
	for k := range c.B.Samples {
		if a := &c.B.Samples[k]; a.Part == account.PartOps || a.Part == account.PartPython {
			fr := frameOf(a)
			all[fr] += a.Weight
			if a.Part == account.PartOps {
				ops[fr] += a.Weight
			}
		}
	}
	return func(k int, a *account.Attributed) bool {
		if a.Part != account.PartPython || l.Taken(k) {
			return false
		}
		info := c.C.Info(c.P.Samples.Stack[a.Index])
		fr := info.User
		if fr < 0 {
			return forOps == (info.Acts&code.ActTorch != 0)
		}
		if info.Acts&code.ActNumeric != 0 {
			return !forOps
		}
		around := info.Acts&(code.ActTorch|code.ActBackward|code.ActOptimizer) != 0
		if around = around || c.Calling[fr]; !around {
			if info.Owner != fr { // a hook, a loop or a table of a package's: its own function tells
				around = tensor[KeyOf(&c.C.Stacks.Frames[info.Owner])]
			} else if c.Drivers[KeyOf(&c.C.Stacks.Frames[fr])] {
				around = c.tensorLine(ops, all, fr)
			} else {
				around = tensor[KeyOf(&c.C.Stacks.Frames[fr])]
			}
		}
		return around == forOps
	}
}

// MinSamples is how many samples a place needs before it is named: fewer are chance.
const MinSamples = 8

// Collections is the garbage collector's time while a function is on the stack: the objects that the function makes cause it.
// It counts as the function's as long as it is the smaller part; else the collector itself is what is wrong.
func (c *Facts) Collections(sp Spot) float64 {
	if c.Drivers[KeyOf(&sp.Frame)] {
		return 0
	}
	t := 0.0
	for _, ch := range ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		return a.Part == account.PartGC
	}) {
		if slices.ContainsFunc(ch.Frames, func(f model.Frame) bool { return KeyOf(&f) == KeyOf(&sp.Frame) }) {
			t += ch.Weight
		}
	}
	if t > sp.Unit {
		return 0
	}
	return t
}

// CollectionsText says how long collections take, ns over the windows, that belong to a finding.
func (c *Facts) CollectionsText(gc float64) wording.Text {
	return wording.Say("python.collections", wording.Time("time", c.PerStep(gc)))
}

// Limits of the rule on work beside the training.
const (
	BesideTraced = 5 // samples of a place in traced steps that are enough to tell
	BesideLines  = 4 // lines of one function that lie so close belong together
)

// PlaceKey is a function, or one line of it.
type PlaceKey struct {
	F    FuncKey
	Line int32 // 0: the whole function
}

// Compare orders places by their functions, then by line, so that which of two equal ones is taken does not depend on a map.
func (k PlaceKey) Compare(o PlaceKey) int {
	return cmp.Or(k.F.Compare(o.F), cmp.Compare(k.Line, o.Line))
}

// TracedChains hands out the driving thread's samples in stretches of traced steps, sorted and disjoint, with their times. A chain's index
// is that of its sample.
func (c *Facts) TracedChains(steps []times.Interval, f func(ch Chain, at model.Time)) {
	sm := &c.P.Samples
	var list []account.Attributed
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack)) {
		if int(sm.Thread[i]) == c.B.Thread && Inside(steps, sm.Time[i]) {
			list = append(list, account.Attributed{Index: i, Weight: 1})
		}
	}
	for _, ch := range ChainsOf(c.C, sm, list, func(int, *account.Attributed) bool { return true }) {
		ch.Index = list[ch.Index].Index
		f(ch, sm.Time[ch.Index])
	}
}

// OutsideModules is how many of the user's frames of a sample are around the outermost module's call, all of them where none is called.
func (c *Facts) OutsideModules(sample int) (frames int, called bool) {
	c.C.Walk(c.P.Samples.Stack[sample], func(fr model.FrameID) bool {
		f := &c.C.Stacks.Frames[fr]
		switch {
		case strings.HasSuffix(c.Text(f.File), model.ModuleFile):
			frames, called = 0, true
		case c.C.File(f.File) == code.FileUser:
			frames++
		}
		return true
	})
	return frames, called
}
