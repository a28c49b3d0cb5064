package again

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// recomputing is what a stack has to do with activations that are not kept.
type recomputing uint8

const (
	notRecomputing recomputing = iota
	calledForward              // layers whose activations will not be kept
	computedAgain              // the same layers, in the backward pass
	keptCount                  // what it takes to tell the two apart: states of random numbers, contexts, hooks of tensors
)

// recomputingOf tells it, and how many of the user's frames, outermost first, are around the call that keeps no activations.
func recomputingOf(c *facts.Facts, id model.StackID) (is recomputing, around int) {
	inside := false
	c.C.Walk(id, func(fr model.FrameID) bool {
		f := &c.C.Stacks.Frames[fr]
		path := c.Text(f.File)
		switch {
		case code.ComputesAgain(path):
			around = 0
			if is == notRecomputing {
				is = calledForward
			}
			if !inside {
				is, inside = keptCount, true
			}
		case c.C.Does(f.File)&code.ActBackward != 0:
			if is == calledForward {
				is = computedAgain
			}
			return false
		case c.C.File(f.File) == code.FileUser:
			around, inside = around+1, true
		case strings.HasSuffix(path, model.ModuleFile):
			inside = true
		}
		return true
	})
	return is, around
}

// onEngine are the accounted samples in which the driving thread waits for a backward pass while autograd's own thread, which goes backward
// for a device, computes activations again, and what that thread does. Each of its samples stands for one of the driving thread's, the
// nearest: both are sampled at one rate.
func onEngine(c *facts.Facts) map[int]recomputing {
	sm, out := &c.P.Samples, map[int]recomputing{}
	waits := func(k int) bool {
		return k >= 0 && k < len(c.B.Samples) && out[k] == notRecomputing &&
			c.C.Info(sm.Stack[c.B.Samples[k].Index]).Acts&code.ActBackward != 0
	}
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack)) {
		if int(sm.Thread[i]) == c.B.Thread || !engines(c, sm.Stack[i]) || times.Within(c.B.Windows, sm.Time[i]) < 0 {
			continue
		}
		is, _ := recomputingOf(c, sm.Stack[i])
		if is == calledForward {
			is = computedAgain // a backward pass called it: the engine's thread has no other reason
		}
		next, _ := slices.BinarySearchFunc(c.B.Samples, sm.Time[i], func(a account.Attributed, at model.Time) int {
			return cmp.Compare(sm.Time[a.Index], at)
		})
		if waits(next) {
			out[next] = is
		} else if waits(next - 1) {
			out[next-1] = is
		}
	}
	return out
}

// engines says that a stack is one of autograd's own threads: its outermost call is what a node of the graph calls for activations, and
// nothing of Python's has started the thread.
func engines(c *facts.Facts, id model.StackID) bool {
	again, outermost := false, ""
	c.C.Walk(id, func(fr model.FrameID) bool {
		outermost = c.Text(c.C.Stacks.Frames[fr].File)
		again = again || code.ComputesAgain(outermost)
		return true
	})
	return again && (code.ComputesAgain(outermost) || strings.HasSuffix(outermost, "torch/autograd/function.py"))
}

// FindActivations names activations that the backward pass computes again, since the program keeps none of them: that saves memory, and
// costs a forward pass.
func FindActivations(c *facts.Facts, l finding.Ledger) []finding.Draft {
	if !slices.ContainsFunc(c.C.Stacks.Frames, func(f model.Frame) bool { return code.ComputesAgain(c.Text(f.File)) }) {
		return nil
	}
	gpu := computesAgain(c)
	bound := gpu.all >= account.DeviceBound*c.B.Mean() // the device sets the pace of the steps
	if bound && gpu.again == 0 {
		return nil // its part of computing again is not told apart
	}
	counting, engine := 0.0, onEngine(c)
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		if a.Part != account.PartOps && a.Part != account.PartPython || l.Taken(k) {
			return false
		}
		is, _ := recomputingOf(c, c.P.Samples.Stack[a.Index])
		if engine[k] != notRecomputing {
			is = engine[k]
		}
		if is == keptCount {
			counting += a.Weight
		}
		return is == computedAgain || is == keptCount
	})
	t := facts.Sum(chains)
	if len(chains) < facts.MinSamples || t <= counting || c.Share(t) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Again, Sub: "activations", Where: recomputedWhere(c, chains), Share: c.Share(t),
		Confidence: c.Basis(len(chains))}, finding.Parts{})
	c.ClaimAll(&f, chains, 1)
	ofDevice(c, &f)
	f.Step = f.By(price.Activations).Sampled(len(chains)).Scale(c.PerStep(t))
	if gpu.all > 0 { // the device's own work stays, but for what it computes again
		rest := max(c.B.Mean()-gpu.all+gpu.again, 0)
		f.Step = f.Step.AtMost(rest)
	}
	if bound {
		f.Step = f.By(price.ActivationsTraced).Times(min(gpu.again, c.B.Mean()))
	}
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("again.title-activations", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{
		wording.Say("again.activations", wording.Time("time", c.PerStep(t-counting)), c.Said(), wording.Time("counting", c.PerStep(counting))),
	}
	if gpu.again > 0 {
		f.Evidence = append(f.Evidence, wording.Say("again.activations-device", wording.Time("again", gpu.again),
			wording.Time("all", gpu.all), c.Said()))
	}
	// With a device it is its memory that counts, and nothing here tells how much of that is taken.
	if total := c.S.Environment.MemoryBytes; gpu.all == 0 && total != nil && c.S.Run.PeakBytes > 0 {
		f.Evidence = append(f.Evidence, wording.Say("again.activations-room", wording.Size("bytes", float64(c.S.Run.PeakBytes)),
			wording.Size("total", float64(*total))))
	}
	f.Fix.Advice = []wording.Text{wording.Say("again.fix-activations")}
	f.Caveat = []wording.Text{wording.Say("again.caveat-activations")}
	return []finding.Draft{f}
}

// recomputedWhere is the line that asks for it: the argument of a trainer's that stands once in the program, or else the line that calls
// the layers in the forward pass.
func recomputedWhere(c *facts.Facts, chains []facts.Chain) finding.Where {
	if at, ok := c.OnlyLine(func(text string) bool { return strings.Contains(text, "gradient_checkpointing") }); ok {
		return at.Where()
	}
	calls := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		is, _ := recomputingOf(c, c.P.Samples.Stack[a.Index])
		return is == calledForward
	})
	for i := range calls {
		_, around := recomputingOf(c, c.P.Samples.Stack[c.B.Samples[calls[i].Index].Index])
		calls[i].Frames = calls[i].Frames[:min(around, len(calls[i].Frames))]
	}
	if sp, ok := facts.Hottest(calls, c.Drivers); ok {
		return c.Where(sp)
	}
	if sp, ok := facts.Hottest(chains, c.Drivers); ok {
		return c.Where(sp)
	}
	return finding.Nowhere()
}
