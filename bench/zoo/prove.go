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
	"slices"
	"strings"
	"time"
)

// proof is what `bottleneck prove` says of a slow program.
type proof struct {
	Verdict, Outputs, Difference string
	Bound                        bool
	Finding                      struct {
		Number     int
		Cause, Sub string
	}
	Promised, Proven saving
	Why              string // there is none; the harness writes it
	took             time.Duration
}

// proveBudget is within how long a saving shall be known.
const proveBudget = 3 * time.Minute

// proofName is the file of a proof's document.
const proofName = "proof.json"

// proveSlow proves the slow program's first finding that a program can change, from its first profile, under the limits that the case's
// runs have.
func (r *runner) proveSlow(ctx context.Context, o *outcome) {
	command, err := limited(&r.c.expect, "slow", []string{r.binary, "prove", "--yes", "--budget", proveBudget.String(), "--out",
		filepath.Join(r.dir, "proof"), "--json", filepath.Join(r.dir, proofName), "-o", filepath.Join(r.dir, "proof.txt"),
		sessionOf(r.dir, "slow-1")})
	if err != nil {
		o.failed = err.Error()
		return
	}
	defer lift(&r.c.expect)
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	var stderr strings.Builder
	cmd.Stderr, cmd.Env = &stderr, r.c.expect.environment()
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // it removes what is temporary
	cmd.WaitDelay = time.Minute
	begin := time.Now()
	runErr := cmd.Run()
	took := time.Since(begin)
	r.times.proof(took)
	if _, err := os.Stat(filepath.Join(r.dir, proofName)); err != nil {
		why := timed.LastLines(stderr.String(), 1)
		if why == "" && runErr != nil {
			why = runErr.Error()
		}
		text, err := json.Marshal(proof{Why: why})
		if err == nil {
			err = os.WriteFile(filepath.Join(r.dir, proofName), text, 0o644)
		}
		if err != nil {
			o.failed = err.Error()
			return
		}
	}
	o.proof = readProof(r.dir, took)
}

// readProof reads a case's proof.
func readProof(dir string, took time.Duration) *proof {
	p := &proof{took: took}
	text, err := os.ReadFile(filepath.Join(dir, proofName))
	if err == nil {
		err = json.Unmarshal(text, p)
	}
	if err != nil {
		p.Why = err.Error()
	}
	return p
}

// noAction says that no program can make what the report proposes: nothing is promised that could be proven.
func (p *proof) noAction() bool {
	return strings.Contains(p.Why, "prove: finding ") || strings.Contains(p.Why, "prove: the report has no finding")
}

// saves is what the finding that was proven promises of a run, and what a proof shows that its change saves, in the same unit; nil where it
// shows none, or bounds it.
func (p *proof) saves() (promised, proven *span) {
	if p == nil || p.Why != "" || p.Bound || p.Verdict != "saves" {
		return nil, nil
	}
	for _, unit := range [][2]*span{{p.Promised.RunS, p.Proven.RunS}, {p.Promised.StepMs, p.Proven.StepMs}} {
		if unit[0] != nil && unit[1] != nil && unit[1].Mid > 0 {
			return unit[0], unit[1]
		}
	}
	return nil, nil
}

// calibration is promised ÷ proven where a proof says what the first finding's change saves, else predicted ÷ measured saving of the twin
// where that is known.
func (o *outcome) calibration() (ratio float64, ok bool) {
	if promised, proven := o.proof.saves(); proven != nil && o.first() != nil && o.first().Cause == o.proof.Finding.Cause {
		return promised.Mid / proven.Mid, true
	}
	if len(o.wall) == 0 || !o.decided() {
		return 0, false
	}
	return o.ratio(), true
}

// provenRun is what is proven of a whole run, in seconds: where runs were ended after some steps, that of a step for all steps.
func (o *outcome) provenRun() *span {
	p := o.proof
	if p.Proven.RunS != nil || p.Proven.StepMs == nil || len(o.slow) == 0 || len(o.slow[0].Steps) == 0 {
		return p.Proven.RunS
	}
	by := float64(o.slow[0].Steps[0].Count) / 1e3
	return &span{p.Proven.StepMs.Low * by, p.Proven.StepMs.Mid * by, p.Proven.StepMs.High * by}
}

// sameCure says that the proof is of what the twin cures, in the same way, and that the twin's saving is known.
func (o *outcome) sameCure() bool {
	_, half := o.real()
	f := &o.proof.Finding
	return len(o.wall) > 1 && !math.IsInf(half, 0) && !o.expect.OtherCure && f.Cause == o.expect.Cause &&
		(o.expect.Sub == "" || f.Sub == o.expect.Sub)
}

// proofs are the sums over all proofs.
type proofs struct {
	asked, refused, failed, bounds int
	decided                        [2]int // saves, costs or saves nothing, of all whose change can be made
	inTime, held                   [2]int
	ratios                         []float64
}

// add counts a proof, and gives promised ÷ proven, 0 where there is none.
func (s *proofs) add(o *outcome) (ratio float64) {
	p := o.proof
	s.asked++
	switch {
	case p.noAction():
		s.refused++
		return 0
	case p.Bound:
		s.bounds++
		return 0
	}
	tally := func(pair *[2]int, ok bool) { pair[0], pair[1] = pair[0]+count(ok), pair[1]+1 }
	tally(&s.decided, p.Why == "" && p.Verdict != "undecided" && p.Verdict != "fails")
	if p.Why != "" {
		s.failed++
		return 0
	}
	if promised, proven := p.saves(); proven != nil {
		ratio = promised.Mid / proven.Mid
		s.ratios = append(s.ratios, ratio)
	}
	if !o.sameCure() {
		return ratio
	}
	saved, _ := o.real()
	if slow, _ := sides(o.wall); saved >= largeSaving*paired.Median(slow) {
		tally(&s.inTime, p.Verdict == "saves" && p.took <= proveBudget+overBudget)
	}
	if b := o.provenRun(); b != nil {
		tally(&s.held, b.Low <= saved && saved <= b.High)
	}
	return ratio
}

const (
	largeSaving = 0.15             // of a run, which shall be decided within proveBudget
	overBudget  = 15 * time.Second // reading the session, and writing the answer
	proofGoal   = 0.9              // of large savings, and of intervals
)

// proofTotals prints promised beside proven for each case with a change that can be made, and how they compare over all.
func proofTotals(w io.Writer, all []outcome) {
	var s proofs
	for i := range all {
		o := &all[i]
		p := o.proof
		if p == nil {
			continue
		}
		if s.asked == 0 {
			fmt.Fprintf(w, "\n%-22s %-13s %26s %26s %7s %8s  %s\n", "case", "cause", "promised", "proven", "ratio", "took", "")
		}
		r := s.add(o)
		if p.Why != "" {
			fmt.Fprintf(w, "%-22s no proof: %s\n", o.name, p.Why)
			continue
		}
		word := p.Verdict + ", outputs " + p.Outputs
		if p.Bound {
			word += ", a bound"
		}
		switch {
		case o.expect.OtherCure:
			word += ", the twin is cured otherwise"
		case p.Finding.Cause != o.expect.Cause:
			word += ", not what the twin cures"
		}
		promised, proven := spanText(p.Promised.RunS, "s"), spanText(p.Proven.RunS, "s")
		if p.Promised.RunS == nil || p.Proven.RunS == nil {
			promised, proven = spanText(p.Promised.StepMs, "ms"), spanText(p.Proven.StepMs, "ms")
		}
		ratio := ""
		if r > 0 {
			ratio = fmt.Sprintf("%.2f", r)
		}
		fmt.Fprintf(w, "%-22s %-13s %26s %26s %7s %7.0fs  %s\n", o.name, p.Finding.Cause, promised, proven, ratio, p.took.Seconds(), word)
	}
	if s.asked > 0 {
		s.write(w)
	}
}

// write prints each number beside its goal.
func (s *proofs) write(w io.Writer) {
	line := func(what, value, goal string) { fmt.Fprintf(w, "%-72s %26s  %s\n", what, value, goal) }
	fmt.Fprintln(w)
	line("findings whose change can be made, proven or refuted", of(s.decided), "")
	line("proofs that failed", fmt.Sprint(s.failed), "")
	line("reports without a change that a program can make", fmt.Sprint(s.refused), "")
	line("findings that were bounded", fmt.Sprint(s.bounds), "")
	if n := len(s.ratios); n > 0 {
		slices.Sort(s.ratios)
		near := 0
		for _, r := range s.ratios {
			near += count(r >= ratioLow && r <= ratioHigh)
		}
		at := func(share float64) float64 { return s.ratios[int(math.Round(share*float64(n-1)))] }
		line(fmt.Sprintf("promised ÷ proven, median of %d", n), fmt.Sprintf("%.2f", paired.Median(s.ratios)), "1")
		line("  half of them lie within; all", fmt.Sprintf("%.2f – %.2f; %.2f – %.2f", at(0.25), at(0.75), s.ratios[0], s.ratios[n-1]), "")
		line(fmt.Sprintf("  within %.1f to %.2f", ratioLow, ratioHigh), of([2]int{near, n}), "")
	}
	line(fmt.Sprintf("true savings of %.0f %% of a run and more, decided within %v", 100*largeSaving, proveBudget), of(s.inTime),
		goal(s.inTime))
	line("intervals of proofs that hold the saving of a twin with the same cure", of(s.held), goal(s.held))
}

// goal is that of proofs, and whether it is missed.
func goal(pair [2]int) string {
	text := fmt.Sprintf("≥ %.0f %%", 100*proofGoal)
	switch {
	case pair[1] == 0:
		text += "  none to judge by"
	case float64(pair[0]) < proofGoal*float64(pair[1]):
		text += "  MISSED"
	}
	return text
}

func spanText(s *span, unit string) string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f) %s", s.Mid, s.Low, s.High, unit)
}
