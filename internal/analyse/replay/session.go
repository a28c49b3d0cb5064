package replay

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
)

// Session answers questions about one session: by its unprofiled steps where it has an account of them, else by its traces.
// It answers one at a time.
type Session struct {
	s     *model.Session
	b     *account.Breakdown // nil: by the traces
	graph *Graph
	steps []Step  // unmodified
	cores float64 // that the program may use; 0 unknown
	cpu   float64 // share of a fetch that is spent on a CPU
	only  *int64  // the one step that answers are about; nil: all
	// By node, whether it lies in the steps that answers are about; see within.
	inside []bool
	// The unmodified replay, made when parts of steps are first asked for, and room for replays of which only the steps' length is.
	times *Times
	ends  []int64
	// The ranks of a live session, once they are asked for.
	ranks     []liveRank
	rankedYet bool
}

// Answer is the reply to one question: steps of the main kind before and after, ns, as means over the steps, and what they
// consist of (summed over Steps steps). Where no steps were recorded, the run counts as one.
type Answer struct {
	Steps       int
	Before      float64
	After       float64
	PartsBefore []Part
	PartsAfter  []Part
	Rank        int // whose steps they are; model.NoRank
	Ranks       int // that were replayed together
	// Coverage is the share of the run that such steps last, of traced steps that of the trace that they last; 0 unknown.
	Coverage float64
	// Named is the time of a mean step in all that the change scales, ns, whether or not a step waits for it.
	Named float64
	// Longest is the longest step under the change of all ranks that were replayed, and LongestRank whose it is.
	Longest     float64
	LongestRank int
}

// MaxTraces bounds how many ranks' traces are replayed together.
const MaxTraces = 16

// NewSession prepares a session for questions. b is the account of its steps, nil without one. nil where there is nothing to
// replay: no steps, no usable trace; traces of a synchronous session are none.
func NewSession(s *model.Session, b *account.Breakdown) *Session { return newSession(s, b, 0, false) }

// ForQuestions is NewSession that answers for the whole run where the program has no steps.
func ForQuestions(s *model.Session, b *account.Breakdown) *Session { return newSession(s, b, 0, true) }

// reportSteps is how many steps of a trace a report's prices rest on.
const reportSteps = 6

// ForReport is NewSession for a report: of a trace it replays the last steps only.
func ForReport(s *model.Session, b *account.Breakdown) *Session {
	return newSession(s, b, reportSteps, false)
}

func newSession(s *model.Session, b *account.Breakdown, last int, run bool) *Session {
	r := &Session{s: s}
	if b != nil && (b.PerStep || run && len(b.Samples) > 0) {
		if g := FromSteps(s, b, 0); g != nil {
			r.b, r.graph = b, g
			r.cores, r.cpu = coresOf(s, b.Process), fetchCPU(s, b)
		}
	}
	if r.graph == nil && !Synchronous(s) { // else each call in a trace would have to end with its kernel's end
		r.graph = fromTraces(usable(s.Traces), s.Strings, last)
	}
	if r.graph == nil || len(r.graph.windows) == 0 || r.graph.Incomplete() {
		return nil
	}
	if r.b != nil {
		r.steps = r.graph.Steps(r.unmodified())
	} else {
		r.steps, _ = r.stepsUnder(Change{}) // no names, so that none can be unknown
	}
	return r
}

// stepsUnder are the steps under a change.
func (r *Session) stepsUnder(c Change) ([]Step, error) {
	if r.b != nil {
		g, t, err := r.replay(c)
		if err != nil {
			return nil, err
		}
		return g.Steps(t), nil
	}
	of, ok := r.graph.factorsOf(c.Scale)
	if !ok {
		t, err := r.graph.Replay(c)
		if err != nil {
			return nil, err
		}
		return r.graph.Steps(t), nil
	}
	if r.ends == nil {
		r.ends = make([]int64, len(r.graph.nodes))
	}
	r.graph.ends(r.ends, c, of)
	return r.graph.stepsOf(r.ends), nil
}

// unmodified is the replay without a change.
func (r *Session) unmodified() *Times {
	if r.times == nil {
		r.times = r.graph.run(r.graph.recorded(), Change{})
	}
	return r.times
}

// maxLanes is the number of threads and streams beyond which a trace is not replayed: who gave whom work is looked for among
// all of them, and no real program has so many.
const maxLanes = 4000

// usable are traces with events; of those of several ranks one each.
func usable(traces []*model.Trace) []*model.Trace {
	var out []*model.Trace
	seen := map[int]bool{}
	for _, t := range traces {
		if t.Events.Len() == 0 || len(t.Lanes) > maxLanes || seen[t.Rank] || len(out) == MaxTraces {
			continue
		}
		seen[t.Rank] = true
		out = append(out, t)
	}
	return out
}

// Unprofiled says whether answers are about steps without the profiler, else about traced ones.
func (r *Session) Unprofiled() bool { return r.b != nil }

// Meets says whether the session's ranks are known to wait for one another.
func (r *Session) Meets() bool {
	if r.Unprofiled() {
		return r.meetLive()
	}
	return slices.ContainsFunc(r.graph.nodes, func(n node) bool { return n.kind == Meet })
}

// Error is how far the unmodified replay is from what was recorded, as a share of the steps; negative where it is shorter.
func (r *Session) Error() float64 {
	recorded, replayed := model.Dur(0), model.Dur(0)
	for _, st := range r.steps {
		recorded += st.Recorded
		replayed += st.Replayed
	}
	return float64(replayed-recorded) / float64(max(recorded, 1))
}

// Slack is the share of the recorded steps that nothing explains.
func (r *Session) Slack() float64 {
	steps := slices.Clone(r.steps)
	r.graph.Explain(steps)
	recorded, slack := model.Dur(0), model.Dur(0)
	for _, st := range steps {
		recorded += st.Recorded
		slack += st.Slack
	}
	return float64(slack) / float64(max(recorded, 1))
}

// Only limits answers to the step of one number; false where there is none.
func (r *Session) Only(number int64) bool {
	if !r.PerStep() {
		return false
	}
	for i := range r.graph.windows {
		if w := &r.graph.windows[i]; !w.lead && w.number == number {
			r.only, r.inside = &number, nil
			return true
		}
	}
	return false
}

// limit is Only where a number is given, else answers are about all steps.
func (r *Session) limit(only *int64) bool {
	if only == nil {
		r.only, r.inside = nil, nil
		return true
	}
	return r.Only(*only)
}

// StepNumbers are the numbers of the steps, in order, each once.
func (r *Session) StepNumbers() []int64 {
	var out []int64
	for i := range r.graph.windows {
		if w := &r.graph.windows[i]; !w.lead {
			out = append(out, w.number)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// Price is Ask without the steps' parts, which cost as much again: the mean step before and after a change, ns. Of ranks with
// unprofiled steps it joins the others only where ranks are to be equal: else the price is that of this rank's own account.
func (r *Session) Price(c Change) (before, after float64, err error) {
	if c.RanksEqual && r.Unprofiled() {
		of, with, _, err := r.joined(c)
		if err != nil {
			return 0, 0, err
		}
		return of.price(with)
	}
	return r.price(c)
}

// price is Price of this session's graph alone.
func (r *Session) price(c Change) (before, after float64, err error) {
	steps, err := r.stepsUnder(c)
	if err != nil {
		return 0, 0, err
	}
	trace := r.asked(c)
	return mean(r.steps, trace, r.only), mean(steps, trace, r.only), nil
}

// asked is the trace that the answer to a question is about: of the rank whose steps are longest, as the others wait for it, and where
// ranks are to be equal of the one in the middle.
func (r *Session) asked(c Change) int {
	traces := r.askedTraces()
	slices.SortStableFunc(traces, func(x, y int) int { return cmp.Compare(mean(r.steps, x, r.only), mean(r.steps, y, r.only)) })
	if c.RanksEqual {
		return traces[(len(traces)-1)/2]
	}
	return traces[len(traces)-1]
}

// askedTraces are the traces that hold steps that answers are about.
func (r *Session) askedTraces() []int {
	var out []int
	for i := range r.graph.windows {
		if w := &r.graph.windows[i]; w.asked(r.only) && !slices.Contains(out, w.trace) {
			out = append(out, w.trace)
		}
	}
	return out
}

// Ask replays a change. It fails with *UnknownName where the steps spend no time under a name.
func (r *Session) Ask(c Change) (*Answer, error) {
	if !r.Unprofiled() || !r.b.PerStep {
		return r.ask(c)
	}
	of, with, ranks, err := r.joined(c)
	if err != nil {
		return nil, err
	}
	a, err := of.ask(with)
	if err != nil {
		return nil, err
	}
	a.Ranks, a.Named = max(a.Ranks, ranks), of.timeNamed(c, anyTrace)/float64(max(a.Steps, 1))
	return a, nil
}

// ask is Ask of this session's graph alone.
func (r *Session) ask(c Change) (*Answer, error) {
	if name, ok := r.touchesNothing(c); ok {
		return nil, &UnknownName{name}
	}
	g, times, err := r.replay(c)
	if err != nil {
		return nil, err
	}
	trace, after := r.asked(c), g.Steps(times)
	a := &Answer{Before: mean(r.steps, trace, r.only), After: mean(after, trace, r.only), Rank: r.rankOf(trace), Ranks: 1}
	a.Longest, a.LongestRank = a.After, a.Rank
	for i := range r.graph.windows {
		if w := &r.graph.windows[i]; w.trace == trace && w.asked(r.only) {
			a.Steps++
		}
	}
	if !r.Unprofiled() {
		traces := r.askedTraces()
		a.Ranks = len(traces)
		for _, t := range traces {
			if d := mean(after, t, r.only); d > a.Longest {
				a.Longest, a.LongestRank = d, r.rankOf(t)
			}
		}
	}
	a.Named = r.timeNamed(c, trace) / float64(max(a.Steps, 1))
	a.Coverage = r.coverage(trace)
	a.PartsBefore, a.PartsAfter = r.graph.parts(r.unmodified(), trace, r.only), g.parts(times, trace, r.only)
	return a, nil
}

// asked says whether a window is the one step that is asked for; nil asks for all.
func (w *window) asked(only *int64) bool { return !w.lead && (only == nil || w.number == *only) }

// mean is the mean step of a trace, ns; only limits it to the steps of one number.
func mean(steps []Step, trace int, only *int64) float64 {
	sum, n := 0.0, 0.0
	for _, st := range steps {
		if st.Trace == trace && (only == nil || st.Number == *only) {
			sum += float64(st.Replayed)
			n++
		}
	}
	return sum / max(n, 1)
}

// parts is chainParts, or for unprofiled steps the driving thread's account.
func (g *Graph) parts(t *Times, trace int, only *int64) []Part {
	if !g.account {
		return g.chainParts(t, trace, only)
	}
	sums := newSums(g)
	for i := range g.windows {
		w := &g.windows[i]
		if !w.asked(only) {
			continue
		}
		end := w.fromAt
		if w.from >= 0 {
			end = t.End[w.from]
		}
		for n := w.from + 1; n <= w.to; n++ {
			nd := &g.nodes[n]
			if gap := t.Start[n] - end; gap > 0 {
				sums.of[Input][0] += gap
			}
			sums.of[nd.kind][nd.cat] += t.End[n] - t.Start[n]
			end = t.End[n]
		}
	}
	return g.partsOf(sums, func(kind Kind, category string) [2]string {
		switch kind {
		case Other:
			return [2]string{category, ""}
		case Fetch:
			kind = Input
		}
		return [2]string{kind.String(), category}
	})
}

func sortedParts(sums map[[2]string]int64) []Part {
	out := make([]Part, 0, len(sums))
	for key, v := range sums {
		if v > 0 {
			out = append(out, Part{Name: key[0], Of: key[1], Time: float64(v)})
		}
	}
	slices.SortFunc(out, func(x, y Part) int {
		return cmp.Or(cmp.Compare(y.Time, x.Time), cmp.Compare(x.Name, y.Name), cmp.Compare(x.Of, y.Of))
	})
	return out
}
