package launch

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// parameterLoop is a loop of one of the user's functions.
type parameterLoop struct {
	of   facts.FuncKey
	loop pysource.ParameterLoop
}

var parametersAdvice = map[pysource.PerParameter]string{pysource.Changes: "launch.fix-parameters",
	pysource.Averages: "launch.fix-parameters-average", pysource.Measures: "launch.fix-parameters-norm"}

// FindParameters names loops that go through a model's parameters and call tiny operators for each: of an averaged or a target network, of
// norms of gradients. There is a call for lists of tensors.
func FindParameters(c *facts.Facts, l finding.Ledger) (out []finding.Draft) {
	if c.B.Ops == nil || !c.B.PerStep || c.B.Device.Computes >= account.DeviceBound {
		return nil
	}
	groups := parameterLoops(c, callingsOf(c, l).first)
	whole := groups
	if slices.ContainsFunc(slices.Collect(maps.Keys(groups)), func(one parameterLoop) bool { return one.loop.Penalty }) {
		whole = parameterLoops(c, allCallings(c, l).first)
	}
	for _, one := range slices.SortedFunc(maps.Keys(groups), func(a, b parameterLoop) int {
		return cmp.Or(a.of.Compare(b.of), cmp.Compare(a.loop.Line, b.loop.Line))
	}) {
		if f, ok := penaltyFinding(c, l, whole[one], one.loop); ok {
			out = append(out, f)
		} else if f, ok := parametersFinding(c, groups[one], one.loop.What); ok {
			out = append(out, f)
		}
	}
	return out
}

// parameterLoops are the samples of loops over parameters.
func parameterLoops(c *facts.Facts, chains []facts.Chain) map[parameterLoop][]facts.Chain {
	groups := map[parameterLoop][]facts.Chain{}
	known := map[finding.UserLine]pysource.ParameterLoop{}
	for _, ch := range chains {
		if len(ch.Frames) == 0 || c.Passes(c.P.Samples.Stack[c.B.Samples[ch.Index].Index], model.ModuleFile, "call_impl", true) {
			continue // what a model computes is no work on its parameters
		}
		f := &ch.Frames[len(ch.Frames)-1]
		source := c.S.Sources[c.Text(f.File)]
		if source == nil {
			continue
		}
		at := finding.UserLine{File: c.Text(f.File), Line: int(f.Line)}
		loop, seen := known[at]
		if !seen {
			loop = pysource.ParameterLoopAt(source.Lines, f.Line)
			known[at] = loop
		}
		if one := (parameterLoop{facts.KeyOf(f), loop}); loop.Line > 0 {
			groups[one] = append(groups[one], ch)
		}
	}
	return groups
}

// penaltyFinding is about a loop that adds a penalty on the parameters to the loss: in traced steps the backward pass has nodes of such
// sums for half of the parameters at least. Large parameters count like small ones: the same is had without any of it.
func penaltyFinding(c *facts.Facts, l finding.Ledger, chains []facts.Chain, loop pysource.ParameterLoop) (f finding.Draft, ok bool) {
	parameters, _, known := c.Updated()
	if !loop.Penalty || !known || len(chains) < facts.MinSamples || c.OnDevice() {
		return f, false
	}
	nodes, share := penaltyNodes(c)
	if nodes < parameters/2 {
		return f, false
	}
	back := share * c.B.Part(account.PartOps)
	t := facts.Sum(chains) + back
	sp, ok := facts.Hottest(chains, c.Drivers)
	if !ok || c.Share(t) < finding.Floor {
		return f, false
	}
	f = finding.NewDraft(finding.Finding{Cause: finding.Launch, Sub: "parameters", Where: c.Where(sp), Share: c.Share(t),
		Confidence: c.Basis(len(chains))}, finding.Parts{})
	c.ClaimAll(&f, chains, 1)
	claimBackward(c, c.Working(l), &f, back)
	f.Step = f.By(price.Penalty).Times(c.PerStep(t))
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("launch.title-penalty", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{
		wording.Say("launch.penalty", wording.Time("time", c.PerStep(t)), c.Said(), wording.Time("back", c.PerStep(back))),
		wording.Say("launch.parameters-number", wording.Count("parameters", int(parameters))),
	}
	f.Fix.Advice = []wording.Text{wording.Say("launch.fix-penalty")}
	f.Caveat = []wording.Text{wording.Say("launch.caveat-penalty")}
	return f, true
}

// penaltyNodes is how many nodes of penalties the backward pass of a traced step has, and the share of all operators' time that they take,
// with the sums and factors right before each.
func penaltyNodes(c *facts.Facts) (nodes, share float64) {
	before, back, all := 0.0, 0.0, 0.0
	n := account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		if !outer {
			return
		}
		d := float64(ev.Dur[id])
		all += d
		node, backward := strings.CutPrefix(c.Text(ev.Name[id]), naming.EngineNode+": ")
		switch {
		case backward && penaltyNode.MatchString(node):
			back += before + d
			nodes++
			before = 0
		case backward && sumNode.MatchString(node):
			before += d
		default:
			before = 0
		}
	})
	if n == 0 || all <= 0 {
		return 0, 0
	}
	return nodes / float64(n), back / all
}

var (
	penaltyNode = regexp.MustCompile(`^(?:Pow|Abs|Norm|LinalgVectorNorm)Backward`)
	sumNode     = regexp.MustCompile(`^(?:Sum|Add|Mul|Div)Backward`)
)

func parametersFinding(c *facts.Facts, chains []facts.Chain, what pysource.PerParameter) (f finding.Draft, ok bool) {
	t := facts.Sum(chains)
	sp, ok := facts.Hottest(chains, c.Drivers)
	if !ok || len(chains) < facts.MinSamples || c.Share(t) < finding.Floor {
		return f, false
	}
	f = finding.NewDraft(finding.Finding{Cause: finding.Launch, Sub: "parameters", Where: c.Where(sp), Share: c.Share(t),
		Confidence: c.Basis(len(chains))}, finding.Parts{})
	c.ClaimAll(&f, chains, 1)
	f.Claim.Small = f.Claim.Parts[account.PartOps]
	row := price.CallsPerParameter
	if what == pysource.Measures {
		row = price.CallsNorms
	}
	if c.OnDevice() {
		row = price.CallsListsDevice
	}
	f.Step = f.By(row).Sampled(len(chains)).Scale(c.PerStep(t)).AtMost(c.HostRoom())
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("launch.title-parameters", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("launch.parameters", wording.Time("time", c.PerStep(t)), c.Said())}
	if parameters, _, known := c.Updated(); known {
		f.Evidence = append(f.Evidence, wording.Say("launch.parameters-number", wording.Count("parameters", int(parameters))))
	}
	f.Fix.Advice = []wording.Text{wording.Say(parametersAdvice[what])}
	f.Caveat = []wording.Text{wording.Say("launch.caveat-parameters")}
	return f, true
}
