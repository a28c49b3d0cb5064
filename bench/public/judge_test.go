package main

import (
	"math"
	"slices"
	"testing"

	"bottleneck/bench/paired"
)

// sided makes what a program of plain runs around 10 s gave: the change saves what is told, with an unevenness.
func sided(saved, uneven float64, reports ...said) *measured {
	m := &measured{changed: map[string][]pair{}}
	for i := range 6 {
		shake := uneven * float64(i%3-1)
		plain := 10 + float64(i)/10
		m.Tool = append(m.Tool, pair{Plain: plain, Took: plain + 1})
		m.changed["fix"] = append(m.changed["fix"], pair{Plain: plain, Took: plain - saved + shake})
		m.Said = append(m.Said, reports[i%len(reports)])
	}
	return m
}

func promising(low, mid, high float64) said {
	return said{Cause: "input", Sub: "workers", Promised: &span{low, mid, high}}
}

func TestVerdicts(t *testing.T) {
	proposed := []change{{Name: "fix", For: []string{"input/workers"}}}
	candidate := []change{{Name: "fix", Candidate: true}}
	for _, test := range []struct {
		name    string
		changes []change
		m       *measured
		want    string
	}{
		{"saves what was promised", proposed, sided(2, 0.1, promising(1.5, 2, 2.5)), isTrue},
		{"saves more than promised", proposed, sided(4, 0.1, promising(1.5, 2, 2.5)), isTrue},
		{"saves less than promised", proposed, sided(1, 0.1, promising(1.5, 2, 2.5)), overstated},
		{"saves nothing", proposed, sided(0, 0.1, promising(1.5, 2, 2.5)), isFalse},
		{"is a little slower", proposed, sided(-0.2, 0.05, promising(1.5, 2, 2.5)), isFalse},
		{"is slower", proposed, sided(-1, 0.1, promising(1.5, 2, 2.5)), harmful},
		{"uneven", proposed, sided(0.3, 3, promising(1.5, 2, 2.5)), undecided},
		{"nothing recorded", nil, sided(2, 0.1, promising(1.5, 2, 2.5)), unpatched},
		{"recorded for another kind", []change{{Name: "fix", For: []string{"input/decode"}}},
			sided(0, 0.1, promising(1.5, 2, 2.5)), unpatched},
		{"recorded for all kinds", []change{{Name: "fix", For: []string{"input"}}}, sided(2, 0.1, promising(1.5, 2, 2.5)), isTrue},
		{"healthy, and a candidate saves", candidate, sided(2, 0.1, said{}), missed},
		{"healthy, and no candidate saves", candidate, sided(0.2, 0.1, said{}), healthy},
		{"healthy", nil, sided(0, 0.1, said{}), healthy},
	} {
		j := judge(&program{ID: "p", Changes: test.changes}, test.m, paired.Spread{})
		if j.verdict != test.want {
			t.Errorf("%s: %q, want %q (saved %v)", test.name, j.verdict, test.want, j.saved)
		}
	}
}

// TestSavingsAreOfTheReportsDay: pairs of a day on which the machine took twice as long stand for half of what they saved then.
func TestSavingsAreOfTheReportsDay(t *testing.T) {
	m := sided(2, 0, promising(0.8, 1, 1.2))
	for i := range m.Tool {
		m.Tool[i].Plain, m.Tool[i].Took = m.Tool[i].Plain/2, m.Tool[i].Took/2
	}
	j := judge(&program{ID: "p", Changes: []change{{Name: "fix", For: []string{"input/workers"}}}}, m, paired.Spread{})
	if held, _ := j.holds(); !held || math.Abs(j.saved.Mid-1) > 0.01 {
		t.Errorf("saved %v, want 1 s, as was promised", j.saved)
	}
}

// TestSettled: what more rounds could still turn gets them.
func TestSettled(t *testing.T) {
	proposed := []change{{Name: "fix", For: []string{"input/workers"}}}
	candidate := []change{{Name: "fix", Candidate: true}}
	for _, test := range []struct {
		name    string
		changes []change
		m       *measured
		want    bool
	}{
		{"true, and above the promise's low end", proposed, sided(2, 0.1, promising(1.5, 2, 2.5)), true},
		{"true, and the low end may lie above", proposed, sided(1.6, 0.2, promising(1.5, 2, 2.5)), false},
		{"true, and may be more than was promised", proposed, sided(2.4, 0.2, promising(1.5, 2, 2.5)), false},
		{"true, and more than was promised", proposed, sided(3, 0.1, promising(1.5, 2, 2.5)), true},
		{"overstated", proposed, sided(1, 0.1, promising(1.5, 2, 2.5)), true},
		{"harmful", proposed, sided(-1, 0.1, promising(1.5, 2, 2.5)), true},
		{"undecided", proposed, sided(0.3, 3, promising(1.5, 2, 2.5)), false},
		{"decided at 95 % and not at 99", proposed, sided(1.3, 1.3, promising(0.1, 1.3, 2.5)), false},
		{"nothing recorded", nil, sided(2, 0.1, promising(1.5, 2, 2.5)), true},
		{"healthy", candidate, sided(0.1, 0.1, said{}), true},
		{"healthy, and a candidate may save", candidate, sided(0.3, 0.6, said{}), false},
		{"missed", candidate, sided(2, 0.1, said{}), true},
	} {
		p := program{ID: "p", Changes: test.changes}
		if got := settled(&p, test.m, paired.Spread{}); got != test.want {
			j := judge(&p, test.m, paired.Spread{})
			t.Errorf("%s: settled %v, want %v (%s, %v)", test.name, got, test.want, j.verdict, j.saved)
		}
	}
}

// TestLargerSavingIsMissed: beside a true finding another change saves much more, and one that saves little more is not told.
func TestLargerSavingIsMissed(t *testing.T) {
	p := program{ID: "p", Changes: []change{{Name: "fix", For: []string{"input"}}, {Name: "other", Candidate: true}}}
	for saved, want := range map[float64]string{5: "other", 2.1: ""} {
		m := sided(2, 0.05, promising(1.5, 2, 2.5))
		for _, t := range m.Tool {
			m.changed["other"] = append(m.changed["other"], pair{Plain: t.Plain, Took: t.Plain - saved})
		}
		if j := judge(&p, m, paired.Spread{}); j.larger != want || j.verdict != isTrue || j.change != "fix" {
			t.Errorf("another saves %v: larger %q, %s by %s; want %q, true by fix", saved, j.larger, j.verdict, j.change, want)
		}
	}
}

// TestChangeHasItsOwnPromise: where the finding's fix saves more than the change that it makes itself, the change is judged by its own.
func TestChangeHasItsOwnPromise(t *testing.T) {
	said := promising(4, 5, 6)
	said.Alone = &span{0.5, 1, 2}
	m := sided(1, 0.1, said)
	m.Proposed = &change{Name: ofTool}
	m.changed[ofTool] = m.changed["fix"]
	if j := judge(&program{ID: "p"}, m, paired.Spread{}); j.verdict != isTrue || j.promised.Mid != 1 {
		t.Errorf("%s, promised %+v", j.verdict, j.promised)
	}
}

// TestUncertainSavingIsNotLarger: where no change is recorded for the finding, a candidate that may as well be slower is not told.
func TestUncertainSavingIsNotLarger(t *testing.T) {
	p := program{ID: "p", Changes: []change{{Name: "fix", Candidate: true}}}
	for saved, want := range map[float64]string{-8: "", 2: "fix"} {
		if j := judge(&p, sided(saved, 0.1, promising(1.5, 2, 2.5)), paired.Spread{}); j.larger != want || j.verdict != unpatched {
			t.Errorf("a candidate saves %v: larger %q, %s; want %q", saved, j.larger, j.verdict, want)
		}
	}
	m := sided(2, 0.1, promising(1.5, 2, 2.5))
	m.changed["fix"] = m.changed["fix"][:1]
	if j := judge(&p, m, paired.Spread{}); j.larger != "" {
		t.Errorf("a candidate that ran once is told as larger")
	}
}

// TestSpreadOfAllPrograms: two rounds alone decide nothing; beside many programs whose rounds lie near to each other they do.
func TestSpreadOfAllPrograms(t *testing.T) {
	m := &measured{Said: []said{promising(0.8, 1, 1.2)}, Tool: []pair{{Plain: 10, Took: 11}, {Plain: 10.1, Took: 11.1}},
		changed: map[string][]pair{"fix": {{Plain: 10, Took: 8.95}, {Plain: 10.1, Took: 9.25}}}}
	p := program{ID: "p", Changes: []change{{Name: "fix", For: []string{"input"}}}}
	kept := results{Programs: map[string]*measured{"p": m}}
	if j := judge(&p, m, kept.spread()); j.verdict != undecided {
		t.Errorf("two rounds alone: %s %v", j.verdict, j.saved)
	}
	for i := range 20 {
		shake := 0.04 * float64(i%5+1)
		kept.Programs[string(rune('a'+i))+"more"] = &measured{changed: map[string][]pair{"fix": {
			{Plain: 10, Took: 10 + shake}, {Plain: 10.1, Took: 10.1 - shake}, {Plain: 10.2, Took: 10.2 + shake}}}}
	}
	if j := judge(&p, m, kept.spread()); j.verdict != isTrue || math.Abs(j.saved.Mid-0.95) > 0.01 {
		t.Errorf("beside others: %s %v", j.verdict, j.saved)
	}
}

func TestAgreementIsWithTheFirstReport(t *testing.T) {
	j := judge(&program{ID: "p"}, sided(0, 0.1, promising(1, 2, 3), promising(1, 2, 3), said{Cause: "launch"}), paired.Spread{})
	if j.agree != [2]int{3, 5} {
		t.Errorf("agree %v, want 3 of 5", j.agree)
	}
	if math.Abs(j.cost.Mid-1.1) > 0.01 {
		t.Errorf("cost %v, want 1.1", j.cost)
	}
	if held, known := j.holds(); held || known {
		t.Error("a promise without a change was judged")
	}
}

func TestFailedProgramIsTold(t *testing.T) {
	if j := judge(&program{ID: "p"}, &measured{Failed: "no such file"}, paired.Spread{}); j.verdict != failedToRun {
		t.Errorf("verdict %q", j.verdict)
	}
}

// TestOrderIsBalanced: over twice as many rounds as sides each side stands as often at each place.
func TestOrderIsBalanced(t *testing.T) {
	const sides = 3
	stood := [sides][sides]int{}
	for round := range 2 * sides {
		turn := order(sides, round)
		if s := slices.Sorted(slices.Values(turn)); !slices.Equal(s, []int{0, 1, 2}) {
			t.Fatalf("round %d runs %v", round, turn)
		}
		for place, side := range turn {
			stood[side][place]++
		}
	}
	for side, places := range stood {
		for place, n := range places {
			if n != 2 {
				t.Errorf("side %d stood %d times at place %d, want 2", side, n, place)
			}
		}
	}
}
