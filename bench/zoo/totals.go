package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"slices"
)

// score counts what outcomes gave; each pair is how many of how many.
type score struct {
	named, placed, priced, held, quiet, healthy, unknown, calibrated [2]int
	undecided, failed                                                int
}

func scoreOf(all []outcome) (s score) {
	tally := func(pair *[2]int, ok bool) { pair[0], pair[1] = pair[0]+count(ok), pair[1]+1 }
	for i := range all {
		o := &all[i]
		if o.failed != "" {
			s.failed++
		}
		if o.skipped != "" || o.failed != "" {
			continue
		}
		tally(&s.unknown, o.slow[0].unknown() <= 0.05)
		if o.expect.Cause == none {
			tally(&s.healthy, o.named())
			continue
		}
		tally(&s.named, o.named())
		if o.hasPlace() {
			tally(&s.placed, o.placed())
		}
		if o.twin {
			tally(&s.quiet, o.quiet())
		}
		if r, ok := o.calibration(); ok {
			tally(&s.calibrated, r >= ratioLow && r <= ratioHigh)
		}
		switch {
		case len(o.wall) == 0:
		case o.decided():
			tally(&s.priced, o.priced())
			s.held[0], s.held[1] = s.held[0]+o.held(), s.held[1]+len(o.slow)
		default:
			s.undecided++
		}
	}
	return s
}

// apart says that a case is of the half by which no constant is ever set: its score says what the verdicts are worth on programs that
// nobody
// looked at. The name alone decides, so that nobody chooses.
func apart(name string) bool { return sha256.Sum256([]byte(name))[0]&1 == 0 }

// totals prints the scores of both halves of the zoo beside each other, and the confusion matrix of causes.
func totals(w io.Writer, all []outcome) {
	var building, aside []outcome
	for _, o := range all {
		if apart(o.name) {
			aside = append(aside, o)
		} else {
			building = append(building, o)
		}
	}
	scores := []score{scoreOf(building), scoreOf(aside), scoreOf(all)}
	fmt.Fprintf(w, "\n%-30s %-20s %-20s %s\n", "", "for building", "set apart", "all")
	row := func(name string, cell func(*score) string) {
		fmt.Fprintf(w, "%-30s %-20s %-20s %s\n", name, cell(&scores[0]), cell(&scores[1]), cell(&scores[2]))
	}
	row("named", func(s *score) string { return of(s.named) })
	row("placed", func(s *score) string { return of(s.placed) })
	row("priced", func(s *score) string { return of(s.priced) })
	row("priced, by a proof if any", func(s *score) string { return of(s.calibrated) })
	row("undecided", func(s *score) string { return fmt.Sprint(s.undecided) })
	row("intervals hold the truth", func(s *score) string { return of(s.held) })
	row("quiet", func(s *score) string { return of(s.quiet) })
	row("healthy programs left alone", func(s *score) string { return of(s.healthy) })
	row("unknown within 5 %", func(s *score) string { return of(s.unknown) })
	row("failed", func(s *score) string { return fmt.Sprint(s.failed) })
	confusion(w, all)
	peerTotals(w, all)
	proofTotals(w, all)
}

func count(ok bool) int {
	if ok {
		return 1
	}
	return 0
}

func of(pair [2]int) string {
	if pair[1] == 0 {
		return "0 of 0"
	}
	return fmt.Sprintf("%d of %d (%.0f %%)", pair[0], pair[1], 100*float64(pair[0])/float64(pair[1]))
}

// confusion prints for each expected cause what was said.
func confusion(w io.Writer, all []outcome) {
	said := map[string]map[string]int{}
	for i := range all {
		o := &all[i]
		if o.skipped != "" || o.failed != "" {
			continue
		}
		row := said[o.expect.label()]
		if row == nil {
			row = map[string]int{}
			said[o.expect.label()] = row
		}
		row[o.said()]++
	}
	fmt.Fprintln(w, "\nexpected               said")
	for _, want := range sortedKeys(said) {
		fmt.Fprintf(w, "%-22s", want)
		keys := sortedKeys(said[want])
		slices.SortStableFunc(keys, func(a, b string) int { return said[want][b] - said[want][a] })
		for _, k := range keys {
			fmt.Fprintf(w, " %d × %s", said[want][k], k)
		}
		fmt.Fprintln(w)
	}
}
