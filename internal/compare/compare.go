package compare

import (
	"bottleneck/internal/report"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Options say how two sides are compared.
type Options struct {
	Per     string // one of Units; "" = per step where both have steps, else per run
	Anyway  bool   // also where the sides are of two workloads
	Version string // of bottleneck
	// InTurns says that the nth runs of both sides were made one after the other: their differences are judged, by a test that may be
	// looked
	// at after every pair.
	InTurns bool
	// Proof says that it is the one change of a proof, whose interval holds at 95 % in place of 99; and a run's step is the mean of its
	// steps, as in what findings promise, not their median.
	Proof bool
}

// comparison is a Diff at work.
type comparison struct {
	per           string
	inTurns       bool
	before, after []timed
	texts         *texts
	sums          map[string][2]*sums
}

// Diff compares two sides. Where they are of two workloads and the options do not say "anyway", the document says no more than what is
// unlike. The error says why there is nothing to compare.
func Diff(before, after Side, opt Options) (*report.Diff, error) {
	c, basis, notes, err := prepare(before, after, opt)
	if err != nil {
		return nil, err
	}
	a, b := before.Runs[0].Report, after.Runs[0].Report
	d := &report.Diff{Schema: report.DiffSchema, Tool: opt.Version, Verdict: report.Unlike, Per: c.per,
		Before: side(before, c.before, basis), After: side(after, c.after, basis), Rows: []report.DiffRow{}, Memory: []report.DiffBytes{},
		Counters: []report.DiffCount{}, Around: around(a, b), Notes: notes,
		Findings: report.DiffFound{Gone: []report.DiffFinding{}, New: []report.DiffFinding{}, Changed: []report.DiffFinding{}}}
	by := independent
	if opt.InTurns {
		by, d.InTurns = inTurns, &report.DiffTurns{Pairs: min(len(c.before), len(c.after)), Level: meanLevel, Failed: []string{}}
		if opt.Proof {
			by, d.InTurns.Level = inProof, proofLevel
		}
	}
	kinds := [2][]costs{c.costsOf(false), c.costsOf(true)}
	for i, k := range kinds[0] {
		c.sums[k.kind] = [2]*sums{collect(c.before, k.of), collect(c.after, kinds[1][i].of)}
	}
	d.Notes = append(d.Notes, sideNotes(before)...)
	d.Notes = append(d.Notes, sideNotes(after)...)
	if d.Unlike = c.unlike(); len(d.Unlike) > 0 && !opt.Anyway {
		d.Step = report.DiffStep{BeforeMs: medianOf(c.before), AfterMs: medianOf(c.after)}
		d.Step.DifferenceMs = d.Step.AfterMs - d.Step.BeforeMs
		d.Sentence = unlikeSentence(d)
		return d, nil
	}
	judge(d, c.before, c.after, by)
	for _, k := range kinds[0] {
		for _, r := range account(k.kind, c.sums[k.kind][0], c.sums[k.kind][1], d.Step.DifferenceMs, by) {
			d.Rows = append(d.Rows, r.document())
		}
	}
	d.Memory = append(d.Memory, memoryRows(a, b)...)
	d.Counters = append(d.Counters, c.counters()...)
	d.Findings = c.findings()
	d.Sentence = sentence(d)
	return d, nil
}

// prepare chooses the unit and brings all runs to it.
func prepare(before, after Side, opt Options) (c *comparison, basis string, notes []string, err error) {
	if len(before.Runs) == 0 || len(after.Runs) == 0 {
		return nil, "", nil, errors.New("a side holds no run")
	}
	notes = []string{}
	c = &comparison{per: opt.Per, inTurns: opt.InTurns, sums: map[string][2]*sums{}}
	if c.per == "" {
		c.per = perStep
		if commonBasis(perStep, before, after) == "" {
			c.per = perRun
			for _, s := range []Side{before, after} {
				if commonBasis(perStep, s) == "" {
					notes = append(notes, fmt.Sprintf("%s has no steps: runs are compared as wholes", s.Path))
				}
			}
		}
	}
	if basis = commonBasis(c.per, before, after); basis == "" {
		return nil, "", nil, nothingCommon(c.per, before, after)
	}
	if c.before, err = timeSide(before, c.per, basis, opt.Proof); err != nil {
		return nil, "", nil, err
	}
	if c.after, err = timeSide(after, c.per, basis, opt.Proof); err != nil {
		return nil, "", nil, err
	}
	if basis == basisTraced {
		notes = append(notes, "the times are of steps under a profiler: what tracing costs is part of them")
	}
	c.texts = relate(userSources(before), userSources(after))
	return c, basis, notes, nil
}

// nothingCommon says what each side has instead.
func nothingCommon(per string, sides ...Side) error {
	text := ""
	for _, s := range sides {
		all := map[string]bool{}
		for _, unit := range []string{perStep, perRun} {
			for _, run := range s.Runs {
				for basis := range bases(run.Report, unit) {
					all[basis] = true
				}
			}
		}
		has := "no times"
		if len(all) > 0 {
			has = "times of " + fmt.Sprint(slices.Sorted(maps.Keys(all)))
		}
		text += fmt.Sprintf("; %s has %s", s.Path, has)
	}
	if per == perRun {
		return fmt.Errorf("the two have no time in common%s", text)
	}
	return fmt.Errorf("there are no steps on both sides to compare per %s%s; try --per run", per, text)
}

// userSources are the texts of a side's programs, without libraries.
func userSources(s Side) map[string][]string {
	out := map[string][]string{}
	for _, run := range s.Runs {
		for file, text := range run.Sources {
			if _, library := libraryPath(file); !library && out[file] == nil {
				out[file] = text
			}
		}
	}
	return out
}

func side(s Side, runs []timed, basis string) report.DiffSide {
	out := report.DiffSide{Path: s.Path, Basis: basis, Runs: []report.DiffRun{}}
	for i := range runs {
		out.Runs = append(out.Runs, runs[i].DiffRun)
	}
	return out
}

// fewSteps is below how many steps a run's median says little.
const fewSteps = 30

// sideNotes say what makes a side's runs less than whole.
func sideNotes(s Side) []string {
	var out []string
	for i, run := range s.Runs {
		r := run.Report
		name := s.Path
		if len(s.Runs) > 1 {
			name += fmt.Sprintf(", run %d", i+1)
		}
		switch {
		case r.Growing:
			out = append(out, name+": the program is still running, what it has recorded so far is compared")
		case r.Run != nil && r.Run.Signal != nil:
			out = append(out, fmt.Sprintf("%s: the program was ended by %s", name, *r.Run.Signal))
		case r.Run != nil && r.Run.ExitCode != 0:
			out = append(out, fmt.Sprintf("%s: the program ended with exit status %d", name, r.Run.ExitCode))
		}
		for _, in := range r.Inputs {
			for _, d := range in.Diagnostics {
				out = append(out, fmt.Sprintf("%s: %s: %s", name, in.Path, d.Text))
			}
		}
		if len(r.Steps) > 0 && r.Steps[0].Count < fewSteps {
			out = append(out, fmt.Sprintf("%s: %d steps are few: their median moves with any one of them", name, r.Steps[0].Count))
		}
	}
	return out[:min(len(out), 20)]
}

// memoryRows split the difference of each device's peak by what held it.
func memoryRows(before, after *report.Report) []report.DiffBytes {
	a, b := memory(before), memory(after)
	devices := map[string]bool{}
	for key := range a {
		devices[key[0]] = true
	}
	var out []report.DiffBytes
	for key, bytes := range b {
		if devices[key[0]] {
			out = append(out, report.DiffBytes{Device: key[0], Name: key[1], Before: a[key], After: bytes})
		}
	}
	for key, bytes := range a {
		if _, has := b[key]; !has && b[[2]string{key[0], "peak"}] > 0 {
			out = append(out, report.DiffBytes{Device: key[0], Name: key[1], Before: bytes})
		}
	}
	for i := range out {
		out[i].Difference = out[i].After - out[i].Before
	}
	slices.SortFunc(out, bySize)
	return out
}
