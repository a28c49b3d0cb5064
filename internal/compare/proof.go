package compare

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"fmt"
	"math"
)

// enoughPairs is how many pairs a proof makes at most to know a saving better, once it is known that there is one.
const enoughPairs = 8

// ProofDecided says whether a comparison in turns answers what a change saves: the sides are equal, or differ, and by how much is known to
// a half of it (or will not be known soon).
func ProofDecided(d *report.Diff) bool {
	switch d.Verdict {
	case report.Equal:
		return true
	case report.Slower, report.Faster:
		return d.InTurns.Pairs >= enoughPairs || (*d.Step.HighMs-*d.Step.LowMs)/2 <= math.Abs(d.Step.DifferenceMs)/4
	}
	return false
}

// saved is what a comparison of the original with the changed program says of the saving, in milliseconds; nil where too few runs say it.
func saved(d *report.Diff) *report.Range {
	if d == nil || d.Step.LowMs == nil || d.Step.HighMs == nil {
		return nil
	}
	return &report.Range{Low: -*d.Step.HighMs, Mid: -d.Step.DifferenceMs, High: -*d.Step.LowMs}
}

// FillProof completes a proof by the comparisons of the original with the changed program: per step (nil where a side has none) and per run
// (nil where runs are not whole).
func FillProof(p *report.Proof, step, run *report.Diff) {
	p.Proven.StepMs = saved(step)
	if r := saved(run); r != nil {
		p.Proven.RunS = &report.Range{Low: r.Low / 1e3, Mid: r.Mid / 1e3, High: r.High / 1e3}
	}
	d := step
	if d == nil {
		d = run
	}
	p.Original, p.Changed, p.Per = d.Before, d.After, d.Per
	switch d.Verdict {
	case report.Faster:
		p.Verdict = report.ProofSaves
	case report.Slower:
		p.Verdict = report.ProofCosts
	case report.Equal:
		p.Verdict = report.ProofNothing
	default:
		p.Verdict = report.ProofUndecided
	}
	p.Sentence = proofSentence(p, d)
}

// proofSentence is the answer of a proof.
func proofSentence(p *report.Proof, d *report.Diff) string {
	what := "the change"
	if p.Bound {
		what = "taking the cause away"
	}
	ms, share := math.Abs(d.Step.DifferenceMs), func(ms float64) string { return units.Percent(math.Abs(ms) / d.Step.BeforeMs) }
	between := ""
	if d.Step.LowMs != nil {
		low, high := math.Abs(*d.Step.LowMs), math.Abs(*d.Step.HighMs)
		between = fmt.Sprintf(" (%s – %s, %s)", units.Milliseconds(min(low, high)), units.Milliseconds(max(low, high)), share(ms))
	}
	text := ""
	switch p.Verdict {
	case report.ProofSaves:
		text = fmt.Sprintf("%s saves %s a %s%s", what, units.Milliseconds(ms), d.Per, between)
	case report.ProofCosts:
		return fmt.Sprintf("%s makes it slower, by %s a %s%s.", what, units.Milliseconds(ms), d.Per, between)
	case report.ProofNothing:
		return fmt.Sprintf("%s saves nothing: both sides are equal within %s.", what,
			share(max(math.Abs(*d.Step.LowMs), math.Abs(*d.Step.HighMs))))
	default:
		if d.SmallestMs == nil || !d.NoiseCovered {
			return fmt.Sprintf("cannot say: only %s could be run, and %d at least are needed; give it more time.",
				units.Counted(d.InTurns.Pairs, "pair"), FewestRuns)
		}
		return fmt.Sprintf("cannot say: these %d pairs could only show %s of a %s.", d.InTurns.Pairs, share(*d.SmallestMs), d.Per)
	}
	return text + promisedText(p, d.Per) + "."
}

// promisedText sets what was promised beside what is proven.
func promisedText(p *report.Proof, per string) string {
	promised, unit := p.Promised.StepMs, units.Milliseconds
	if per == perRun {
		promised, unit = p.Promised.RunS, units.Seconds
	}
	if promised == nil {
		return ""
	}
	return "; promised was " + units.Range(promised.Low, promised.High, unit)
}
