package again

import (
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
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

// FindActivations names activations that the backward pass computes again, since the program keeps none of them: that saves memory, and
// costs a forward pass.
func FindActivations(c *facts.Facts, l finding.Ledger) []finding.Draft {
	if c.B.Part(account.PartGPUCompute) > 0 { // the device's part of computing again is not told apart
		return nil
	}
	if !slices.ContainsFunc(c.C.Stacks.Frames, func(f model.Frame) bool { return code.ComputesAgain(c.Text(f.File)) }) {
		return nil
	}
	counting := 0.0
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		if a.Part != account.PartOps && a.Part != account.PartPython || l.Taken(k) {
			return false
		}
		is, _ := recomputingOf(c, c.P.Samples.Stack[a.Index])
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
	f.Step = f.By(price.Activations).Sampled(len(chains)).Scale(c.PerStep(t))
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("again.title-activations", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{
		wording.Say("again.activations", wording.Time("time", c.PerStep(t-counting)), c.Said(), wording.Time("counting", c.PerStep(counting))),
	}
	if total := c.S.Environment.MemoryBytes; total != nil && c.S.Run.PeakBytes > 0 {
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
