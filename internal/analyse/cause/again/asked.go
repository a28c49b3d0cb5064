package again

import (
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// askedLine is a line that calls models, as far as its calls were looked at.
type askedLine struct {
	file   model.Str
	line   int32
	calls  int              // that were looked at
	known  int              // of them, those whose answer was known: given once before with the same weights, or once at all
	always int              // those whose answer was given twice before, with the same weights
	moved  int              // of the known, those whose weights have changed
	random int              // of the known, those in which a dropout draws numbers, now or then
	graph  int              // of the known, those that make a graph for a backward pass
	moves  bool             // its weights were not the same in all of the line's calls
	fixed  int              // those that were given the same as the line's first one, and make a graph
	fresh  int              // those that were given what no model was given before
	before *askedLine       // where the last known answer was given
	spans  []times.Interval // of the known, as far as their ends are known
	took   model.Dur        // of these
	all    model.Dur        // of all its calls
}

// question is what a model is asked, in which mode and with which weights.
type question struct {
	module  int64
	inputs  model.Str
	trains  bool
	weights int64 // anyWeights: whatever they are
}

const anyWeights = -1

// FindAsked names calls of models for what they have answered already: the same tensors, into which nothing was written since; and what a
// model computes anew of inputs that stay the same.
func FindAsked(c *facts.Facts, l finding.Ledger) []finding.Draft {
	u := account.UntrackedWork(c.S, c.B)
	if u == nil {
		return nil // no training: a benchmark asks the same on purpose
	}
	var out []finding.Draft
	var same []facts.Chain // of all lines: they are cured together
	kept, looks := 0, 0
	gone := map[*askedLine]bool{} // lines whose calls a finding ends
	for _, q := range askedLines(c.P.Asked, drops(c), writesOf(c, u)) {
		var f *finding.Draft
		switch {
		case q.calls < price.AskedLooks:
		case q.part(q.always) >= price.AskedAgain && !q.moves && q.random == 0 && 2*q.graph > q.known && !unused(c, u, q):
			// Gradients go on to weights that want them: that they stay is not to be believed.
		case q.part(q.always) >= price.AskedAgain && !q.moves && q.random == 0:
			same, kept, looks = append(same, callersOf(c, callsAt(c, l, q))...), kept+q.known, looks+q.calls
		case q.part(q.always) >= price.AskedAgain && !q.moves: // a dropout draws other numbers each time
		case q.part(q.known) >= price.AskedAgain && (q.moved+q.random == 0 || unused(c, u, q)):
			f = secondAnswer(c, l, u, q, gone)
		case q.fixed == q.calls:
			f = fromInputs(c, l, u, q)
		}
		out = addAsked(out, f, q.calls)
	}
	return addAsked(out, askedFinding(c, "same", same, float64(kept)/float64(max(looks, 1)), price.AskedOnce), looks)
}

// addAsked adds a finding, if there is one, about lines of which so many calls were looked at.
func addAsked(out []finding.Draft, f *finding.Draft, looks int) []finding.Draft {
	if f == nil {
		return out
	}
	f.Evidence = append(f.Evidence, wording.Say("again.asked", wording.Count("calls", float64(looks))))
	return append(out, *f)
}

// writes is what traced steps may write unseen: into tensors of which no bytes were compared, and into integers and other numbers whose
// tensors have no versions.
type writes struct{ unread, ints, floats bool }

// hides says that something may have been written into what a call was given, as far as anybody knows.
func (w writes) hides(r *model.Asked) bool { return r.LooseInts && w.ints || r.LooseFloats && w.floats }

// writesOf finds what they may write. What has no version stays the same only where an inference's traced steps recorded what operators are
// given, and none writes in place into numbers of its kind.
func writesOf(c *facts.Facts, u *account.Untracked) writes {
	w := writes{unread: u != nil && writesUnseen(c, u) || u == nil && slices.ContainsFunc(c.S.Traces, func(t *model.Trace) bool {
		return replaysGraphs(c, t)
	})}
	told := false
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		name, text := c.Text(ev.Name[id]), ev.OpArgsOf(ev.Detail[id]).Types
		w.unread = w.unread || u == nil && receives(name)
		told = told || text != 0
		if !outer || text == 0 || !strings.HasSuffix(strings.SplitN(name, ".", 2)[0], "_") {
			return
		}
		if types := arguments.Texts(c.Text(text)); len(types) > 0 {
			w.floats = w.floats || !whole[types[0]]
			w.ints = w.ints || whole[types[0]]
		}
	})
	if !told || u != nil || w.unread {
		w.ints, w.floats = true, true
	}
	return w
}

// whole are the types of integers, as traces name them.
var whole = map[string]bool{"long": true, "long int": true, "int": true, "short": true, "short int": true, "signed char": true,
	"unsigned char": true, "bool": true}

// writesUnseen says that tensors were told by their versions alone, and that traced steps may write into some without changing these: by
// graphs of a device, whose replay is no operator; by what is received from other ranks; by operators in place where no gradient is
// recorded, which may go by way of .data.
func writesUnseen(c *facts.Facts, u *account.Untracked) (found bool) {
	if !slices.ContainsFunc(c.P.Asked, func(r model.Asked) bool { return r.Unread }) {
		return false
	}
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		name := c.Text(ev.Name[id])
		found = found || outer && name == "aten::copy_" && facts.Inside(u.Runs, ev.Start[id]) || receives(name)
	})
	return found || answersChange(c, u) || slices.ContainsFunc(c.S.Traces, func(t *model.Trace) bool { return replaysGraphs(c, t) })
}

// receives says that an operator writes what another rank sends. Gradients are summed in place as well, but they are nobody's input.
func receives(name string) bool {
	return strings.HasPrefix(name, "c10d::recv") || strings.HasPrefix(name, "c10d::broadcast") || strings.HasPrefix(name, "c10d::scatter") ||
		strings.HasPrefix(name, "c10d::allgather") || strings.HasPrefix(name, "c10d::alltoall")
}

// replaysGraphs says that a trace of the accounted process launches graphs of a device.
func replaysGraphs(c *facts.Facts, t *model.Trace) bool {
	if t.Process < 0 || t.Process >= len(c.S.Processes) || c.S.Processes[t.Process] != c.P {
		return false
	}
	for id := range t.Events.Len() {
		if t.Events.Kind[id] == model.KindRuntime && strings.Contains(c.Text(t.Events.Name[id]), "GraphLaunch") {
			return true
		}
	}
	return false
}

// part is a number of the line's calls as a part of all.
func (q *askedLine) part(n int) float64 { return float64(n) / float64(q.calls) }

// is says that a place is the line.
func (q *askedLine) is(at facts.PlaceKey) bool { return at.F.File == q.file && at.Line == q.line }

// callsFrom is the index of the line that makes a call; -1 where it is none of them.
func callsFrom(lines []*askedLine, r *model.Asked) int {
	return slices.IndexFunc(lines, func(q *askedLine) bool { return q.file == r.File && q.line == r.Line })
}

// drops says that traced steps call a dropout, which a model may do without a module of its own.
func drops(c *facts.Facts) (found bool) {
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, _ bool) {
		name := c.Text(ev.Name[id])
		found = found || strings.HasSuffix(name, "dropout") || strings.HasPrefix(name, "aten::bernoulli")
	})
	return found
}

// askedLines are the lines that call models, in the order of their first calls. With dropout, calls in training mode draw numbers. Where
// versions do not tell all that is written, a tensor of which nothing was read may be another one after a while: it counts as the same for
// one more call, as a batch that is asked for twice.
func askedLines(rows []model.Asked, dropout bool, w writes) []*askedLine {
	type answer struct {
		times  int
		at     *askedLine
		random bool
	}
	var out []*askedLine
	answers, firsts, weights := map[question]answer{}, map[*askedLine]question{}, map[*askedLine]int64{}
	for i := range rows {
		r := &rows[i]
		random := r.Random || r.Training && dropout
		exact, near := question{r.Module, r.Inputs, r.Training, r.Weights}, question{r.Module, r.Inputs, r.Training, anyWeights}
		n := callsFrom(out, r)
		if n < 0 {
			n, out = len(out), append(out, &askedLine{file: r.File, line: r.Line})
			firsts[out[n]], weights[out[n]] = near, r.Weights
		}
		q := out[n]
		q.calls++
		q.all += max(model.Dur(r.End-r.Time), 0)
		q.moves = q.moves || r.Module == firsts[q].module && r.Weights != weights[q]
		if r.Inputs == 0 {
			continue
		}
		q.fresh += finding.Btoi(answers[near].times == 0)
		if w.hides(r) {
			answers[near] = answer{answers[near].times + 1, q, random}
			continue
		}
		lasts := !r.Unread || !w.unread
		q.fixed += finding.Btoi(firsts[q] == near && r.Gradients && r.Trained && lasts)
		same, any := answers[exact], answers[near]
		if same.times > 0 && lasts || any.times == 1 {
			q.known++
			q.before = any.at
			q.always += finding.Btoi(same.times > 1)
			q.moved += finding.Btoi(same.times == 0)
			q.random += finding.Btoi(random || any.random)
			q.graph += finding.Btoi(r.Gradients && r.Trained)
			if r.End > r.Time {
				q.spans, q.took = append(q.spans, times.Interval{Start: r.Time, End: r.End}), q.took+model.Dur(r.End-r.Time)
			}
		}
		answers[exact] = answer{same.times + 1, q, random}
		answers[near] = answer{any.times + 1, q, random}
	}
	return out
}

// unused says that no backward pass uses most of what a line's calls compute, as that of an accuracy.
func unused(c *facts.Facts, u *account.Untracked, q *askedLine) bool {
	all, apart := 0, 0
	c.TracedChains(u.Steps, func(ch facts.Chain, when model.Time) {
		if q.is(callerOf(c, ch)) {
			all++
			apart += finding.Btoi(facts.Inside(u.Runs, when))
		}
	})
	return apart >= facts.BesideTraced && float64(apart) >= price.FrozenPart*float64(all)
}

// callerOf is the place that calls the outermost module of a chain whose index is that of a sample; none where no module is called.
func callerOf(c *facts.Facts, ch facts.Chain) facts.PlaceKey {
	outside, called := c.OutsideModules(ch.Index)
	if !called {
		return facts.PlaceKey{}
	}
	ch.Frames = ch.Frames[:min(outside, len(ch.Frames))]
	return lastOf(&ch)
}

// callsAt are the samples of the accounted steps in the models that a line calls.
func callsAt(c *facts.Facts, l finding.Ledger, q *askedLine) []facts.Chain {
	return slices.DeleteFunc(c.Working(l), func(ch facts.Chain) bool {
		ch.Index = c.B.Samples[ch.Index].Index
		return !q.is(callerOf(c, ch))
	})
}

// secondAnswer is the finding where a model is asked twice for one batch: one of the two answers serves both. The second call goes, unless
// the first one alone is for nothing that is learnt from.
func secondAnswer(c *facts.Facts, l finding.Ledger, u *account.Untracked, q *askedLine, gone map[*askedLine]bool) *finding.Draft {
	at := q
	if q.moved == 0 && !unused(c, u, q) && unused(c, u, q.before) {
		at = q.before
	}
	if gone[at] {
		return nil
	}
	gone[at] = true
	chains := callersOf(c, callsAt(c, l, at))
	row := price.AskedOnce
	if 2*q.graph > q.known {
		row = price.AskedGraph
	}
	f := askedFinding(c, "twice", chains, q.part(q.known), row)
	if f != nil && 2*q.moved > q.known {
		f.Caveat = append(f.Caveat, wording.Say("again.caveat-updated"))
	}
	if f != nil && 2*q.random > q.known {
		f.Caveat = append(f.Caveat, wording.Say("again.caveat-dropout"))
	}
	return f
}

// fromInputs is the finding where a model that learns is given the same all along and computes something without weights from it, at one of
// its lines: nothing there has a gradient or draws random numbers.
func fromInputs(c *facts.Facts, l finding.Ledger, u *account.Untracked, q *askedLine) *finding.Draft {
	draws := runsWith(c, u, func(name string) bool { return naming.OpKindOf(name) == naming.OpRandom })
	all, apart, learns := map[facts.PlaceKey]int{}, map[facts.PlaceKey]int{}, false
	c.TracedChains(u.Steps, func(ch facts.Chain, when model.Time) {
		if q.is(callerOf(c, ch)) {
			at := lastOf(&ch)
			all[at]++
			learns = learns || !facts.Inside(u.Runs, when)
			apart[at] += finding.Btoi(facts.Inside(u.Runs, when) && !facts.Inside(draws, when))
		}
	})
	if !learns {
		return nil // nothing of the call is learnt from: its weights make the answer another one
	}
	chains := slices.DeleteFunc(callsAt(c, l, q), func(ch facts.Chain) bool {
		at := lastOf(&ch)
		return apart[at] < facts.BesideTraced || float64(apart[at]) < price.AskedLine*float64(all[at])
	})
	return askedFinding(c, "inputs", chains, 1, price.AskedInputs)
}

// askedTexts are the ids of the texts about what is asked again, by the finding's sub.
var askedTexts = map[string]struct{ title, time, fix string }{
	"twice":  {"again.title-twice", "again.asked-twice", "again.fix-twice"},
	"same":   {"again.title-same", "again.asked-same", "again.fix-same"},
	"inputs": {"again.title-inputs", "again.asked-inputs", "again.fix-inputs"},

	"unchanging": {"again.title-inputs", "again.asked-unchanging", "again.fix-unchanging"},
}

// askedFinding is a finding about calls of which a part is for what was answered before; nil where they take too little.
func askedFinding(c *facts.Facts, sub string, chains []facts.Chain, part float64, row price.Row) *finding.Draft {
	t := part * facts.Sum(chains)
	if len(chains) < facts.MinSamples || c.Share(t) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Again, Sub: sub, Where: finding.Nowhere(), Share: c.Share(t),
		Confidence: c.Basis(len(chains))}, finding.Parts{})
	if sp, ok := facts.Hottest(chains, c.Drivers); ok {
		f.Where = c.Where(sp)
	}
	c.ClaimAll(&f, chains, part)
	f.Step = f.By(row).Times(c.PerStep(t)).AtMost(c.B.Mean())
	f.Run = c.OverRun(f.Step)
	sayAsked(c, &f, sub, c.PerStep(t))
	return &f
}

// sayAsked gives a finding about what is asked again its words; t: the time of the calls, ns per step.
func sayAsked(c *facts.Facts, f *finding.Draft, sub string, t float64) {
	texts := askedTexts[sub]
	f.Title = wording.Say(texts.title, wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say(texts.time, wording.Time("time", t), c.Said())}
	f.Fix.Advice = []wording.Text{wording.Say(texts.fix)}
}
