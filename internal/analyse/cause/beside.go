package cause

import (
	"slices"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// Limits of the rule on work beside the training.
const (
	besideTraced = 5 // samples of a place in traced steps that are enough to tell
	besideLines  = 4 // lines of one function that lie so close belong together
)

// placeKey is a function, or one line of it.
type placeKey struct {
	f    funcKey
	line int32 // 0: the whole function
}

// besidePlace is a place whose operators no gradient needs, with its samples in the accounted steps.
type besidePlace struct {
	key    placeKey
	chains []chain
	depth  int // of the place's frame in its chains
	traced int
}

// findBeside names what each training step computes beside the training: operators whose results no backward pass uses and from which
// the loss is not computed, called by neither the optimizer nor the loader, and read back to Python: statistics for logs, metrics. Doing
// it every n-th step is the cure.
func findBeside(c *Facts, l Ledger) []Draft {
	u := analyse.UntrackedWork(c.S, c.B)
	if u == nil {
		return nil
	}
	var out []Draft
	loss := c.lossParts()
	for _, p := range c.besidePlaces(l, u, loss) {
		t := sum(p.chains)
		members := membersOf(p.chains)
		if len(out) == maxPythonFindings || c.share(t) < price.BesideShare || p.traced < besideTraced || len(members) < minSamples ||
			!c.operates(&p) || !c.readsBack(&p) && !loss.readLater(&p) {
			continue
		}
		network := c.infers(&p)
		if network && !c.validates(&p, u) || c.every(members) > 1 && (!network || c.share(t) < price.BesideRare) {
			continue
		}
		out = append(out, c.besideFinding(&p, network))
	}
	return out
}

func membersOf(chains []chain) []int {
	out := make([]int, 0, len(chains))
	for _, ch := range chains {
		out = append(out, ch.index)
	}
	return out
}

// besidePlaces are the outermost functions and lines whose samples in traced steps lie in untracked work and on which the loss does not
// depend, most time first.
func (c *Facts) besidePlaces(l Ledger, u *analyse.Untracked, loss *lossParts) []besidePlace {
	seen, apart := map[placeKey]int{}, map[placeKey]int{}
	c.tracedChains(u, func(ch chain, at model.Time) {
		untracked := inside(u.Runs, at)
		done := map[placeKey]bool{}
		for i := range ch.frames {
			for _, k := range []placeKey{{f: keyOf(&ch.frames[i])}, {f: keyOf(&ch.frames[i]), line: ch.frames[i].Line}} {
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
	beside := func(k placeKey) bool {
		return seen[k] > 0 && float64(seen[k]-apart[k]) <= price.BesideTracked*float64(seen[k])
	}
	index := map[placeKey]int{}
	var out []besidePlace
	for _, ch := range chainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *analyse.Attributed) bool { return !l.Taken(k) && c.computes(a) }) {
		depth, key, ok := c.outermost(&ch, beside, loss)
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
func (c *Facts) outermost(ch *chain, beside func(placeKey) bool, loss *lossParts) (depth int, key placeKey, ok bool) {
	for i := range ch.frames {
		f := keyOf(&ch.frames[i])
		if k := (placeKey{f: f}); !c.drivers[f] && beside(k) && !loss.holds(ch.frames, i, true) {
			return i, k, true
		}
		if k := (placeKey{f: f, line: ch.frames[i].Line}); i+1 == len(ch.frames) && beside(k) && !loss.holds(ch.frames, i, false) {
			return i, k, true
		}
	}
	return 0, placeKey{}, false
}

// joinNear joins neighbouring lines of one function, and orders places by time.
func joinNear(all []besidePlace) []besidePlace {
	byTime := func(a, b besidePlace) int {
		switch x, y := sum(a.chains), sum(b.chains); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return int(a.key.line - b.key.line)
	}
	slices.SortStableFunc(all, byTime)
	var out []besidePlace
	for _, p := range all {
		i := slices.IndexFunc(out, func(q besidePlace) bool {
			d := p.key.line - q.key.line
			return p.key.line > 0 && q.key.line > 0 && p.key.f == q.key.f && p.depth == q.depth && d >= -besideLines && d <= besideLines
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
func (c *Facts) computes(a *analyse.Attributed) bool {
	return (a.Part == analyse.PartOps || a.Part == analyse.PartPython || a.Part == analyse.PartSync) &&
		c.C.Info(c.P.Samples.Stack[a.Index]).Acts&(analyse.ActBackward|analyse.ActOptimizer|analyse.ActLoader) == 0
}

// tracedChains hands out the driving thread's samples in traced steps, with their times.
func (c *Facts) tracedChains(u *analyse.Untracked, f func(ch chain, at model.Time)) {
	sm := &c.P.Samples
	var list []analyse.Attributed
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack)) {
		if int(sm.Thread[i]) == c.B.Thread && inside(u.Steps, sm.Time[i]) {
			list = append(list, analyse.Attributed{Index: i, Weight: 1})
		}
	}
	for _, ch := range chainsOf(c.C, sm, list, func(int, *analyse.Attributed) bool { return true }) {
		f(ch, sm.Time[list[ch.index].Index])
	}
}

// operates says that a place's time goes into calling operators as well: Python alone is another finding.
func (c *Facts) operates(p *besidePlace) bool {
	t := 0.0
	for _, ch := range p.chains {
		if c.B.Samples[ch.index].Part != analyse.PartPython {
			t += ch.weight
		}
	}
	return t >= price.BesideOps*sum(p.chains)
}

// infers says that a place runs a network: what that predicts steers what comes next (the actions of an environment, the words of
// a decoder, a teacher's answers), so that leaving it out would change the program.
func (c *Facts) infers(p *besidePlace) bool {
	t := 0.0
	for _, ch := range p.chains {
		c.C.Walk(c.P.Samples.Stack[c.B.Samples[ch.index].Index], func(fr model.FrameID) bool {
			frame := &c.C.Stacks.Frames[fr]
			called := strings.HasSuffix(c.text(frame.File), "/torch/nn/modules/module.py")
			if called {
				t += ch.weight
			}
			return !called && keyOf(frame) != p.key.f // what calls the place does not matter
		})
	}
	return t >= price.BesideNetwork*sum(p.chains)
}

// validates says that a place that runs a network computes a loss of what that answers, which no gradient flows through: it tries the
// model. An answer that steers what comes next is not judged where it is made.
func (c *Facts) validates(p *besidePlace, u *analyse.Untracked) bool {
	all, judged := 0, 0
	c.tracedChains(u, func(ch chain, at model.Time) {
		here := slices.ContainsFunc(ch.frames, func(f model.Frame) bool {
			return keyOf(&f) == p.key.f && (p.key.line == 0 || p.key.line == f.Line)
		})
		if here {
			all++
			judged += btoi(inside(u.Judged, at))
		}
	})
	return 2*judged > all
}

// readsBack says that the source of a place, or of what it calls, turns tensors into Python's values.
func (c *Facts) readsBack(p *besidePlace) bool {
	type stretch struct{ from, to int32 }
	lines := map[funcKey]*stretch{}
	for _, ch := range p.chains {
		for i := p.depth; i < len(ch.frames); i++ {
			fr := &ch.frames[i]
			key := keyOf(fr)
			s := lines[key]
			if s == nil {
				s = &stretch{fr.Line, fr.Line}
				if i > p.depth || p.key.line == 0 {
					s.from = max(key.first, 1)
				}
				lines[key] = s
			}
			s.from, s.to = min(s.from, fr.Line), max(s.to, fr.Line)
		}
	}
	for key, s := range lines {
		open := 0 // brackets that lines from the last seen one on leave open: the statement goes on after it
		for line := s.from; (line <= s.to || line <= s.to+2 && open > 0) && line-s.from < 200; line++ {
			text := c.source(c.text(key.file), int(line))
			if readsBack(text) {
				return true
			}
			if line >= s.to {
				open += strings.Count(text, "(") + strings.Count(text, "[") - strings.Count(text, ")") - strings.Count(text, "]")
			}
		}
	}
	return false
}

func (c *Facts) besideFinding(p *besidePlace, validation bool) Draft {
	sp := spotOf(p.chains, p.depth, sum(p.chains))
	f := draft(Finding{Cause: Python, Where: c.where(sp), Share: c.share(sp.unit), Confidence: c.basis(sp.samples)}, Parts{})
	f.Claim.Samples = sp.members
	for _, ch := range p.chains {
		f.Claim.Parts[c.B.Samples[ch.index].Part] += ch.weight
	}
	t := c.perStep(sp.unit)
	f.Step = f.by(price.Beside).Sampled(sp.samples).Scale(t)
	f.Run = c.overRun(f.Step)
	f.Title = wording.Say("python.title-beside", wording.Share("share", f.Share), c.unit())
	f.Evidence = []wording.Text{
		wording.Say("python.beside", wording.Time("time", t), c.unit()),
		wording.Say("python.beside-traced", wording.Count("samples", p.traced)),
	}
	f.Fix.Advice = []wording.Text{wording.Say("python.fix-beside")}
	f.Caveat = []wording.Text{wording.Say("python.caveat-beside")}
	if validation {
		f.Title = wording.Say("python.title-validation", wording.With("share", c.shareOf(f.Share, sp.members)))
		f.Evidence = append(f.Evidence, wording.Say("python.validation"))
		f.Fix.Advice = []wording.Text{wording.Say("python.fix-validation")}
		f.Caveat = []wording.Text{wording.Say("python.caveat-validation")}
		if n := c.every(sp.members); n > 1 {
			f.Fix.Advice = []wording.Text{wording.Say("python.fix-validation-rarer", wording.Nth("nth", n))}
			f.Step = f.by(price.BesideRarely).Times(t)
			f.Run = c.overRun(f.Step)
		}
	}
	c.grows(&f.Finding, sp.members)
	return f
}
