package cli

import (
	"bottleneck/internal/collect"
	"bottleneck/internal/compare"
	"bottleneck/internal/overlay"
	"bottleneck/internal/record"
	"bottleneck/internal/report"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// trial is a finding's change beside the program that it is of.
type trial struct {
	number    int
	finding   *report.Finding
	change    *change
	launcher  record.Launcher
	command   []string // as it is run
	python    string   // that ran it, "" unknown
	temporary bool
	before    string // text of the changed file
	after     string
}

// change is what a finding's action comes to.
type change struct {
	words           string
	file            string // that is edited, absolute; "" none
	edit            overlay.Edit
	variable, value string    // of the environment; "" none
	ablate          *ablation // for a bound; nil none
}

// trial reads a session and prepares the proof of one of its findings; an error says why there is none.
func (o *proveOptions) trial(ctx context.Context, a *app, session string) (*trial, error) {
	t := &trial{temporary: o.temporary}
	if !record.IsSession(session) {
		return nil,
			unusable(fmt.Errorf("prove: %s is no session directory of bottleneck run: only a program that was run here can be run again",
				session))
	}
	if err := collect.OwnDirectory(session); err != nil {
		return nil, unusable(fmt.Errorf("prove: the session names the command to run, and %v", err))
	}
	if err := t.readLauncher(session); err != nil {
		return nil, err
	}
	run, err := a.readRun(ctx, runPaths{paths: []string{session}})
	if err != nil {
		return nil, err
	}
	if err := t.choose(run.Report, o.finding); err != nil {
		return nil, err
	}
	if err := o.safe(t, run.Report); err != nil {
		return nil, err
	}
	o.bound(t, run.Report)
	if t.change.file == "" {
		return t, nil
	}
	text, err := os.ReadFile(t.change.file)
	if err != nil {
		return nil, unusable(fmt.Errorf("prove: %w", err))
	}
	t.before = string(text)
	if run.Sources[t.change.file] == nil {
		return nil, unusable(fmt.Errorf("prove: the session does not keep %s as it was, so that the change may not fit: record it again",
			t.change.file))
	}
	if line := firstChanged(run.Sources[t.change.file], t.before); line > 0 {
		return nil, unusable(fmt.Errorf("prove: %s has changed since the recording (line %d): record it again", t.change.file, line))
	}
	if t.after, err = t.change.edit.Apply(t.before); err != nil {
		return nil, unusable(fmt.Errorf("prove: %s: %w: record it again", t.change.file, err))
	}
	return t, nil
}

// firstChanged is the first line in which a file is not what the session keeps, 0 where it is.
func firstChanged(kept []string, text string) int {
	now := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := range max(len(kept), len(now)) {
		if i >= len(kept) || i >= len(now) || strings.TrimRight(kept[i], "\r\n") != strings.TrimRight(now[i], "\r") {
			if i >= len(now) && strings.TrimSpace(strings.Join(kept[i:], "")) == "" {
				return 0
			}
			return i + 1
		}
	}
	return 0
}

// readLauncher reads how the program was started.
func (t *trial) readLauncher(session string) error {
	launchers, _, err := record.Folders(session)
	if err != nil || len(launchers) == 0 {
		return unusable(errors.New("prove: the session does not say how the program was started"))
	}
	if len(launchers) > 1 {
		return unusable(fmt.Errorf("prove: the session is of a job with %d launchers, which one command cannot run again", len(launchers)))
	}
	l, err := record.ReadLauncher(launchers[0])
	if err != nil {
		return unusable(fmt.Errorf("prove: %w", err))
	}
	t.launcher = *l
	if host, err := os.Hostname(); err == nil && l.Host != host {
		return unusable(fmt.Errorf("prove: the session was recorded on %s, and this is %s: run it there", l.Host, host))
	}
	if len(l.Command) == 0 {
		return unusable(errors.New("prove: the session names no command: programs that were attached to cannot be run again"))
	}
	for _, word := range l.Command {
		if strings.Contains(word, "***") {
			return unusable(fmt.Errorf("prove: an argument of the recorded command is a secret that was not kept (%s): record it with the "+
				"secret in the environment", word))
		}
	}
	if e := l.Exit; e == nil || e.Code != 0 {
		return unusable(errors.New("prove: the recorded program did not end well: there is nothing to compare a change with"))
	}
	t.command, t.python = slices.Clone(l.Command), interpreterThatRan(session, l.Host)
	if l.Interpreter != "" {
		t.command[0] = l.Interpreter
	}
	return nil
}

// choose takes the finding that was asked for, or the first that a program can change.
func (t *trial) choose(r *report.Report, number int) error {
	if len(r.Findings) == 0 {
		return unusable(errors.New("prove: the report has no finding"))
	}
	if number > len(r.Findings) {
		return usage("--finding: the report has %d", len(r.Findings))
	}
	var first error
	for i := range r.Findings {
		if number > 0 && number != i+1 {
			continue
		}
		c, err := changeOf(&r.Findings[i])
		if err == nil {
			t.number, t.finding, t.change = i+1, &r.Findings[i], c
			return nil
		}
		if first == nil {
			first = fmt.Errorf("finding %d (%s) %w", i+1, r.Findings[i].Cause, err)
		}
	}
	return unusable(fmt.Errorf("prove: %w", first))
}

// changeOf is what a program can do of a finding's fix.
func changeOf(f *report.Finding) (*change, error) {
	a := f.Fix.Action
	if a == nil || a.Kind != "set-environment" && f.Fix.Was == "" && a.Before == "" {
		if c, err := boundOf(f); c != nil || err != nil {
			return c, err
		}
	}
	switch {
	case a == nil:
		return nil, errors.New("has advice only, no change that a program could make: " + f.Fix.Text)
	case a.Kind == "set-environment":
		return &change{words: a.Variable + "=" + a.Value, variable: a.Variable, value: a.Value}, nil
	case f.Fix.Was+a.Before != "" && a.Line != "" && f.Fix.Where != nil:
		if !filepath.IsAbs(f.Fix.Where.File) {
			return nil, fmt.Errorf("changes %s, whose folder the session does not know", f.Fix.Where.File)
		}
		if libraryFile(f.Fix.Where.File) {
			return nil, fmt.Errorf("changes a file of a library: %s", f.Fix.Where.File)
		}
		becomes := "%s:%d becomes %s"
		if a.Before != "" {
			becomes = "before %s:%d comes %s"
		}
		return &change{words: fmt.Sprintf(becomes, report.Base(f.Fix.Where.File), f.Fix.Where.Line, a.Line), file: f.Fix.Where.File,
			edit: overlay.Edit{Line: f.Fix.Where.Line, Old: f.Fix.Was + a.Before, New: a.Line, Insert: a.Before != ""}}, nil
	}
	return nil, fmt.Errorf("proposes %s, but it is not certain in which line: %s", f.Fix.Change, f.Fix.Text)
}

// Bounds of runs that are too long for the budget: for how many pairs there must be time, and the fewest steps of a run.
const (
	pairsInBudget = 6
	fewestSteps   = 60
)

// bound ends each run after some steps, where whole runs are too long for the budget and the finding is of the step.
func (o *proveOptions) bound(t *trial, r *report.Report) {
	if o.steps > 0 || r.Run == nil || len(r.Steps) == 0 || !t.perStep() {
		return
	}
	steps, whole := float64(r.Steps[0].Count), r.Run.WallS
	share := o.budget.Seconds() / (2 * pairsInBudget) / whole
	if share < 1 && steps > fewestSteps {
		o.steps = int64(max(steps*share, fewestSteps))
	}
}

// libraryFile says that a file is an installed one.
func libraryFile(file string) bool {
	return strings.Contains(file, "/site-packages/") || strings.Contains(file, "/dist-packages/")
}

// outputArgument matches arguments that name where a program writes.
var outputArgument = regexp.MustCompile(
	`^--?(o|out|output|save|log|checkpoint|ckpt|results?|export|dump|work)([-_]?(dir|directory|folder|path|file|to|name))?(=|$)`)

// safe asks before a program is run again and again that one run may spoil for the other.
func (o *proveOptions) safe(t *trial, r *report.Report) error {
	if o.yes {
		return nil
	}
	if n := len(r.Ranks); n > 1 {
		return usage(
			"prove: the program starts %d ranks, which use ports and devices that other programs may need; run it all the same: --yes", n)
	}
	for i, word := range t.command {
		if !outputArgument.MatchString(word) {
			continue
		}
		_, path, given := strings.Cut(word, "=")
		if !given && i+1 < len(t.command) {
			path = t.command[i+1]
		}
		if o.temporary && path != "" && !filepath.IsAbs(path) {
			continue
		}
		return usage("prove: each run would write to the same place (%s %s): run it in a copy of the working directory "+
			"(--in-temporary-directory), or all the same (--yes)", word, path)
	}
	return nil
}

// perStep says that the finding is of the step.
func (t *trial) perStep() bool { return t.finding.Of != "run" }

// document is a proof before anything was run.
func (t *trial) document() *report.Proof {
	f := t.finding
	p := &report.Proof{Schema: report.ProofSchema, Tool: Version(), Verdict: report.ProofUndecided, Outputs: report.OutputsUnknown,
		Bound: t.change.ablate != nil, Command: t.launcher.Command, Notes: []string{}, Original: report.DiffSide{Runs: []report.DiffRun{}},
		Changed: report.DiffSide{Runs: []report.DiffRun{}}, Per: "run", InTurns: report.DiffTurns{Failed: []string{}},
		Finding: report.ProofFinding{Number: t.number, Cause: f.Cause, Sub: f.Sub, Title: f.Title, Change: t.change.words}}
	if a := t.change.ablate; a != nil {
		p.Notes = append(p.Notes, a.bound)
	}
	if s := f.Saving; s != nil {
		p.Promised = report.Saved{RunS: s.RunS, StepMs: s.StepMs}
	}
	if a := f.Fix.Action; a != nil && a.Saving != nil && t.change.ablate == nil {
		p.Promised = *a.Saving // of the change that is made, where the finding's fix is another one
	}
	if t.change.file != "" {
		p.Finding.Where = &report.Place{File: t.change.file, Line: t.change.edit.Line}
		p.Finding.Change, p.Finding.Was = t.change.edit.New, t.change.edit.Old
		if t.change.edit.Insert {
			p.Finding.Was, p.Finding.Before = "", t.change.edit.Old
		}
	}
	return p
}

// patch is the change of a file, by its path from the top of its git working tree, else from the program's working directory.
func (t *trial) patch() string {
	if t.change.file == "" {
		return ""
	}
	top, err := git(context.Background(), filepath.Dir(t.change.file), "rev-parse", "--show-toplevel")
	if err != nil {
		top = t.launcher.CWD
	}
	name, err := filepath.Rel(top, t.change.file)
	if err != nil || !filepath.IsLocal(name) {
		name = filepath.Base(t.change.file)
	}
	return overlay.Patch(filepath.ToSlash(name), t.before, t.after)
}

// made asks that a run was of the changed program.
func (t *trial) made(run compare.Run) error {
	if err := t.overlaid(run); err != nil {
		return err
	}
	return t.taken(run)
}

// overlaid asks that the changed file was what ran.
func (t *trial) overlaid(run compare.Run) error {
	if _, original := run.Sources[t.change.file]; original && t.change.file != "" {
		return unusable(fmt.Errorf("the original %s was imported in place of the changed copy: the program sets its own path of imports",
			filepath.Base(t.change.file)))
	}
	return nil
}

func commandLine(command []string) string { return strings.Join(command, " ") }
