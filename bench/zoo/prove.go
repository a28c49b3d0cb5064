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
		Number int
		Cause  string
	}
	Promised, Proven saving
	Why              string // there is none; the harness writes it
	took             time.Duration
}

// proveBudget is within how long a saving shall be known.
const proveBudget = 3 * time.Minute

// proofName is the file of a proof's document.
const proofName = "proof.json"

// proveSlow proves the slow program's first finding that a program can change, from its first profile.
func (r *runner) proveSlow(ctx context.Context, o *outcome) {
	cmd := exec.CommandContext(ctx, r.binary, "prove", "--yes", "--budget", proveBudget.String(), "--out",
		filepath.Join(r.dir, "proof"), "--json", filepath.Join(r.dir, proofName), "-o", filepath.Join(r.dir, "proof.txt"),
		sessionOf(r.dir, "slow-1"))
	var stderr strings.Builder
	cmd.Stderr = &stderr
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

// saves is what a proof of the program's first finding shows that its change saves of a run; nil where it shows none, or bounds it.
func (o *outcome) saves() *span {
	p, f := o.proof, o.first()
	if p == nil || f == nil || p.Why != "" || p.Bound || p.Verdict != "saves" || p.Finding.Cause != f.Cause || p.Promised.RunS == nil {
		return nil
	}
	return p.Proven.RunS
}

// calibration is promised ÷ proven where a proof says what the first finding's change saves, else predicted ÷ measured saving of the twin
// where that is known.
func (o *outcome) calibration() (ratio float64, ok bool) {
	if s := o.saves(); s != nil {
		return o.proof.Promised.RunS.Mid / s.Mid, true
	}
	if len(o.wall) == 0 || !o.decided() {
		return 0, false
	}
	return o.ratio(), true
}

// proofs are the sums over all proofs.
type proofs struct {
	asked, refused, bounds int
	decided                [2]int // saves, costs or saves nothing, of all that are no bounds
	inTime, held           [2]int
	ratios                 []float64
}

// add counts a proof, and gives promised ÷ proven, 0 where there is none.
func (s *proofs) add(o *outcome) (ratio float64) {
	p := o.proof
	s.asked++
	switch {
	case p.Why != "":
		s.refused++
		return 0
	case p.Bound:
		s.bounds++
		return 0
	}
	tally := func(pair *[2]int, ok bool) { pair[0], pair[1] = pair[0]+count(ok), pair[1]+1 }
	tally(&s.decided, p.Verdict != "undecided")
	if o.saves() != nil {
		ratio, _ = o.calibration()
		s.ratios = append(s.ratios, ratio)
	}
	if len(o.wall) == 0 || o.expect.OtherCure {
		return ratio
	}
	saved, half := o.real()
	if math.IsInf(half, 0) {
		return ratio
	}
	if slow, _ := sides(o.wall); saved >= largeSaving*paired.Median(slow) {
		tally(&s.inTime, p.Verdict == "saves" && p.took <= proveBudget+overBudget)
	}
	if b := p.Proven.RunS; b != nil {
		tally(&s.held, b.Low <= saved && saved <= b.High)
	}
	return ratio
}

const (
	largeSaving = 0.15             // of a run, which shall be decided within proveBudget
	overBudget  = 15 * time.Second // reading the session, and writing the answer
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
			fmt.Fprintf(w, "\n%-22s %-13s %24s %24s %7s %8s  %s\n", "case", "cause", "promised s", "proven s", "ratio", "took", "")
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
		if o.expect.OtherCure {
			word += ", the twin is cured otherwise"
		}
		ratio := ""
		if r > 0 {
			ratio = fmt.Sprintf("%.2f", r)
		}
		fmt.Fprintf(w, "%-22s %-13s %24s %24s %7s %7.0fs  %s\n", o.name, p.Finding.Cause, spanText(p.Promised.RunS),
			spanText(p.Proven.RunS), ratio, p.took.Seconds(), word)
	}
	if s.asked > 0 {
		s.write(w)
	}
}

// write prints each number beside its goal.
func (s *proofs) write(w io.Writer) {
	line := func(what, value, goal string) { fmt.Fprintf(w, "%-74s %18s  %s\n", what, value, goal) }
	fmt.Fprintln(w)
	line("findings whose change was made and proven or refuted", of(s.decided), "")
	line("findings that have advice only, or whose change was refused", fmt.Sprint(s.refused), "")
	line("findings that were bounded", fmt.Sprint(s.bounds), "")
	if len(s.ratios) > 0 {
		slices.Sort(s.ratios)
		near := 0
		for _, r := range s.ratios {
			near += count(r >= ratioLow && r <= ratioHigh)
		}
		line("promised ÷ proven, median (least – most)", fmt.Sprintf("%.2f (%.2f – %.2f)", paired.Median(s.ratios), s.ratios[0],
			s.ratios[len(s.ratios)-1]), "1")
		line(fmt.Sprintf("promised ÷ proven within %.1f to %.2f", ratioLow, ratioHigh), of([2]int{near, len(s.ratios)}), "")
	}
	line(fmt.Sprintf("true savings of %.0f %% of a run and more, decided within %v", 100*largeSaving, proveBudget), of(s.inTime), "≥ 90 %")
	line("intervals of proofs that hold the saving of a twin with the same cure", of(s.held), "≥ 90 %")
}

func spanText(s *span) string {
	if s == nil {
		return "-"
	}
	return fmt.Sprintf("%.2f (%.2f–%.2f)", s.Mid, s.Low, s.High)
}
