package report

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
	"bottleneck/internal/units"
)

func (b *Builder) run() {
	run := b.S.Run
	if run == nil {
		return
	}
	out := &Run{Command: orEmpty(run.Command), ExitCode: run.ExitCode, Notes: orEmpty(slices.Clone(run.Notes)), Phases: []Phase{}}
	if run.Signal != "" {
		out.Signal = ptr(run.Signal)
	}
	if run.End > run.Start {
		out.WallS = float64(run.End-run.Start) / 1e9
	}
	own := run.Own
	if own.LongestPause > 0 {
		out.Own.LongestPauseMs = ptr(own.LongestPause.Ms())
	}
	if own.AgentCPU > 0 {
		out.Own.AgentCPUS = ptr(own.AgentCPU.Seconds())
	}
	if own.SamplerCPU > 0 {
		out.Own.SamplerCPUS = ptr(own.SamplerCPU.Seconds())
	}
	if own.LauncherRSS > 0 {
		out.Own.LauncherBytes = ptr(own.LauncherRSS)
	}
	if own.AgentBytes > 0 {
		out.Own.AgentBytes = ptr(own.AgentBytes)
	}
	b.R.Run = out
	if p := account.Driver(b.S); p != nil {
		b.wholeRun(out, p)
		b.phases(out, p)
		b.notes(out, p)
	}
}

// leastPart is the share of a row from which a part of it is worth one: imports in the warm-up, the interpreter's end after the steps.
const leastPart = 0.1

// wholeRun splits the run into what comes before, in, between and after its steps. Waiting for the disk is a part of what waited.
func (b *Builder) wholeRun(out *Run, p *model.Process) {
	steady := 0.0
	for _, part := range account.OfRun(b.S.Run, p) {
		row := runPart(runPartName(b.S.Strings.Text(part.Kind), part), part.Time, out.WallS)
		if part.DiskWait > 0 {
			row.Of = []Part{runPart("waiting for the disk", part.DiskWait, out.WallS)}
		}
		if part.Imports >= leastPart*part.Time && part.Imports > 0 {
			row.Of = []Part{runPart("imports", part.Imports, out.WallS)}
		}
		if part.Exit >= leastPart*part.Time && part.Exit > 0 {
			row.Of = []Part{runPart("the interpreter ends", part.Exit, out.WallS)}
		}
		if part.Time > 0 {
			out.Parts = append(out.Parts, row)
		}
		if part.ID == account.RunSteps {
			steady += row.Share
		}
	}
	if len(out.Parts) > 0 {
		out.Steady = &steady
	}
}

// runPart is a row of ns of a run of so many seconds.
func runPart(name string, ns, wall float64) Part {
	return Part{Part: name, Ms: ns / 1e6, Share: ns / 1e9 / wall}
}

func runPartName(kind string, part account.RunPart) string {
	switch part.ID {
	case account.RunImports:
		return "imports"
	case account.RunPreparation:
		return "preparation"
	case account.RunFirstSteps:
		kind = "warm-up"
	case account.RunBetween:
		return "between steps"
	case account.RunAfter:
		return "after the last step"
	}
	return units.Counted(part.Steps, strings.TrimSpace(kind+" step"))
}

// notes adds what the agent wants said, each text once.
func (b *Builder) notes(out *Run, p *model.Process) {
	for _, n := range p.Notes {
		if n.Text != "" && !slices.Contains(out.Notes, n.Text) && len(out.Notes) < 50 {
			out.Notes = append(out.Notes, n.Text)
		}
	}
}

// phases are start-up, each unbroken stretch of steps of one phase, and the end.
func (b *Builder) phases(out *Run, p *model.Process) {
	origin := b.S.Run.Start
	sec := func(t model.Time) float64 { return float64(t-origin) / 1e9 }
	steps := slices.Clone(p.Steps)
	slices.SortFunc(steps, func(a, c model.Step) int { return cmp.Compare(a.Start, c.Start) })
	if len(steps) == 0 {
		return
	}
	if steps[0].Start > origin {
		out.Phases = append(out.Phases, Phase{"start-up", 0, sec(steps[0].Start), 0})
	}
	for _, st := range steps {
		name := st.Phase.String()
		if k := len(out.Phases); k > 0 && out.Phases[k-1].Name == name {
			out.Phases[k-1].ToS = sec(st.End)
			out.Phases[k-1].Steps += st.Count()
			continue
		}
		if len(out.Phases) >= 200 {
			break
		}
		out.Phases = append(out.Phases, Phase{name, sec(st.Start), sec(st.End), st.Count()})
	}
	if end := b.S.Run.End; end > steps[len(steps)-1].End {
		out.Phases = append(out.Phases, Phase{"end", sec(steps[len(steps)-1].End), sec(end), 0})
	}
}

// steps makes the timing of each kind of step of the driving process; the kind with most time first.
func (b *Builder) steps() {
	p := account.Driver(b.S)
	if p == nil || len(p.Steps) == 0 {
		b.traceSteps()
		return
	}
	var kinds []model.Str
	byKind := map[model.Str][]*model.Step{}
	skipped := map[model.Str]float64{} // seconds of the steps that have no entry, by the kind of the one before
	for i := range p.Steps {
		st := &p.Steps[i]
		if byKind[st.Kind] == nil {
			kinds = append(kinds, st.Kind)
		}
		byKind[st.Kind] = append(byKind[st.Kind], st)
		if st.Skipped > 0 {
			skipped[st.Kind] += float64(p.Steps[i+1].Start-st.End) / 1e9
		}
	}
	for _, k := range kinds {
		row := stepKind(b.S.Strings.Text(k), byKind[k])
		row.TotalS += skipped[k]
		b.R.Steps = append(b.R.Steps, row)
	}
	slices.SortStableFunc(b.R.Steps, func(x, y StepKind) int { return cmp.Compare(y.TotalS, x.TotalS) })
	if b.R.Run != nil {
		b.R.Run.Distortion = b.R.Steps[0].Distortion
	}
}

func stepKind(name string, steps []*model.Step) StepKind {
	k := StepKind{Kind: name, Source: string(steps[0].Source)}
	var base, traced, baseDevice, tracedDevice []float64
	items, itemTime, batches := 0.0, 0.0, 0.0
	for _, st := range steps {
		d := float64(st.End-st.Start) / 1e6
		k.TotalS += d / 1e3
		k.Count += st.Count()
		switch st.Phase {
		case model.PhaseBaseline:
			base, baseDevice = append(base, d), append(baseDevice, float64(st.DeviceDur)/1e6)
			if st.Items > 0 {
				items += float64(st.Items)
				itemTime += d / 1e3
				batches++
			}
		case model.PhaseTrace, model.PhaseDetail:
			traced, tracedDevice = append(traced, d), append(tracedDevice, float64(st.DeviceDur)/1e6)
		}
	}
	baseAhead, tracedAhead := 0.0, 0.0
	base, baseAhead = account.ByDevice(base, baseDevice)
	traced, tracedAhead = account.ByDevice(traced, tracedDevice)
	k.TotalS += (baseAhead + tracedAhead) / 1e3
	itemTime += baseAhead / 1e3
	k.Baseline, k.Traced = quantiles(base), quantiles(traced)
	if k.Baseline != nil && k.Traced != nil && k.Baseline.MedianMs > 0 {
		k.Distortion = ptr(k.Traced.MedianMs / k.Baseline.MedianMs)
	}
	if itemTime > 0 {
		k.ItemsPerSec, k.Items = ptr(items/itemTime), ptr(items/batches)
	}
	return k
}

// quantiles of step times in ms, in the order in which they ran; nil of none. It sorts them. Percentiles need enough steps to mean
// something.
func quantiles(ms []float64) *Quantiles {
	n := len(ms)
	if n == 0 {
		return nil
	}
	batchError, effective, batches := stats.BatchError(ms, median)
	slices.Sort(ms)
	sum := 0.0
	for _, v := range ms {
		sum += v
	}
	q := &Quantiles{Count: n, MedianMs: stats.Quantile(ms, 0.5), MeanMs: ptr(sum / float64(n))}
	if n >= 5 {
		q.P10Ms, q.P90Ms = ptr(stats.Quantile(ms, 0.1)), ptr(stats.Quantile(ms, 0.9))
	}
	if n >= 50 {
		q.P99Ms = ptr(stats.Quantile(ms, 0.99))
	}
	if batches {
		q.ErrorMs, q.Effective = ptr(batchError), ptr(effective)
	}
	return q
}

func median(values []float64) float64 {
	return stats.Quantile(slices.Sorted(slices.Values(values)), 0.5)
}

// traceSteps takes the steps of traces from elsewhere; they ran under the profiler, so that there is no baseline.
func (b *Builder) traceSteps() {
	var ms []float64
	source := ""
	for _, t := range b.S.Traces {
		for _, st := range t.Steps {
			if !st.Warmup && st.End > st.Start {
				ms = append(ms, float64(st.End-st.Start)/1e6)
				source = string(st.Source)
			}
		}
	}
	if len(ms) == 0 {
		return
	}
	k := StepKind{Kind: "step", Source: source, Count: len(ms), Traced: quantiles(ms)}
	for _, v := range ms {
		k.TotalS += v / 1e3
	}
	b.R.Steps = append(b.R.Steps, k)
}
