package python

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

// besidePlace is a place whose operators no gradient needs, with its samples in the accounted steps.
type besidePlace struct {
	key    facts.PlaceKey
	chains []facts.Chain
	depth  int // of the place's frame in its chains
	traced int
}

// FindBeside names what each training step computes beside the training: operators whose results no backward pass uses and from which
// the loss is not computed, called by neither the optimizer nor the loader, and read back to Python: statistics for logs, metrics. Doing
// it every n-th step is the cure.
func FindBeside(c *facts.Facts, l finding.Ledger) []finding.Draft {
	u := account.UntrackedWork(c.S, c.B)
	if u == nil {
		return nil
	}
	var out []finding.Draft
	loss := partsOfLoss(c)
	for _, p := range besidePlaces(c, l, u, loss) {
		t := facts.Sum(p.chains)
		members := membersOf(p.chains)
		if len(out) == maxPythonFindings || c.Share(t) < price.BesideShare || p.traced < facts.BesideTraced ||
			len(members) < facts.MinSamples || !operates(c, &p) || !readsBack(c, &p) && !loss.readLater(&p) {
			continue
		}
		network := infers(c, &p)
		if network && !validates(c, &p, u) || c.Every(members) > 1 && (!network || c.Share(t) < price.BesideRare) {
			continue
		}
		out = append(out, besideFinding(c, &p, network))
	}
	return out
}

func membersOf(chains []facts.Chain) []int {
	out := make([]int, 0, len(chains))
	for _, ch := range chains {
		out = append(out, ch.Index)
	}
	return out
}

// besidePlaces are the outermost functions and lines whose samples in traced steps lie in untracked work and on which the loss does not
// depend, most time first.
func besidePlaces(c *facts.Facts, l finding.Ledger, u *account.Untracked, loss *lossParts) []besidePlace {
	seen, apart := map[facts.PlaceKey]int{}, map[facts.PlaceKey]int{}
	c.TracedChains(u.Steps, func(ch facts.Chain, at model.Time) {
		untracked := facts.Inside(u.Runs, at)
		done := map[facts.PlaceKey]bool{}
		for i := range ch.Frames {
			for _, k := range []facts.PlaceKey{{F: facts.KeyOf(&ch.Frames[i])}, {F: facts.KeyOf(&ch.Frames[i]), Line: ch.Frames[i].Line}} {
				if done[k] {
					continue
				}
				done[k] = true
				seen[k]++
				if untracked {
					apart[k]++
				}
			}
		}
	})
	beside := func(k facts.PlaceKey) bool {
		return seen[k] > 0 && float64(seen[k]-apart[k]) <= price.BesideTracked*float64(seen[k])
	}
	index := map[facts.PlaceKey]int{}
	var out []besidePlace
	for _, ch := range facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		return !l.Taken(k) && computes(c, a)
	}) {
		depth, key, ok := outermost(c, &ch, beside, loss)
		if !ok {
			continue
		}
		i, known := index[key]
		if !known {
			i = len(out)
			index[key] = i
			out = append(out, besidePlace{key: key, depth: depth, traced: seen[key]})
		}
		if out[i].depth == depth {
			out[i].chains = append(out[i].chains, ch)
		}
	}
	return joinNear(out)
}

// outermost is the first place on a chain, from outside, that is beside the training: a function, or a line of one that does
// other things too. Functions that drive the loop are never the place, and of a line that only calls another function of the
// user's, that function is.
func outermost(c *facts.Facts, ch *facts.Chain, beside func(facts.PlaceKey) bool, loss *lossParts) (depth int,
	key facts.PlaceKey, ok bool) {
	for i := range ch.Frames {
		f := facts.KeyOf(&ch.Frames[i])
		if k := (facts.PlaceKey{F: f}); !c.Drivers[f] && beside(k) && !loss.holds(ch.Frames, i, true) {
			return i, k, true
		}
		if k := (facts.PlaceKey{F: f, Line: ch.Frames[i].Line}); i+1 == len(ch.Frames) && beside(k) && !loss.holds(ch.Frames, i, false) {
			return i, k, true
		}
	}
	return 0, facts.PlaceKey{}, false
}

// joinNear joins neighbouring lines of one function, and orders places by time.
func joinNear(all []besidePlace) []besidePlace {
	byTime := func(a, b besidePlace) int {
		switch x, y := facts.Sum(a.chains), facts.Sum(b.chains); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return int(a.key.Line - b.key.Line)
	}
	slices.SortStableFunc(all, byTime)
	var out []besidePlace
	for _, p := range all {
		i := slices.IndexFunc(out, func(q besidePlace) bool {
			d := p.key.Line - q.key.Line
			return p.key.Line > 0 && q.key.Line > 0 && p.key.F == q.key.F && p.depth == q.depth && d >= -facts.BesideLines &&
				d <= facts.BesideLines
		})
		if i < 0 {
			out = append(out, p)
			continue
		}
		out[i].chains = append(out[i].chains, p.chains...)
		out[i].traced += p.traced
	}
	slices.SortStableFunc(out, byTime)
	return out
}

// computes chooses samples in operators or in the interpreter that are neither in a backward pass nor in an optimizer.
func computes(c *facts.Facts, a *account.Attributed) bool {
	return (a.Part == account.PartOps || a.Part == account.PartPython || a.Part == account.PartSync) &&
		c.C.Info(c.P.Samples.Stack[a.Index]).Acts&(code.ActBackward|code.ActOptimizer|code.ActLoader) == 0
}

// operates says that a place's time goes into calling operators as well: Python alone is another finding.
func operates(c *facts.Facts, p *besidePlace) bool {
	t := 0.0
	for _, ch := range p.chains {
		if c.B.Samples[ch.Index].Part != account.PartPython {
			t += ch.Weight
		}
	}
	return t >= price.BesideOps*facts.Sum(p.chains)
}

// infers says that a place runs a network: what that predicts steers what comes next (the actions of an environment, the words of
// a decoder, a teacher's answers), so that leaving it out would change the program.
func infers(c *facts.Facts, p *besidePlace) bool {
	t := 0.0
	for _, ch := range p.chains {
		c.C.Walk(c.P.Samples.Stack[c.B.Samples[ch.Index].Index], func(fr model.FrameID) bool {
			frame := &c.C.Stacks.Frames[fr]
			called := strings.HasSuffix(c.Text(frame.File), model.ModuleFile)
			if called {
				t += ch.Weight
			}
			return !called && facts.KeyOf(frame) != p.key.F // what calls the place does not matter
		})
	}
	return t >= price.BesideNetwork*facts.Sum(p.chains)
}

// validates says that a place that runs a network computes a loss of what that answers, which no gradient flows through: it tries the
// model. An answer that steers what comes next is not judged where it is made.
func validates(c *facts.Facts, p *besidePlace, u *account.Untracked) bool {
	all, judged := 0, 0
	c.TracedChains(u.Steps, func(ch facts.Chain, at model.Time) {
		here := slices.ContainsFunc(ch.Frames, func(f model.Frame) bool {
			return facts.KeyOf(&f) == p.key.F && (p.key.Line == 0 || p.key.Line == f.Line)
		})
		if here {
			all++
			judged += finding.Btoi(facts.Inside(u.Judged, at))
		}
	})
	return 2*judged > all
}

// readsBack says that the source of a place, or of what it calls, turns tensors into Python's values.
func readsBack(c *facts.Facts, p *besidePlace) bool {
	type stretch struct{ from, to int32 }
	lines := map[facts.FuncKey]*stretch{}
	for _, ch := range p.chains {
		for i := p.depth; i < len(ch.Frames); i++ {
			fr := &ch.Frames[i]
			key := facts.KeyOf(fr)
			s := lines[key]
			if s == nil {
				s = &stretch{fr.Line, fr.Line}
				if i > p.depth || p.key.Line == 0 {
					s.from = max(key.First, 1)
				}
				lines[key] = s
			}
			s.from, s.to = min(s.from, fr.Line), max(s.to, fr.Line)
		}
	}
	for key, s := range lines {
		open := 0 // brackets that lines from the last seen one on leave open: the statement goes on after it
		for line := s.from; (line <= s.to || line <= s.to+2 && open > 0) && line-s.from < 200; line++ {
			text := c.Source(c.Text(key.File), int(line))
			if pysource.ReadsBack(text) {
				return true
			}
			if line >= s.to {
				open += strings.Count(text, "(") + strings.Count(text, "[") - strings.Count(text, ")") - strings.Count(text, "]")
			}
		}
	}
	return false
}

func besideFinding(c *facts.Facts, p *besidePlace, validation bool) finding.Draft {
	sp := facts.SpotOf(p.chains, p.depth, facts.Sum(p.chains))
	f := finding.NewDraft(finding.Finding{Cause: finding.Python, Where: c.Where(sp), Share: c.Share(sp.Unit),
		Confidence: c.Basis(sp.Samples)}, finding.Parts{})
	f.Claim.Samples = sp.Members
	for _, ch := range p.chains {
		f.Claim.Parts[c.B.Samples[ch.Index].Part] += ch.Weight
	}
	t := c.PerStep(sp.Unit)
	f.Step = f.By(price.Beside).Sampled(sp.Samples).Scale(t)
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("python.title-beside", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{
		wording.Say("python.beside", wording.Time("time", t), c.Said()),
		wording.Say("python.beside-traced", wording.Count("samples", p.traced)),
	}
	f.Fix.Advice = []wording.Text{wording.Say("python.fix-beside")}
	f.Caveat = []wording.Text{wording.Say("python.caveat-beside")}
	if validation {
		f.Title = wording.Say("python.title-validation", wording.With("share", c.ShareOf(f.Share, sp.Members)))
		f.Evidence = append(f.Evidence, wording.Say("python.validation"))
		f.Fix.Advice = []wording.Text{wording.Say("python.fix-validation")}
		f.Caveat = []wording.Text{wording.Say("python.caveat-validation")}
		if n := c.Every(sp.Members); n > 1 {
			f.Fix.Advice = []wording.Text{wording.Say("python.fix-validation-rarer", wording.Nth("nth", n))}
			f.Step = f.By(price.BesideRarely).Times(t)
			f.Run = c.OverRun(f.Step)
		}
	}
	c.Grows(&f.Finding, sp.Members)
	return f
}
