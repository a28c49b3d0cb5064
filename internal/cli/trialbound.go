package cli

import (
	"bottleneck/internal/agent"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/compare"
	"bottleneck/internal/report"
	"bottleneck/internal/turns"
	"bottleneck/internal/wording"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// ablation takes a finding's cause away in the program itself, where no change of a line is certain: what is then saved bounds what a fix
// can save.
type ablation struct {
	cause       string // that the agent takes away; "" none
	place       report.Place
	secondStart bool // torch.compile finds what an earlier start has made
	bound       string
}

// What an answer says of a bound.
const (
	isBound      = "this is a bound: no fix can save more, and a real one may save less"
	isStartBound = "this is a bound: keeping what torch.compile makes from one start to the next saves no more; compiling less " +
		"may save more"
)

// boundOf is the change that bounds a finding without one of its own, nil where there is none.
func boundOf(f *report.Finding) (*change, error) {
	switch {
	case f.Cause == finding.Input:
		return &change{words: "the same few batches again, from memory", ablate: &ablation{cause: agent.AblateInput, bound: isBound}}, nil
	case f.Cause == finding.GC:
		return &change{words: "what lives after the first steps is left out by the garbage collector (gc.freeze)",
			ablate: &ablation{cause: agent.AblateGC, bound: isBound}}, nil
	case f.Cause == finding.IO && (f.Sub == "checkpoint" || f.Sub == "logging"):
		at := report.Place{File: f.Where.File, Line: f.Where.Line}
		if !filepath.IsAbs(at.File) || libraryFile(at.File) {
			return nil, errors.New("writes from no line of the program's own: " + f.Fix.Text)
		}
		return &change{words: fmt.Sprintf("what %s:%d and the lines around it write to files goes nowhere", report.Base(at.File), at.Line),
			ablate: &ablation{cause: agent.AblateIO, place: at, bound: isBound}}, nil
	case f.Cause == finding.Warmup && compiles(f):
		if strings.Contains(f.Fix.Text, wording.Say("warmup.fix-compile-cached").String()) {
			return nil, errors.New("was a second start already, whose code came from torch.compile's caches: " + f.Fix.Text)
		}
		return &change{words: "a second start: the code that torch.compile made for the first one is there (the original starts with " +
			"empty caches)", ablate: &ablation{secondStart: true, bound: isStartBound}}, nil
	}
	return nil, nil
}

// compiles says that a finding about the start is about torch.compile, which alone keeps what it makes.
func compiles(f *report.Finding) bool {
	return slices.ContainsFunc(f.Evidence, func(e report.Evidence) bool { return e.ID == "warmup.first-steps" || e.ID == "warmup.later" })
}

// nothingTaken says that the agent found nothing to take away.
type nothingTaken struct{ words string }

func (e *nothingTaken) Error() string {
	return "nothing was written there in a way that could be left out, so that there is no bound: " + e.words
}

// noBound says why there is no bound: nothing was taken away, or the program cannot do without.
func noBound(err error) error {
	var nothing *nothingTaken
	if errors.As(err, &nothing) {
		return unusable(fmt.Errorf("prove: %w", nothing))
	}
	return unusable(fmt.Errorf("prove: the program does not run with its cause taken away, so that there is no bound: it %w", err))
}

// taken asks that the agent took away what it was asked to. What it does in a worker need not be counted.
func (t *trial) taken(run compare.Run) error {
	if a := t.change.ablate; a != nil && a.cause == agent.AblateIO && run.Ablated == 0 {
		return &nothingTaken{t.change.words}
	}
	return nil
}

// cachesVariable names the folder of everything that torch.compile keeps.
const cachesVariable = "TORCHINDUCTOR_CACHE_DIR"

// starts makes the original start with empty caches each time, and the changed program with those of an earlier start.
func starts(variants *[2]variant, folder string) {
	variants[0].each = func(id string) []string {
		return []string{cachesVariable + "=" + filepath.Join(folder, "caches", "empty-"+id)}
	}
	variants[1].each = func(string) []string { return []string{cachesVariable + "=" + filepath.Join(folder, "caches", "kept")} }
}

// firstStart runs the changed program once, for what it keeps.
func (r *repeater) firstStart(ctx context.Context) error {
	once, err := r.measure(ctx, turns.After, 0)
	if err != nil {
		return unusable(fmt.Errorf("prove: the first start, which fills torch.compile's caches, %w", err))
	}
	return os.Rename(once.session, filepath.Join(r.out, "first"))
}
