package main

import (
	"fmt"
	"io"
	"slices"
)

// totals prints the scores over all outcomes and the confusion matrix of causes.
func totals(w io.Writer, all []outcome) {
	var named, placed, quiet, priced, decided, undecided, held, intervals, sick, places, twins, healthy, calm, failed, unknown, accounts int
	for i := range all {
		o := &all[i]
		switch {
		case o.skipped != "":
			continue
		case o.failed != "":
			failed++
			continue
		}
		accounts++
		unknown += count(o.slow[0].unknown() <= 0.05)
		if o.expect.Cause == none {
			healthy++
			calm += count(o.named())
			continue
		}
		sick++
		named += count(o.named())
		if o.hasPlace() {
			places++
			placed += count(o.placed())
		}
		if o.twin {
			twins++
			quiet += count(o.quiet())
		}
		if len(o.wall) == 0 {
			continue
		}
		if o.decided() {
			decided++
			priced += count(o.priced())
			held += o.held()
			intervals += len(o.slow)
		} else {
			undecided++
		}
	}
	fmt.Fprintf(w, "\nnamed %s, placed %s, priced %s (%d undecided), intervals hold the truth in %s, quiet %s, healthy programs left alone %s, unknown within 5 %% in %s, %d failed\n",
		of(named, sick), of(placed, places), of(priced, decided), undecided, of(held, intervals), of(quiet, twins), of(calm, healthy), of(unknown, accounts), failed)
	confusion(w, all)
	peerTotals(w, all)
}

func count(ok bool) int {
	if ok {
		return 1
	}
	return 0
}

func of(n, all int) string {
	if all == 0 {
		return "0 of 0"
	}
	return fmt.Sprintf("%d of %d (%.0f %%)", n, all, 100*float64(n)/float64(all))
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
