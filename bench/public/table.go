package main

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"

	"bottleneck/bench/paired"
)

func header(w io.Writer) {
	fmt.Fprintf(w, "%-5s %-26s %-10s %7s %24s %24s %20s %6s %5s  %s\n", "half", "program", "verdict", "plain s", "promised s", "measured s",
		"under the tool", "agree", "load", "first finding → change")
}

// write prints one program's row.
func (j *judgement) write(w io.Writer) {
	fmt.Fprintf(w, "%-5s %-26s %-10s ", j.p.half(), j.p.ID, j.verdict)
	if j.verdict == failedToRun {
		fmt.Fprintln(w, j.m.Failed)
		return
	}
	promised := "-"
	if p := j.promised; p != nil {
		promised = fmt.Sprintf("%.2f [%.2f, %.2f]", p.Mid, p.Low, p.High)
	}
	fmt.Fprintf(w, "%7.1f %24s %24s %20s %6s %5.1f  %s\n", j.plain, promised, seconds(j.saved), ratio(j.cost),
		fmt.Sprintf("%d/%d", j.agree[0], j.agree[1]), j.m.load(), j.finding())
	if !math.IsNaN(j.noise.Mid) {
		fmt.Fprintf(w, "%-5s %-26s the original again takes %s of itself\n", "", "", ratio(j.noise))
	}
	if j.larger != "" {
		fmt.Fprintf(w, "%-5s %-26s larger: %s saves %s s\n", "", "", j.larger, seconds(j.savedBy(j.larger)))
	}
}

// finding is what was said first, where, and the change that was judged.
func (j *judgement) finding() string {
	first := &j.m.Said[0]
	if first.Cause == "" {
		return "nothing"
	}
	text := label(first.Cause, first.Sub)
	if first.File != "" {
		text += fmt.Sprintf(" at %s:%d", first.File, first.Line)
	}
	return text + " → " + cmp.Or(j.change, "none recorded")
}

func seconds(i paired.Interval) string {
	if math.IsNaN(i.Mid) {
		return "-"
	}
	return fmt.Sprintf("%.2f [%.2f, %.2f]", i.Mid, i.Low, i.High)
}

func ratio(i paired.Interval) string {
	if math.IsNaN(i.Mid) {
		return "-"
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", i.Mid, i.Low, i.High)
}

// table prints what an earlier bench kept.
func (b *bench) table(programs []program) error {
	kept, err := b.kept()
	if err != nil {
		return err
	}
	header(os.Stdout)
	spread := kept.spread()
	for i := range programs {
		if m := kept.Programs[programs[i].ID]; m != nil {
			j := judge(&programs[i], m, spread)
			j.write(os.Stdout)
		}
	}
	scores(os.Stdout, programs, kept)
	return nil
}

// score counts the judgements of one half.
type score struct {
	verdicts                          map[string]int
	true, held, wronglyHealthy, agree [2]int
	cost                              []float64
}

func (s *score) add(j *judgement) {
	s.verdicts[j.verdict]++
	if j.larger != "" {
		s.verdicts["missed larger"]++
	}
	if j.verdict == failedToRun || j.verdict == untimed {
		return
	}
	s.agree[0], s.agree[1] = s.agree[0]+j.agree[0], s.agree[1]+j.agree[1]
	s.cost = append(s.cost, j.cost.Mid)
	switch j.verdict {
	case healthy, missed:
		tally(&s.wronglyHealthy, j.verdict == missed)
	case isTrue, overstated, isFalse, harmful:
		tally(&s.true, j.verdict == isTrue)
	}
	if held, known := j.holds(); known {
		tally(&s.held, held)
	}
}

func tally(pair *[2]int, ok bool) {
	pair[1]++
	if ok {
		pair[0]++
	}
}

// scores prints the counts and the goals of both halves beside each other.
func scores(w io.Writer, programs []program, kept *results) {
	halves := []*score{{verdicts: map[string]int{}}, {verdicts: map[string]int{}}, {verdicts: map[string]int{}}}
	spread := kept.spread()
	for i := range programs {
		m := kept.Programs[programs[i].ID]
		if m == nil {
			continue
		}
		j := judge(&programs[i], m, spread)
		mine := halves[0]
		if held(programs[i].ID) {
			mine = halves[1]
		}
		mine.add(&j)
		halves[2].add(&j)
	}
	row := func(name string, cell func(*score) string) {
		fmt.Fprintf(w, "%-44s %-20s %-20s %s\n", name, cell(halves[0]), cell(halves[1]), cell(halves[2]))
	}
	fmt.Fprintf(w, "\n%-44s %-20s %-20s %s\n", "", "for building", "held", "all")
	for _, v := range []string{isTrue, overstated, isFalse, harmful, undecided, unpatched, healthy, missed, "missed larger", untimed,
		failedToRun} {
		row(strings.ToLower(v), func(s *score) string { return fmt.Sprint(s.verdicts[v]) })
	}
	row("harmful advice (goal 0)", func(s *score) string { return fmt.Sprint(s.verdicts[harmful]) })
	row("first finding true (goal 90 %)", func(s *score) string { return of(s.true) })
	row("promise holds what is measured (goal 85 %)", func(s *score) string { return of(s.held) })
	row("healthy, and wrong (goal at most 10 %)", func(s *score) string { return of(s.wronglyHealthy) })
	row("first cause agrees (goal 95 %)", func(s *score) string { return of(s.agree) })
	row("under the tool, median of ratios", func(s *score) string { return median(s.cost) })
}

func median(values []float64) string {
	if values = slices.DeleteFunc(values, math.IsNaN); len(values) == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", paired.Median(values))
}

func of(pair [2]int) string {
	if pair[1] == 0 {
		return "0 of 0"
	}
	return fmt.Sprintf("%d of %d (%.0f %%)", pair[0], pair[1], 100*float64(pair[0])/float64(pair[1]))
}
