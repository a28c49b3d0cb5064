package launch

import (
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// findTurns names a loop that calls one small operator after another in steps of which no trace tells the operators, such as a metric that
// goes through the answers of an evaluation one by one, or in a run without steps that computes outside of its traces. What runs in it asks
// no model, goes nowhere backward and steps no environment: a loop that does is the steps' own, or goes from batch to batch. The
// interpreter's time around its operators tells that they are small.
func findTurns(c *facts.Facts, l finding.Ledger) []finding.Draft {
	if c.OnDevice() {
		return nil
	}
	around := c.PythonSamples(l, true)
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		return a.Part == account.PartOps && !l.Taken(k) || around(k, a)
	})
	in := turningMost(c, chains)
	sp, ok := facts.Hottest(in, c.Drivers)
	if !ok || len(in) < facts.MinSamples {
		return nil
	}
	t, python := facts.Sum(in), 0.0
	for i := range in {
		if c.B.Samples[in[i].Index].Part == account.PartPython {
			python += in[i].Weight
		}
	}
	if launchShareOf(c, t) < price.LaunchShare || python < price.BetweenPython*t || c.HostRoom() < finding.Floor*c.B.Mean() {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Launch, Where: c.Where(sp), Share: launchShareOf(c, t),
		Confidence: c.Basis(len(in))}, finding.Parts{})
	c.ClaimAll(&f, in, 1)
	row, advice := price.CallsInTurns, "launch.fix-between"
	if pysource.CountsPairs(f.Where.Source) {
		row, advice = price.CallsBatched, "launch.fix-counts"
	}
	f.Step = f.By(row).Times(c.PerStep(t))
	f.Run = c.OverRun(f.Step)
	share, evidence := "share-of.each", "launch.untraced"
	if !c.B.PerStep {
		share, evidence = "launch.share-run", "launch.untraced-run"
	}
	f.Title = wording.Say("launch.title", wording.With("share", wording.Say(share, wording.Share("share", f.Share), c.Said())))
	f.Evidence = []wording.Text{wording.Say(evidence, wording.Time("time", c.PerStep(t)), c.Said(),
		wording.Time("python", c.PerStep(python)))}
	f.Fix.Advice = []wording.Text{wording.Say(advice)}
	f.Caveat = []wording.Text{wording.Say("launch.caveat-turns")}
	return []finding.Draft{f}
}

// turningMost is what the loop holds that holds most of the chains, among innermost ones which neither ask a model nor learn nor step an
// environment; nothing where there is none.
func turningMost(c *facts.Facts, chains []facts.Chain) (held []facts.Chain) {
	in := map[funcLoop][]facts.Chain{}
	for i := range chains {
		for _, f := range slices.Backward(chains[i].Frames) {
			if loop := code.LoopAt(c.S.Sources[c.Text(f.File)], int(f.Line)); loop > 0 {
				l := funcLoop{facts.KeyOf(&f), loop}
				in[l] = append(in[l], chains[i])
				break
			}
		}
	}
	all := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(int, *account.Attributed) bool { return true })
	var most funcLoop
	time := 0.0
	for l, list := range in {
		if t := facts.Sum(list); (t > time || t == time && l.loop > most.loop) && !asksOrLearns(c, l, all, t) {
			held, most, time = list, l, t
		}
	}
	return held
}

// asksOrLearns says that more than next to nothing of a loop's time, ns over the windows, lies in calls of a model, in a backward pass, an
// optimizer or an environment.
func asksOrLearns(c *facts.Facts, l funcLoop, all []facts.Chain, time float64) bool {
	t := 0.0
	for i := range all {
		n := slices.IndexFunc(all[i].Frames, func(f model.Frame) bool {
			source := c.S.Sources[c.Text(f.File)]
			return facts.KeyOf(&f) == l.key && (int(f.Line) == l.loop || code.InLoop(source, l.loop, int(f.Line)))
		})
		if n < 0 {
			continue
		}
		stack := c.P.Samples.Stack[c.B.Samples[all[i].Index].Index]
		if c.C.Info(stack).Acts&(code.ActBackward|code.ActOptimizer) != 0 || c.StepsEnvironment(stack) || asksWithin(c, stack, l.key) {
			t += all[i].Weight
		}
	}
	return t > price.TurnsAsk*time
}

// asksWithin says that a stack passes through the call of a module below a function.
func asksWithin(c *facts.Facts, stack model.StackID, key facts.FuncKey) (asks bool) {
	c.C.Walk(stack, func(fr model.FrameID) bool {
		f := &c.C.Stacks.Frames[fr]
		asks = asks || strings.HasSuffix(c.Text(f.File), model.ModuleFile)
		return facts.KeyOf(f) != key
	})
	return asks
}
