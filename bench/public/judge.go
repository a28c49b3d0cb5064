package main

import (
	"maps"
	"math"
	"slices"

	"bottleneck/bench/paired"
)

// Limits of the judgements, as shares of the plain run.
const (
	harm   = 0.03 // slower by more than this, its interval above zero, is harm
	larger = 0.05 // a saving of this size more than the first finding's is a larger one that was missed
)

// The judgements of a first finding.
const (
	isTrue      = "true"       // the change saves, at least as much as the promise's low end
	overstated  = "overstated" // it saves less than the promise's low end
	isFalse     = "false"      // nothing is seen to be saved
	harmful     = "HARMFUL"    // the program is slower by it
	undecided   = "undecided"  // the pairs are too few or too uneven to say
	unpatched   = "no change"  // no change is recorded for what was proposed
	healthy     = "healthy"    // nothing was proposed, and no candidate saves
	missed      = "missed"     // nothing was proposed, and a candidate saves
	untimed     = "untimed"    // only its report was made
	failedToRun = "FAILED"     // the program, a change or the tool ended badly
)

// judgement is what the bench says of one program.
type judgement struct {
	p          *program
	m          *measured
	spread     paired.Spread
	confidence float64 // of the intervals
	verdict    string
	change     string          // the change that was judged, "" for none
	saved      paired.Interval // seconds that it saves
	promised   *span           // medians of all reports that say the first cause
	larger     string          // a change that saves more than the first finding's, "" for none
	cost       paired.Interval // the run under the tool, as a ratio to plain
	noise      paired.Interval // the original again, as a ratio to plain; NaN without -again
	agree      [2]int          // reports whose first cause is the first report's, of all that follow it
	plain      float64         // seconds of the original beside the tool
}

// judge compares what the program gave with what was promised. The spread is that of all programs' rounds.
func judge(p *program, m *measured, spread paired.Spread) judgement {
	return judgeAt(0.95, p, m, spread)
}

// surely is the confidence at which a program's judgement must be certain for it to get no more rounds. It is asked anew after each round,
// so that 95 % would be too little.
const surely = 0.99

// settled says that further rounds would hardly change a program's judgement.
func settled(p *program, m *measured, spread paired.Spread) bool {
	j := judgeAt(surely, p, m, spread)
	switch j.verdict {
	case undecided:
		return false
	case isTrue: // and whether the promise holds it is known, too
		within := func(bound float64) bool { return j.saved.Low < bound && bound < j.saved.High }
		return j.promised == nil || !within(j.promised.Low) && !within(j.promised.High)
	case healthy:
		for _, ch := range m.changes(p) {
			if len(m.pairs(ch.Name)) > 0 && j.savedBy(ch.Name).High > larger*j.plain {
				return false
			}
		}
	}
	return true
}

// judgeAt judges by intervals of the given confidence.
func judgeAt(confidence float64, p *program, m *measured, spread paired.Spread) judgement {
	nan := paired.Interval{Low: math.NaN(), Mid: math.NaN(), High: math.NaN()}
	j := judgement{p: p, m: m, spread: spread, confidence: confidence, saved: nan, cost: nan, noise: nan, verdict: failedToRun}
	if m.Failed != "" || len(m.Said) == 0 {
		return j
	}
	if len(m.Tool) == 0 {
		j.verdict, j.promised, j.plain = untimed, m.Said[0].Promised, math.NaN()
		return j
	}
	plain, _ := times(m.Tool)
	j.plain = paired.Median(plain)
	j.cost = paired.Ratio(times(m.Tool))
	if len(m.Again) > 0 {
		j.noise = paired.Ratio(times(m.Again))
	}
	first := &m.Said[0]
	for i := range m.Said[1:] {
		j.agree[1]++
		if m.Said[i+1].Cause == first.Cause && m.Said[i+1].Sub == first.Sub {
			j.agree[0]++
		}
	}
	j.promised = promise(m.Said, false)
	best := j.best(nan, func(ch *change) bool { return m.proposes(ch, first) })
	most := paired.Interval{} // of what nothing was judged: a saving that is certain
	if best == "" {
		j.verdict = unpatched
		if first.Cause == "" {
			j.verdict = healthy
		}
	} else {
		j.change, j.saved = best, j.savedBy(best)
		if best == ofTool {
			j.promised = promise(m.Said, true)
		}
		j.verdict = j.verdictOf()
		most = j.saved
	}
	j.larger = j.best(most, func(ch *change) bool { return ch.Name != best })
	if j.verdict == healthy && j.larger != "" {
		j.verdict = missed
	}
	return j
}

// savedBy is what a change saves, in seconds of the rounds that the promise comes from: pairs may be of days on which the machine was
// faster or slower, so that they stand for shares.
func (j *judgement) savedBy(change string) paired.Interval {
	i := j.spread.MeanAt(j.confidence, shares(j.m.pairs(change)))
	return paired.Interval{Low: i.Low * j.plain, Mid: i.Mid * j.plain, High: i.High * j.plain}
}

// times are the original's and a side's seconds.
func times(pairs []pair) (plain, took []float64) {
	for _, t := range pairs {
		plain, took = append(plain, t.Plain), append(took, t.Took)
	}
	return plain, took
}

// shares are what a side saves in each round, as shares of the plain runs' mean seconds. Programs of different lengths have a like spread
// in them.
func shares(pairs []pair) (saved []float64) {
	plain := 0.0
	for _, t := range pairs {
		plain += t.Plain / float64(len(pairs))
	}
	for _, t := range pairs {
		saved = append(saved, (t.Plain-t.Took)/plain)
	}
	return saved
}

// spread is how far the rounds of all programs lie apart.
func (r *results) spread() paired.Spread {
	var groups [][]float64
	for _, m := range r.Programs {
		for _, pairs := range append(slices.Collect(maps.Values(m.changed)), m.Tool, m.Again) {
			if m.Failed == "" {
				groups = append(groups, shares(pairs))
			}
		}
	}
	return paired.SpreadOf(groups)
}

// best is the change that saves most of those that a filter lets through: with an earlier saving, only one whose whole interval is above
// it by a share of the run that counts.
func (j *judgement) best(than paired.Interval, of func(*change) bool) string {
	name, most := "", math.Inf(-1)
	for _, ch := range j.m.changes(j.p) {
		if len(j.m.pairs(ch.Name)) == 0 || !of(ch) {
			continue
		}
		saved := j.savedBy(ch.Name)
		if above := saved.Low - than.High; !math.IsNaN(than.Mid) && (math.IsNaN(above) || above <= larger*j.plain) {
			continue
		}
		if saved.Mid > most {
			name, most = ch.Name, saved.Mid
		}
	}
	return name
}

// promise is the median of what the reports promise that say the first report's cause: of their findings, or of the change that these make
// themselves.
func promise(all []said, ofChange bool) *span {
	var low, mid, high []float64
	for i := range all {
		p := all[i].Promised
		if ofChange && all[i].Alone != nil {
			p = all[i].Alone
		}
		if p != nil && all[i].Cause == all[0].Cause && all[i].Sub == all[0].Sub {
			low, mid, high = append(low, p.Low), append(mid, p.Mid), append(high, p.High)
		}
	}
	if len(mid) == 0 {
		return nil
	}
	return &span{paired.Median(low), paired.Median(mid), paired.Median(high)}
}

// verdictOf judges the saving of the proposed change beside its promise.
func (j *judgement) verdictOf() string {
	s := j.saved
	switch {
	case math.IsNaN(s.Low):
		return undecided
	case s.High < 0 && -s.Mid > harm*j.plain:
		return harmful
	case s.Low <= 0 && s.High > harm*j.plain:
		return undecided
	case s.Low <= 0:
		return isFalse
	case j.promised != nil && s.High < j.promised.Low:
		return overstated
	}
	return isTrue
}

// holds says that the measured saving is within the promised interval, and whether that can be asked.
func (j *judgement) holds() (held, known bool) {
	known = j.promised != nil && slices.Contains([]string{isTrue, overstated, isFalse, harmful}, j.verdict)
	return known && j.saved.Mid >= j.promised.Low && j.saved.Mid <= j.promised.High, known
}
