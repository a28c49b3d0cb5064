package again

import (
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

// FindGraphAfter names functions that ask a model after a training's last step while autograd keeps a graph: nothing goes backward any
// more. Traces hold steps alone, so that samples say who calls the model, and the program's sources that no line around it switches
// gradients off. What such a graph costs is mostly memory that is never used again, which the kernel has to give: its time is known.
func FindGraphAfter(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if !c.B.PerStep || c.Wall <= 0 || c.OnDevice() || c.B.Part(account.PartGPUCompute) > 0 {
		return nil
	}
	busy := c.StepsAndPauses(func(model.Str) bool { return true })
	if len(busy) == 0 {
		return nil
	}
	a := graphAfter{Facts: c, from: busy[len(busy)-1].End, files: map[model.Str]bool{}, lines: map[frameLine]graphState{}}
	samples := a.keeping(c.Outside(busy))
	chains := facts.ChainsOf(c.C, &c.P.Samples, samples, func(int, *account.Attributed) bool { return true })
	t := facts.Sum(chains)
	for i := range chains {
		if n, called := c.OutsideModules(samples[chains[i].Index].Index); called {
			chains[i].Frames = chains[i].Frames[:min(n, len(chains[i].Frames))]
		}
	}
	sp, ok := facts.Hottest(chains, c.Drivers)
	if !ok || len(chains) < facts.MinSamples || t < price.BetweenShare*c.Wall {
		return nil
	}
	least, most, system := c.NewMemory(a.from)
	if most-least < max(price.GraphGrowth, least) {
		return nil
	}
	system *= t / max(a.all, t)
	f := finding.NewDraft(finding.Finding{Cause: finding.UnusedGradients, Sub: "graph", OfRun: true, Where: c.Where(sp), Share: t / c.Wall,
		Confidence: c.Basis(len(chains))}, nil)
	if f.Confidence.Level == finding.High {
		f.Confidence.Level = finding.Medium
	}
	f.Run = f.By(price.GraphAfter).Times(system).Add(finding.Range{High: price.UnusedGraphMost.High * (t - system)}).AtMost(t)
	if f.Run.Mid < finding.Floor*c.Wall {
		return nil
	}
	f.Title = wording.Say("gradients.title-after", wording.Share("share", f.Share))
	f.Evidence = []wording.Text{
		wording.Say("gradients.after", wording.Time("time", t), wording.Time("system", system),
			wording.Size("least", least), wording.Size("most", most)),
		wording.Say("gradients.after-lines"),
	}
	f.Fix.Advice = []wording.Text{wording.Say("gradients.fix-graph")}
	f.Caveat = []wording.Text{wording.Say("gradients.caveat-after")}
	return []finding.Draft{f}
}

// graphAfter looks at samples after the last step.
type graphAfter struct {
	*facts.Facts
	from  model.Time
	all   float64            // ns in which the driving thread works then
	files map[model.Str]bool // whether a file leaves it to with statements and decorators whether gradients are recorded
	lines map[frameLine]graphState
}

type frameLine struct {
	file model.Str
	line int32
}

type graphState uint8

const (
	graphUnknown graphState = iota
	graphKept
	graphOff
)

// keeping are the samples of the functions of the user's that call a model outside of all modules while a graph is kept; none where
// something goes backward after the last step, or where one of these functions is not known well enough.
func (a *graphAfter) keeping(outside []account.Attributed) (out []account.Attributed) {
	sm, calls := &a.P.Samples, map[facts.FuncKey]bool{}
	var in []facts.FuncKey // of each sample
	var states []graphState
	var kept []account.Attributed
	for _, s := range outside {
		if sm.Time[s.Index] < a.from || a.P.End > 0 && sm.Time[s.Index] > a.P.End {
			continue
		}
		info := a.C.Info(sm.Stack[s.Index])
		if info.Acts&(code.ActBackward|code.ActOptimizer) != 0 {
			return nil
		}
		if s.Part != account.PartOps && s.Part != account.PartPython {
			continue
		}
		a.all += s.Weight
		key, state, called := a.look(sm.Stack[s.Index])
		if called && state == graphKept {
			calls[key] = true
		}
		kept, in, states = append(kept, s), append(in, key), append(states, state)
	}
	for i, s := range kept {
		if calls[in[i]] && states[i] == graphKept {
			out = append(out, s)
		}
	}
	return out
}

// look gives the innermost function of the user's outside of all modules of a stack, whether a graph is kept there, and whether a module is
// called.
func (a *graphAfter) look(id model.StackID) (key facts.FuncKey, state graphState, called bool) {
	state = graphKept
	user, between := false, false
	a.C.Walk(id, func(fr model.FrameID) bool { // innermost first
		f := &a.C.Stacks.Frames[fr]
		switch file := a.Text(f.File); {
		case strings.HasSuffix(file, model.ModuleFile):
			called, between, user = true, false, false
		case a.C.File(f.File) == code.FileTorch:
			if a.Text(f.Function) == "decorate_context" || strings.Contains(file, "grad_mode.py") {
				state = graphOff
			}
		case a.C.File(f.File) == code.FileUser:
			if between && state == graphKept {
				state = graphUnknown // a library between the function and the one that calls it may switch gradients off
			}
			if !user {
				key, user = facts.KeyOf(f), true
			}
			if at := a.at(f); at != graphKept && state != graphOff {
				state = at
			}
		default:
			between = user || called
		}
		return state != graphOff
	})
	return key, state, called
}

// at is whether a graph is kept at a line, as far as its file tells.
func (a *graphAfter) at(f *model.Frame) graphState {
	where := frameLine{f.File, f.Line}
	state, seen := a.lines[where]
	if seen {
		return state
	}
	source := a.S.Sources[a.Text(f.File)]
	if source == nil {
		return graphUnknown
	}
	plain, seen := a.files[f.File]
	if !seen {
		plain = !pysource.SwitchesGraph(source.Lines)
		a.files[f.File] = plain
	}
	switch off, known := pysource.GraphOff(source.Lines, f.Line); {
	case off:
		state = graphOff
	case known && plain:
		state = graphKept
	}
	a.lines[where] = state
	return state
}
