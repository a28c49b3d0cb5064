package main

import (
	"bottleneck/bench/paired"
	"bottleneck/bench/timed"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// proof is what `bottleneck prove` says of a slow program.
type proof struct {
	Verdict, Outputs, Difference string
	Bound                        bool
	Finding                      struct {
		Number int
		Cause  string
	}
	Promised, Proven saving
	why              string // there is none
	took             time.Duration
}

// proveBudget is within how long a saving shall be known.
const proveBudget = 3 * time.Minute

// proveSlow proves the slow program's first finding that a program can change, from its first profile.
func (r *runner) proveSlow(ctx context.Context, o *outcome) {
	path := filepath.Join(r.dir, "proof.json")
	cmd := exec.CommandContext(ctx, r.binary, "prove", "--yes", "--budget", proveBudget.String(), "--out",
		filepath.Join(r.dir, "proof"), "--json", path, "-o", filepath.Join(r.dir, "proof.txt"), sessionOf(r.dir, "slow-1"))
	var stderr strings.Builder
	cmd.Stderr = &stderr
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it removes what is temporary
	cmd.WaitDelay = time.Minute
	begin := time.Now()
	runErr := cmd.Run()
	o.proof = &proof{took: time.Since(begin)}
	text, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(text, o.proof)
	}
	if err != nil {
		o.proof.why = timed.LastLines(stderr.String(), 1)
		if o.proof.why == "" && runErr != nil {
			o.proof.why = runErr.Error()
		}
	}
}

// proofTotals prints promised beside proven for each case with a change that can be made, and how they compare over all.
func proofTotals(w io.Writer, all []outcome) {
	var ratios []float64
	asked, decided, large, inTime, known, held := 0, 0, 0, 0, 0, 0
	for i := range all {
		o := &all[i]
		p := o.proof
		if p == nil {
			continue
		}
		if asked == 0 {
			fmt.Fprintf(w, "\n%-22s %-13s %24s %24s %7s %8s  %s\n", "case", "cause", "promised s", "proven s", "ratio", "took", "")
		}
		asked++
		if p.why != "" {
			fmt.Fprintf(w, "%-22s %s\n", o.name, p.why)
			continue
		}
		word := p.Verdict + ", outputs " + p.Outputs
		if p.Bound {
			word += ", a bound"
		}
		ratio := ""
		if a, b := p.Promised.RunS, p.Proven.RunS; a != nil && b != nil && p.Verdict == "saves" && !p.Bound {
			ratios = append(ratios, a.Mid/b.Mid)
			ratio = fmt.Sprintf("%.2f", a.Mid/b.Mid)
		}
		fmt.Fprintf(w, "%-22s %-13s %24s %24s %7s %7.0fs  %s\n", o.name, p.Finding.Cause, spanText(p.Promised.RunS),
			spanText(p.Proven.RunS), ratio, p.took.Seconds(), word)
		decided += count(p.Verdict != "undecided")
		saved, half := o.real()
		if len(o.wall) == 0 || math.IsInf(half, 0) || p.Bound {
			continue
		}
		if saved >= 0.15*o.slow[0].Run.WallS {
			large++
			inTime += count(p.Verdict == "saves")
		}
		if b := p.Proven.RunS; b != nil {
			known++
			held += count(b.Low <= saved && saved <= b.High)
		}
	}
	if asked == 0 {
		return
	}
	fmt.Fprintf(w, "proven or refuted %d of %d", decided, asked)
	if len(ratios) > 0 {
		fmt.Fprintf(w, "; promised / proven %.2f in the median of %d", paired.Median(ratios), len(ratios))
	}
	fmt.Fprintf(w, "; of those that truly save 15 %%, decided within %v: %s; intervals hold the twin's saving: %s\n", proveBudget,
		of([2]int{inTime, large}), of([2]int{held, known}))
}

func spanText(s *span) string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Mid, s.Low, s.High)
}
