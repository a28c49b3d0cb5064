package report

import (
	"cmp"
	"fmt"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/analyse/tables"
	"bottleneck/internal/units"
)

// foreign says the verdict on traces from elsewhere, from what their devices and threads did.
func (b *Builder) foreign() {
	b.nothing()
	var gpus []device.GPU
	for _, of := range b.gpus() {
		gpus = append(gpus, of...)
	}
	switch {
	case len(gpus) > 0:
		b.foreignGPU(gpus)
	case len(b.S.Traces) > 0:
		b.foreignCPU()
		if len(b.S.Calls) > 0 && b.R.Breakdown[0].Part == "unknown" { // a trace of every call of a function (VizTracer)
			b.foreignCalls()
		}
	case len(b.S.Calls) > 0:
		b.foreignCalls()
		b.foreignLines()
	}
}

// noteSynchronous says of an account what launches that wait for the device make of its times.
func (b *Builder) noteSynchronous() {
	if b.R.Account != nil && replay.Synchronous(b.S) {
		b.R.Account.Notes = append(b.R.Account.Notes, "times are synchronous (CUDA_LAUNCH_BLOCKING=1): each launch waits for its work, "+
			"so that a line's time holds its kernels' time; what an ordinary run does beside the device is not priced")
	}
}

// foreignGPU cuts the devices' span into compute, exposed communication, exposed copies and idle by cause.
func (b *Builder) foreignGPU(gpus []device.GPU) {
	span := 0.0
	times := map[string]float64{}
	idle := map[string]float64{}
	for i := range gpus {
		g := &gpus[i]
		span += float64(g.Span)
		times["GPU compute"] += float64(g.Compute)
		times["communication, exposed"] += float64(g.ExposedCommunication)
		times["GPU copy, exposed"] += float64(g.ExposedCopy)
		for _, c := range g.IdleBy {
			idle[c.Cause] += float64(c.Dur)
		}
		times["GPU idle"] += float64(g.Idle)
	}
	if span <= 0 {
		return
	}
	total := b.tracedStepMs(span / float64(len(gpus)) / 1e6)
	notes := []string{"times include what tracing cost"}
	aside := b.mostlyAside(span / float64(len(gpus)))
	if aside != "" {
		total = tracedTotal{"run", span / float64(len(gpus)) / 1e6}
		notes = append(notes, aside)
	}
	b.R.Account = &Account{Unit: total.unit, TotalMs: total.ms, Process: fmt.Sprintf("%d device(s)", len(gpus)),
		Basis: "the traced work of the devices", Notes: notes}
	for _, name := range []string{"GPU compute", "communication, exposed", "GPU copy, exposed", "GPU idle"} {
		part := Part{Part: name, Share: times[name] / span, Ms: times[name] / span * total.ms, Basis: "trace"}
		if name == "GPU idle" {
			part.Of = sharesOf(idle, span, total.ms)
		}
		if times[name] > 0 {
			b.R.Breakdown = append(b.R.Breakdown, part)
		}
	}
	slices.SortStableFunc(b.R.Breakdown, func(x, y Part) int { return cmp.Compare(y.Share, x.Share) })
	b.closeParts(total.ms)
	b.noteSynchronous()
	b.foreignFindings(gpus)
	bound := map[string]string{"GPU compute": "gpu", "communication, exposed": "communication", "GPU copy, exposed": "gpu",
		"GPU idle": "cpu"}[b.R.Breakdown[0].Part]
	b.R.Verdict = b.tracedVerdict(bound)
	switch {
	case aside == "":
	case slices.ContainsFunc(b.R.Findings, func(f Finding) bool { return f.Saving != nil }):
		if len(gpus) == 1 && span < 0.5*b.stepsNs() {
			b.R.Verdict.Bound, b.R.Verdict.Sentence = "cpu", "Most of the traced time is not the devices': "+aside+". Of theirs: "+
				units.LowerFirst(b.R.Verdict.Sentence)
		} else {
			b.R.Verdict.Sentence += " But " + aside + "."
		}
	default:
		b.R.Verdict.Bound, b.R.Verdict.Sentence = "cpu", "Little of the traced time is the devices': "+aside+"."
	}
}

// tracedTotal is what shares of a foreign trace are multiplied with.
type tracedTotal struct {
	unit string
	ms   float64
}

func (b *Builder) tracedStepMs(otherwise float64) tracedTotal {
	if len(b.R.Steps) > 0 && b.R.Steps[0].Traced != nil {
		return tracedTotal{"step", b.R.Steps[0].Traced.MedianMs}
	}
	return tracedTotal{"run", otherwise}
}

// mostlyAside says that devices worked, from their first to their last work in nanoseconds, for less than most of what a
// trace's steps took: then the shares of that time are not those of a step. "" where they are, or where there are no steps.
func (b *Builder) mostlyAside(span float64) string {
	if len(b.R.Steps) == 0 || b.R.Steps[0].Traced == nil {
		return ""
	}
	if span >= 0.8*b.stepsNs() {
		return ""
	}
	return fmt.Sprintf("from its first to its last work a device was traced for %s, the steps took %s", units.Seconds(span/1e9),
		units.Seconds(b.stepsNs()/1e9))
}

// stepsNs is how long the steps of one trace took together, in nanoseconds; there are steps.
func (b *Builder) stepsNs() float64 { return b.R.Steps[0].TotalS / float64(len(b.S.Traces)) * 1e9 }

func sharesOf(times map[string]float64, span, total float64) []Part {
	out := []Part{}
	for name, t := range times {
		out = append(out, Part{Part: name, Share: t / span, Ms: t / span * total})
	}
	slices.SortFunc(out, func(x, y Part) int {
		if c := cmp.Compare(y.Share, x.Share); c != 0 {
			return c
		}
		return cmp.Compare(x.Part, y.Part)
	})
	return out
}

// closeParts adds the explicit unknown part.
func (b *Builder) closeParts(total float64) {
	left := 1.0
	for _, p := range b.R.Breakdown {
		left -= p.Share
	}
	left = max(left, 0)
	b.R.Breakdown = append(b.R.Breakdown, Part{Part: "unknown", Share: left, Ms: left * total, Basis: "remainder"})
}

// cpuSteps are the parts of the steps of a trace without device work.
func (b *Builder) cpuSteps(trace int) []account.StepParts {
	if b.merged != nil {
		return b.merged.cpu[trace]
	}
	return account.StepPartsOf(b.S.Traces[trace], b.S.Strings)
}

// foreignCPU cuts the steps of a trace without device work by its exclusive parts.
func (b *Builder) foreignCPU() {
	times := map[string]float64{}
	span := 0.0
	names := map[account.StepPartKind]string{account.StepDataLoader: "data wait", account.StepCPUOp: "CPU operators",
		account.StepRuntime: "device runtime calls"}
	for i := range b.S.Traces {
		for _, st := range b.cpuSteps(i) {
			span += float64(st.End - st.Start)
			for k, name := range names {
				times[name] += float64(st.Parts[k])
			}
			times["CPU operators"] += float64(st.HiddenCommunication)
			times["communication, exposed"] += float64(st.Parts[account.StepCommunication] - st.HiddenCommunication)
		}
	}
	if span <= 0 {
		return
	}
	total := b.tracedStepMs(span / 1e6)
	b.R.Account = &Account{Unit: total.unit, TotalMs: total.ms, Process: "traced threads", Basis: "traced steps",
		Notes: []string{"times include what tracing cost"}}
	for _, part := range sharesOf(times, span, total.ms) {
		if part.Share > 0 {
			part.Basis = "trace"
			b.R.Breakdown = append(b.R.Breakdown, part)
		}
	}
	b.closeParts(total.ms)
	end := "; the trace alone prices no fix."
	if n := b.blindLaunches(); n > 0 {
		b.R.Account.Notes = append(b.R.Account.Notes,
			fmt.Sprintf("GPU not observed: %s launches of kernels, and the trace holds none of their work", units.Count(n)))
		end = "; the GPU was not observed, and the trace alone prices no fix."
	}
	text := "the trace shows no operator"
	if top := b.R.Breakdown[0]; top.Part != "unknown" {
		text = fmt.Sprintf("%s of the traced time is %s", units.Percent(top.Share), top.Part)
		if rest := b.R.Breakdown[len(b.R.Breakdown)-1]; rest.Share > top.Share {
			text = fmt.Sprintf("the trace shows no operator for %s of its time; %s is %s", units.Percent(rest.Share),
				units.Percent(top.Share), top.Part)
		}
	}
	b.R.Verdict = Verdict{Bound: "cpu", Sentence: text + end, Confidence: Confidence{Level: "medium",
		Why: "a trace without an unprofiled baseline"}}
}

// blindLaunches counts calls that launch kernels, for traces without device work.
func (b *Builder) blindLaunches() int64 {
	n := 0
	for _, t := range b.S.Traces {
		n += len(tables.LaunchCalls(t, b.S.Strings))
	}
	return int64(n)
}

// foreignCalls says what a deterministic profile (cProfile) shows.
func (b *Builder) foreignCalls() {
	calls := b.S.Calls[0]
	best := -1
	for i := range calls.Functions {
		if best < 0 || calls.Functions[i].Own > calls.Functions[best].Own {
			best = i
		}
	}
	if best < 0 || calls.Total() <= 0 {
		return
	}
	f := &calls.Functions[best]
	at := f.Name
	if f.File != "~" && f.File != "" {
		at = fmt.Sprintf("%s at %s:%d", f.Name, Base(f.File), f.Line)
	}
	b.R.Verdict = Verdict{Bound: "python",
		Sentence: fmt.Sprintf("%s of the recorded time is in %s itself (%s); a profile of calls prices no fix.",
			units.Percent(float64(f.Own)/float64(calls.Total())), at, units.Seconds(f.Own.Seconds())),
		Confidence: Confidence{Level: "medium", Why: "call counts and sums without times"}}
}
