package again

import (
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// FindFrozen names a network in a training step that no gradient goes through, such as layers that are kept as they are or a teacher, where
// the program goes through the same data several times: what it answers could be computed once.
func FindFrozen(c *facts.Facts, l finding.Ledger) []finding.Draft {
	rounds := epochs(c)
	if c.B.Phase != model.PhaseBaseline || rounds < 2 {
		return nil
	}
	u := account.UntrackedWork(c.S, c.B)
	if u == nil || answersChange(c, u) {
		return nil
	}
	place, part, ok := untrackedCall(c, u)
	if !ok || learns(c, u, place) {
		return nil
	}
	chains := slices.DeleteFunc(callersOf(c, c.Working(l)), func(ch facts.Chain) bool { return lastOf(&ch) != place })
	sp, ok := facts.Hottest(chains, c.Drivers)
	t := part * facts.Sum(chains)
	if !ok || len(chains) < facts.MinSamples || c.Share(t) < price.FrozenShare {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Again, Sub: "frozen", Where: c.Where(sp), Share: c.Share(t),
		Confidence: c.Basis(len(chains))}, finding.Parts{})
	c.ClaimAll(&f, chains, part)
	f.Step = f.By(price.OnceForAll).Times(c.PerStep(t) * (1 - 1/rounds))
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("again.title-frozen", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{
		wording.Say("again.untracked", wording.Time("time", c.PerStep(t)), c.Said()),
		wording.Say("again.rounds", wording.Value("rounds", rounds)),
	}
	f.Fix.Advice = []wording.Text{wording.Say("again.fix-frozen")}
	f.Caveat = []wording.Text{wording.Say("again.caveat-frozen")}
	return []finding.Draft{f}
}

// epochs is how often the program went through the data set that most of its batches are of; 0 where that is not known.
func epochs(c *facts.Facts) float64 {
	loader, batches := mostAsked(c, func(model.Time) bool { return true })
	if loader < 0 {
		return 0
	}
	l := &c.P.Loaders[loader]
	if l.Length <= 0 || l.Iterable {
		return 0
	}
	return float64(batches) / float64(l.Length)
}

// answersChange says that what no gradient goes through draws random numbers, or changes weights bit by bit, so that it answers something
// else each time: noise that a generator is given, an average of the trained weights.
func answersChange(c *facts.Facts, u *account.Untracked) bool {
	return len(runsWith(c, u, func(name string) bool {
		return naming.OpKindOf(name) == naming.OpRandom || strings.Contains(name, "lerp") || name == "aten::mul_" ||
			name == "aten::_foreach_mul_"
	})) > 0
}

// runsWith are the stretches without gradients in which an operator of some kind is called.
func runsWith(c *facts.Facts, u *account.Untracked, kind func(name string) bool) (out []times.Interval) {
	with := map[int]bool{}
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, _ bool) {
		if at := ev.Start[id]; kind(c.Text(ev.Name[id])) {
			if i := times.Within(u.Runs, at); i >= 0 {
				with[i] = true
			}
		}
	})
	for i := range u.Runs {
		if with[i] {
			out = append(out, u.Runs[i])
		}
	}
	return out
}

// untrackedCall is the line that calls a module of which most samples in traced steps lie where no gradient goes through, and the share of
// these; ok is false where there is none.
func untrackedCall(c *facts.Facts, u *account.Untracked) (at facts.PlaceKey, part float64, ok bool) {
	all, apart := map[facts.PlaceKey]float64{}, map[facts.PlaceKey]float64{}
	c.TracedChains(u.Steps, func(ch facts.Chain, when model.Time) {
		if at := callerOf(c, ch); at != (facts.PlaceKey{}) {
			all[at]++
			apart[at] += float64(finding.Btoi(facts.Inside(u.Runs, when)))
		}
	})
	for key, n := range apart {
		if n > apart[at] || n == apart[at] && key.Compare(at) < 0 {
			at = key
		}
	}
	if apart[at] < facts.BesideTraced || apart[at] < price.FrozenPart*all[at] {
		return at, 0, false
	}
	return at, apart[at] / all[at], true
}

// learns says that the model which a line calls is one that is trained, as for an accuracy: its weights move from call to call, or, where
// no calls were looked at, gradients go through the same function called elsewhere.
func learns(c *facts.Facts, u *account.Untracked, place facts.PlaceKey) bool {
	weights, looked := map[int64]int64{}, false
	unseen := writesUnseen(c, u)
	for _, r := range c.P.Asked {
		if r.File != place.F.File || r.Line != place.Line || r.Unread && unseen {
			continue
		}
		if before, seen := weights[r.Module]; seen && before != r.Weights {
			return true
		}
		weights[r.Module], looked = r.Weights, true
	}
	if looked {
		return false
	}
	here, elsewhere := map[facts.FuncKey]bool{}, map[facts.FuncKey]int{}
	c.TracedChains(u.Steps, func(ch facts.Chain, when model.Time) {
		outside, called := c.OutsideModules(ch.Index)
		if !called || outside >= len(ch.Frames) {
			return
		}
		function := facts.KeyOf(&ch.Frames[outside])
		if callerOf(c, ch) == place {
			here[function] = true
		} else if !facts.Inside(u.Runs, when) {
			elsewhere[function]++
		}
	})
	for function := range here {
		if elsewhere[function] >= facts.BesideTraced {
			return true
		}
	}
	return false
}

// lastOf is the innermost place of a chain.
func lastOf(ch *facts.Chain) facts.PlaceKey {
	if len(ch.Frames) == 0 {
		return facts.PlaceKey{}
	}
	f := &ch.Frames[len(ch.Frames)-1]
	return facts.PlaceKey{F: facts.KeyOf(f), Line: f.Line}
}
