package main

import (
	"fmt"
	"io"
	"strings"
)

// flaw is one thing that did not hold.
type flaw struct {
	number  int
	verdict string // panic, hang, memory, …
	what    string // the case, in words
	command string
	detail  string
}

// row is what came of a family.
type row struct {
	family, what string
	cases        int
	commands     int
	skips        map[string]int // reasons of single cases
	flaws        []flaw
	skipped      string // why the family was left out
}

func (r *row) add(t *try) {
	if t.skipped != "" {
		if r.skips == nil {
			r.skips = map[string]int{}
		}
		r.skips[t.skipped]++
		return
	}
	r.cases++
	r.commands += t.commands
	r.flaws = append(r.flaws, t.flaws...)
}

// maxFlaws is how many bad cases of a family are written out.
const maxFlaws = 20

func printTable(w io.Writer, a *attack, rows []row) {
	fmt.Fprintf(w, "\nseed %d\n%-12s %8s %9s %6s\n", a.seed, "family", "cases", "commands", "bad")
	for _, r := range rows {
		if r.skipped != "" {
			fmt.Fprintf(w, "%-12s left out: %s\n", r.family, r.skipped)
			continue
		}
		fmt.Fprintf(w, "%-12s %8d %9d %6d   %s\n", r.family, r.cases, r.commands, len(r.flaws), r.what)
		for why, n := range r.skips {
			fmt.Fprintf(w, "%-12s %d left out: %s\n", "", n, why)
		}
	}
	for _, r := range rows {
		for i, f := range r.flaws {
			if i == maxFlaws {
				fmt.Fprintf(w, "\n… and %d more of %s\n", len(r.flaws)-i, r.family)
				break
			}
			f.print(w, a.seed, r.family)
		}
	}
}

func (f *flaw) print(w io.Writer, seed uint64, family string) {
	fmt.Fprintf(w, "\n%s: %s\n  again:   SEED=%d FAMILIES=%s CASE=%d make attack\n", f.verdict, f.what, seed, family, f.number)
	if f.command != "" {
		fmt.Fprintf(w, "  command: %s\n", f.command)
	}
	if f.detail != "" {
		fmt.Fprintf(w, "  %s\n", strings.ReplaceAll(strings.TrimRight(f.detail, "\n"), "\n", "\n  "))
	}
}
