package view

import (
	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/timed"
	"bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/units"
	"bottleneck/internal/wording"
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// results are what the analyses gave and several parts of the report use.
type results struct {
	account *analyse.Breakdown
	ctx     *facts.Facts
	found   cause.Result
	traced  *traced.Traced // traces from elsewhere with device work
}

// analyse accounts for the step, finds the causes and says the verdict.
func (b *builder) analyse() {
	p := analyse.Driver(b.s)
	if p != nil && p.Samples.Foreign != "" && len(b.s.Traces) == 0 {
		b.foreignProfile(p)
		return
	}
	b.res.account = analyse.StepBreakdown(b.s, p)
	if p == nil || len(b.res.account.Windows) == 0 {
		b.foreign()
		return
	}
	b.res.ctx = facts.NewFacts(b.s, b.res.account)
	b.res.found = cause.Find(b.res.ctx)
	b.guard("measured prices", func() {
		if m := b.opt.Measured; m != nil {
			b.res.found.Measure(b.res.ctx, m.fixes(), m.repeatedByRecorded())
		}
	})
	b.guard("savings in order", func() {
		r := replay.NewSession(b.s, b.res.account)
		b.res.found.PriceInput(b.res.ctx, r)
		cause.InOrder(b.res.found.Findings, b.res.ctx, r)
	})
	b.r.Unread = append(b.r.Unread, b.res.found.Skipped...)
	b.parts(b.res.account)
	for i := range b.res.found.Findings {
		b.r.Findings = append(b.r.Findings, b.finding(&b.res.found.Findings[i]))
	}
	b.verdict()
}

// unevenSteps is the mean of the steps, as a multiple of their median, from which a report says that the two differ.
const unevenSteps = 1.15

// parts writes the account: mean shares of the accounted steps times their median.
func (b *builder) parts(a *analyse.Breakdown) {
	p := a.Process
	acc := &Account{Unit: "run", TotalMs: a.Median / 1e6, Process: processName(p), Rank: rankPtr(p.Rank), Steps: a.Steps(), Samples: len(a.Samples), Notes: append([]string{}, a.Notes...)}
	if a.PerStep {
		acc.Unit = "step"
		// The account may leave out steps in which a profiler started; the time shown is that of all unprofiled steps.
		if len(b.r.Steps) > 0 && b.r.Steps[0].Baseline != nil && b.r.Steps[0].Kind == b.s.Strings.Text(a.Kind) {
			acc.TotalMs = b.r.Steps[0].Baseline.MedianMs
		}
		if mean := a.Mean() / 1e6; acc.TotalMs > 0 && mean > unevenSteps*acc.TotalMs {
			acc.Notes = append(acc.Notes, fmt.Sprintf("half of the steps take less than %s, but their mean is %s: savings a step are of the mean", units.Milliseconds(acc.TotalMs), units.Milliseconds(mean)))
		}
	}
	acc.Basis = fmt.Sprintf("%s, %s", counted(a.Steps(), a.Phase.String()+" step"), counted(len(a.Samples), "sample"))
	if !a.PerStep {
		acc.Basis = "the whole run, " + counted(len(a.Samples), "sample")
	}
	if busy := b.s.Environment.OthersBusyCores; busy != nil && *busy >= 0.25 {
		acc.Notes = append(acc.Notes, fmt.Sprintf("other programs kept %.1f cores busy meanwhile: times are longer than on an idle machine", *busy))
	}
	b.r.Account = acc
	for _, part := range a.Parts {
		if part.Time <= 0 && part.ID != analyse.PartUnknown {
			continue
		}
		share := part.Time / a.Total
		row := Part{Part: part.ID.String(), Share: share, Ms: share * acc.TotalMs, Basis: string(part.Basis)}
		for _, k := range part.Kinds {
			s := k.Time / a.Total
			row.Of = append(row.Of, Part{Part: string(k.Kind), Share: s, Ms: s * acc.TotalMs})
		}
		b.r.Breakdown = append(b.r.Breakdown, row)
	}
}

func processName(p *model.Process) string {
	if p.Rank >= 0 {
		return fmt.Sprintf("rank %d (pid %d)", p.Rank, p.PID)
	}
	return fmt.Sprintf("%s (pid %d)", nonEmptyRole(p.Role), p.PID)
}

func nonEmptyRole(r model.Role) model.Role {
	if r == "" {
		return model.RoleOther
	}
	return r
}

func (b *builder) finding(f *finding.Finding) Finding {
	out := Finding{Cause: f.Cause, Sub: f.Sub, Title: f.Title.String(), Share: f.Share, Of: "run", Where: where(f.Where), Evidence: []Evidence{},
		Fix: fix(&f.Fix), Caveat: wording.Sentences(f.Caveat), Confidence: confidence(f), Stops: f.Stops}
	if !f.OfRun && b.res.ctx != nil {
		out.Of = b.res.ctx.Unit()
	}
	if f.Run.High > 0 {
		out.Saving = &Saving{RunS: timeRange(f.Run, 1e9)}
		if f.Step.High > 0 && !f.OfRun && b.res.account.PerStep {
			out.Saving.StepMs = timeRange(f.Step, 1e6)
		}
		if f.InOrder != nil {
			out.Saving.InOrderMs, out.Saving.LeftMs = ptr(f.InOrder.Step/1e6), ptr(f.InOrder.After/1e6)
		}
	}
	for _, e := range f.Evidence {
		out.Evidence = append(out.Evidence, evidence(e))
	}
	if f.Because != nil {
		out.Because = ptr(b.finding(f.Because))
	}
	return out
}

// evidence is a text with the number that it is about, and all of its facts.
func evidence(t wording.Text) Evidence {
	out := Evidence{Text: t.String(), ID: t.ID, Facts: factsOf(t)}
	switch main := t.Main(); {
	case main == nil:
	case main.Unit == wording.Nanoseconds:
		out.Value, out.Unit = ptr(main.Value/1e6), "ms"
	case main.Unit == wording.Bytes:
		out.Value, out.Unit = ptr(main.Value), "bytes"
	default:
		out.Value = ptr(main.Value)
	}
	return out
}

func factsOf(t wording.Text) (out []Fact) {
	for i := range t.Facts {
		switch f := &t.Facts[i]; f.Unit {
		case wording.Name:
			out = append(out, Fact{ID: f.ID, Name: f.Name})
		case wording.Part:
			out = append(out, factsOf(*f.Of)...)
		default:
			out = append(out, Fact{ID: f.ID, Value: ptr(f.Value), Unit: string(f.Unit)})
		}
	}
	return out
}

func fix(f *finding.Fix) Fix {
	a := &f.Action
	out := Fix{Text: wording.Sentences(f.Advice), Change: a.Change(), Was: a.Old}
	if a.File != "" {
		out.Where = &Place{cleanPath(a.File), a.Line}
	}
	if a.Kind == finding.Advice {
		return out
	}
	out.Action = &Action{Kind: string(a.Kind), Call: a.Call, Variable: a.Variable, Value: a.Value, Line: a.Code + a.New}
	for _, g := range a.Arguments {
		out.Action.Arguments = append(out.Action.Arguments, Argument(g))
	}
	return out
}

// confidence is that in a finding's cause and that in its saving.
func confidence(f *finding.Finding) *Confidence {
	out := &Confidence{Level: f.Confidence.Level, Why: wording.Parts(f.Confidence.Why)}
	if s := f.SavingConfidence(); s.Level != "" {
		out.Saving = &Confidence{Level: s.Level, Why: wording.Parts(s.Why)}
	}
	return out
}

func timeRange(r finding.Range, unit float64) *Range {
	return &Range{r.Low / unit, r.Mid / unit, r.High / unit}
}

func where(w finding.Where) Where {
	return Where{File: cleanPath(w.File), Line: w.Line, Function: w.Function, Source: w.Source, Op: w.Op, Rank: rankPtr(w.Rank), Process: w.Process}
}

// verdict is the first finding that saves something, as a sentence; without one, what the program is bound by.
func (b *builder) verdict() {
	v := Verdict{Bound: b.bound()}
	i := slices.IndexFunc(b.r.Findings, func(f Finding) bool { return f.counts() })
	if i < 0 {
		v.Sentence = b.mostlyStartUp() + b.healthy()
		v.Confidence = b.accountConfidence()
		b.r.Verdict = v
		return
	}
	f := &b.r.Findings[i]
	v.Sentence = sentence(f)
	if f.Confidence != nil {
		v.Confidence = *f.Confidence
	}
	b.r.Verdict = v
}

// sentence is a finding in one sentence: share, cause, place, saving.
func sentence(f *Finding) string {
	s := f.Title
	if at := atPlace(f.Where); at != "" {
		s += ": " + at
	}
	if f.Stops {
		return s + "."
	}
	return s + "; " + savingText(f.Saving) + "."
}

// cleanPath removes "." and ".." steps that a command line brought into a path; names such as "<string>" stay.
func cleanPath(file string) string {
	if strings.Contains(file, "/.") && !strings.HasPrefix(file, "<") {
		return path.Clean(file)
	}
	return file
}

// atPlace names a place with the file's base name.
func atPlace(w Where) string {
	var s string
	switch {
	case w.File != "" && w.Function != "" && !strings.HasPrefix(w.Function, "<"):
		s = fmt.Sprintf("%s() at %s:%d", lastPart(w.Function), base(w.File), w.Line)
	case w.File != "":
		s = fmt.Sprintf("%s:%d", base(w.File), w.Line)
	case w.Op != "":
		s = w.Op
	}
	if w.Rank != nil && s != "" {
		s = fmt.Sprintf("%s on rank %d", s, *w.Rank)
	}
	return s
}

func base(file string) string { return path.Base(strings.ReplaceAll(file, `\`, "/")) }

// lastPart is a qualified name's own part, without the functions that enclose it.
func lastPart(name string) string {
	if i := strings.LastIndex(name, "<locals>."); i >= 0 {
		return name[i+len("<locals>."):]
	}
	return name
}

func savingText(s *Saving) string {
	switch {
	case s == nil:
		return "no saving known"
	case s.StepMs != nil:
		return fmt.Sprintf("fixing it saves %s a step, about %s of this run", units.Range(s.StepMs.Low, s.StepMs.High, units.Milliseconds), units.Seconds(s.RunS.Mid))
	}
	return fmt.Sprintf("fixing it saves %s of this run", units.Range(s.RunS.Low, s.RunS.High, units.Seconds))
}

// mostlyStartUp says of a run whose steps are the smaller part of it what the larger one is: a healthy step is no news to somebody
// who waits for the rest. "" for others.
func (b *builder) mostlyStartUp() string {
	if b.res.ctx == nil {
		return ""
	}
	total, imports := timed.StartUp(b.res.ctx)
	wall := b.res.ctx.Wall
	if wall <= 0 || total < 0.5*wall {
		return ""
	}
	return fmt.Sprintf("%s of this run passes before its steps reach their speed, %s of that in imports. In the steps: ", units.Percent(min(total/wall, 1)), units.Percent(min(imports/total, 1)))
}

// healthy says that nothing is wrong, and down to which share that is known.
func (b *builder) healthy() string {
	a := b.res.account
	unit := b.res.ctx.Unit()
	if p := a.Part(analyse.PartUnknown); a.Total > 0 && p > 0.3*a.Total {
		why := "no samples and no traced steps there"
		if n := len(a.Samples); n > 0 && n < analyse.MinRestSamples {
			why = counted(n, "sample") + " are too few to split it: run longer, or sample more often with --rate"
			if n == 1 {
				why = strings.Replace(why, " are ", " is ", 1)
			}
		}
		return fmt.Sprintf("not enough data to say where the %s goes: %s of it is unknown (%s).", unit, units.Percent(p/a.Total), why)
	}
	compute := (a.Part(analyse.PartOps) + a.Part(analyse.PartGPUCompute)) / a.Total
	floor := max(finding.Floor, b.res.found.Largest)
	if i := slices.IndexFunc(b.res.found.Findings, func(f finding.Finding) bool { return f.Cause == finding.NoDemand && f.Share >= 0.3 }); i >= 0 {
		return b.res.found.Findings[i].Title.String() + fmt.Sprintf("; nothing above %s to save was found.", units.Percent(floor))
	}
	if compute < 0.5 {
		top := ""
		if len(a.Parts) > 0 {
			top = fmt.Sprintf("; most of it is %s (%s)", a.Parts[0].ID, units.Percent(a.Parts[0].Time/a.Total))
		}
		if len(a.Parts) > 1 && a.Parts[0].ID == analyse.PartProfiler {
			top = fmt.Sprintf("; %s of it is tracing itself (a longer run or --no-trace shows more), then %s (%s)",
				units.Percent(a.Parts[0].Time/a.Total), a.Parts[1].ID, units.Percent(a.Parts[1].Time/a.Total))
		}
		return fmt.Sprintf("no single cause above %s of the %s was found%s.", units.Percent(floor), unit, top)
	}
	return fmt.Sprintf("healthy: %s of each %s is computing%s; nothing above %s to save was found.", units.Percent(compute), unit, b.ofPeak(), units.Percent(floor))
}

func (b *builder) accountConfidence() Confidence {
	a := b.res.account
	why := counted(len(a.Samples), "sample")
	if a.PerStep {
		why += " in " + counted(a.Steps(), "step")
	} else {
		why += " of the run"
	}
	switch {
	case len(a.Samples) >= 200 && (a.Steps() >= 10 || !a.PerStep):
		return Confidence{Level: "high", Why: why}
	case len(a.Samples) >= 40:
		return Confidence{Level: "medium", Why: why}
	}
	return Confidence{Level: "low", Why: why}
}

// bound is what most of the time goes to, in one word.
func (b *builder) bound() string {
	a := b.res.account
	words := map[analyse.PartID]string{analyse.PartDataWait: "input", analyse.PartComm: "communication", analyse.PartOps: "cpu", analyse.PartPython: "python",
		analyse.PartGPUCompute: "gpu", analyse.PartIO: "io", analyse.PartGC: "python", analyse.PartCompile: "compile", analyse.PartSync: "gpu",
		analyse.PartGILWait: "python", analyse.PartBlocked: "waiting", analyse.PartImport: "start-up"}
	for _, p := range a.Parts {
		if w := words[p.ID]; w != "" && p.Time > 0 {
			return w
		}
	}
	return "unknown"
}

// foreign says the verdict on traces from elsewhere, from what their devices and threads did.
func (b *builder) foreign() {
	b.nothing()
	var gpus []analyse.GPU
	for _, of := range b.gpus() {
		gpus = append(gpus, of...)
	}
	switch {
	case len(gpus) > 0:
		b.foreignGPU(gpus)
	case len(b.s.Traces) > 0:
		b.foreignCPU()
	case len(b.s.Calls) > 0:
		b.foreignCalls()
		b.foreignLines()
	}
}

// foreignGPU cuts the devices' span into compute, exposed communication, exposed copies and idle by cause.
func (b *builder) foreignGPU(gpus []analyse.GPU) {
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
	b.r.Account = &Account{Unit: total.unit, TotalMs: total.ms, Process: fmt.Sprintf("%d device(s)", len(gpus)), Basis: "the traced work of the devices", Notes: notes}
	for _, name := range []string{"GPU compute", "communication, exposed", "GPU copy, exposed", "GPU idle"} {
		part := Part{Part: name, Share: times[name] / span, Ms: times[name] / span * total.ms, Basis: "trace"}
		if name == "GPU idle" {
			part.Of = sharesOf(idle, span, total.ms)
		}
		if times[name] > 0 {
			b.r.Breakdown = append(b.r.Breakdown, part)
		}
	}
	slices.SortStableFunc(b.r.Breakdown, func(x, y Part) int { return cmp.Compare(y.Share, x.Share) })
	b.closeParts(total.ms)
	b.foreignFindings(gpus)
	bound := map[string]string{"GPU compute": "gpu", "communication, exposed": "communication", "GPU copy, exposed": "gpu", "GPU idle": "cpu"}[b.r.Breakdown[0].Part]
	b.r.Verdict = b.tracedVerdict(bound)
	switch {
	case aside == "":
	case slices.ContainsFunc(b.r.Findings, func(f Finding) bool { return f.Saving != nil }):
		if len(gpus) == 1 && span < 0.5*b.stepsNs() {
			b.r.Verdict.Bound, b.r.Verdict.Sentence = "cpu", "Most of the traced time is not the devices': "+aside+". Of theirs: "+lowerFirst(b.r.Verdict.Sentence)
		} else {
			b.r.Verdict.Sentence += " But " + aside + "."
		}
	default:
		b.r.Verdict.Bound, b.r.Verdict.Sentence = "cpu", "Little of the traced time is the devices': "+aside+"."
	}
}

// tracedTotal is what shares of a foreign trace are multiplied with.
type tracedTotal struct {
	unit string
	ms   float64
}

func (b *builder) tracedStepMs(otherwise float64) tracedTotal {
	if len(b.r.Steps) > 0 && b.r.Steps[0].Traced != nil {
		return tracedTotal{"step", b.r.Steps[0].Traced.MedianMs}
	}
	return tracedTotal{"run", otherwise}
}

// mostlyAside says that devices worked, from their first to their last work in nanoseconds, for less than most of what a
// trace's steps took: then the shares of that time are not those of a step. "" where they are, or where there are no steps.
func (b *builder) mostlyAside(span float64) string {
	if len(b.r.Steps) == 0 || b.r.Steps[0].Traced == nil {
		return ""
	}
	if span >= 0.8*b.stepsNs() {
		return ""
	}
	return fmt.Sprintf("from its first to its last work a device was traced for %s, the steps took %s", units.Seconds(span/1e9), units.Seconds(b.stepsNs()/1e9))
}

// stepsNs is how long the steps of one trace took together, in nanoseconds; there are steps.
func (b *builder) stepsNs() float64 { return b.r.Steps[0].TotalS / float64(len(b.s.Traces)) * 1e9 }

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
func (b *builder) closeParts(total float64) {
	left := 1.0
	for _, p := range b.r.Breakdown {
		left -= p.Share
	}
	left = max(left, 0)
	b.r.Breakdown = append(b.r.Breakdown, Part{Part: "unknown", Share: left, Ms: left * total, Basis: "remainder"})
}

// cpuSteps are the parts of the steps of a trace without device work.
func (b *builder) cpuSteps(trace int) []analyse.StepParts {
	if b.merged != nil {
		return b.merged.cpu[trace]
	}
	return analyse.StepPartsOf(b.s.Traces[trace], b.s.Strings)
}

// foreignCPU cuts the steps of a trace without device work by its exclusive parts.
func (b *builder) foreignCPU() {
	times := map[string]float64{}
	span := 0.0
	names := map[analyse.StepPartKind]string{analyse.StepDataLoader: "data wait", analyse.StepCPUOp: "CPU operators", analyse.StepRuntime: "device runtime calls"}
	for i := range b.s.Traces {
		for _, st := range b.cpuSteps(i) {
			span += float64(st.End - st.Start)
			for k, name := range names {
				times[name] += float64(st.Parts[k])
			}
			times["CPU operators"] += float64(st.HiddenCommunication)
			times["communication, exposed"] += float64(st.Parts[analyse.StepCommunication] - st.HiddenCommunication)
		}
	}
	if span <= 0 {
		return
	}
	total := b.tracedStepMs(span / 1e6)
	b.r.Account = &Account{Unit: total.unit, TotalMs: total.ms, Process: "traced threads", Basis: "traced steps", Notes: []string{"times include what tracing cost"}}
	for _, part := range sharesOf(times, span, total.ms) {
		if part.Share > 0 {
			part.Basis = "trace"
			b.r.Breakdown = append(b.r.Breakdown, part)
		}
	}
	b.closeParts(total.ms)
	end := "; the trace alone prices no fix."
	if n := b.blindLaunches(); n > 0 {
		b.r.Account.Notes = append(b.r.Account.Notes, fmt.Sprintf("GPU not observed: %s launches of kernels, and the trace holds none of their work", units.Count(n)))
		end = "; the GPU was not observed, and the trace alone prices no fix."
	}
	text := "the trace shows no operator"
	if top := b.r.Breakdown[0]; top.Part != "unknown" {
		text = fmt.Sprintf("%s of the traced time is %s", units.Percent(top.Share), top.Part)
		if rest := b.r.Breakdown[len(b.r.Breakdown)-1]; rest.Share > top.Share {
			text = fmt.Sprintf("the trace shows no operator for %s of its time; %s is %s", units.Percent(rest.Share), units.Percent(top.Share), top.Part)
		}
	}
	b.r.Verdict = Verdict{Bound: "cpu", Sentence: text + end, Confidence: Confidence{Level: "medium", Why: "a trace without an unprofiled baseline"}}
}

// blindLaunches counts calls that launch kernels, for traces without device work.
func (b *builder) blindLaunches() int64 {
	n := 0
	for _, t := range b.s.Traces {
		n += len(analyse.LaunchCalls(t, b.s.Strings))
	}
	return int64(n)
}

// foreignCalls says what a deterministic profile (cProfile) shows.
func (b *builder) foreignCalls() {
	calls := b.s.Calls[0]
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
		at = fmt.Sprintf("%s at %s:%d", f.Name, base(f.File), f.Line)
	}
	b.r.Verdict = Verdict{Bound: "python", Sentence: fmt.Sprintf("%s of the recorded time is in %s itself (%s); a profile of calls prices no fix.",
		units.Percent(float64(f.Own)/float64(calls.Total())), at, units.Seconds(f.Own.Seconds())), Confidence: Confidence{Level: "medium", Why: "call counts and sums without times"}}
}
