package report

import (
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/python"
	"bottleneck/internal/analyse/cause/timed"
	"bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/units"
)

// results are what the analyses gave and several parts of the report use.
type results struct {
	account *account.Breakdown
	ctx     *facts.Facts
	found   cause.Result
	traced  *traced.Traced // traces from elsewhere with device work
}

// analyse accounts for the step, finds the causes and says the verdict.
func (b *Builder) analyse() {
	p := account.Driver(b.S)
	if p != nil && p.Samples.Foreign != "" && len(b.S.Traces) == 0 {
		b.foreignProfile(p)
		return
	}
	b.res.account = account.Of(b.S, p)
	if p == nil || len(b.res.account.Windows) == 0 {
		b.foreign()
		return
	}
	b.res.ctx = facts.NewFacts(b.S, b.res.account)
	b.res.found = cause.Find(b.res.ctx, b.ownDevices())
	b.guard("measured prices", func() {
		if m := b.opt.Measured; m != nil {
			b.res.found.Measure(b.res.ctx, m.fixes(), m.repeatedByRecorded())
		}
	})
	b.guard("savings in order", func() {
		r := replay.NewSession(b.S, b.res.account)
		b.res.found.PriceInput(b.res.ctx, r)
		cause.InOrder(b.res.found.Findings, b.res.ctx, r)
	})
	b.R.Unread = append(b.R.Unread, b.res.found.Skipped...)
	b.parts(b.res.account)
	for i := range b.res.found.Findings {
		b.R.Findings = append(b.R.Findings, b.finding(&b.res.found.Findings[i]))
	}
	b.verdict()
}

// ownDevices are the devices that the accounted process worked with, as its traces show them; nil without any.
func (b *Builder) ownDevices() *traced.Traced {
	of := func(t *model.Trace) bool {
		return t.Process >= 0 && t.Process < len(b.S.Processes) && b.S.Processes[t.Process] == b.res.account.Process
	}
	if b.merged != nil || b.res.account.Part(account.PartGPUCompute) <= 0 {
		return nil
	}
	var gpus []device.GPU
	var parts []traced.TracePart
	var traces []*model.Trace
	for i, t := range b.S.Traces {
		if of(t) {
			gpus, parts, traces = append(gpus, b.gpus()[i]...), append(parts, b.traceParts()[i]), append(traces, t)
		}
	}
	t, ok := traced.NewTraced(gpus, device.Kernels(traces, b.S.Strings), parts)
	if !ok {
		return nil
	}
	return t
}

// unevenSteps is the mean of the steps, as a multiple of their median, from which a report says that the two differ.
const unevenSteps = 1.15

// parts writes the account: mean shares of the accounted steps times their median; of uneven steps times their mean, since the shares of a
// mean say nothing about a step that is far from it.
func (b *Builder) parts(a *account.Breakdown) {
	p := a.Process
	acc := &Account{Unit: "run", TotalMs: a.Median / 1e6, Process: processName(p), Rank: RankPtr(p.Rank), Steps: a.Steps(),
		Samples: len(a.Samples), Notes: append([]string{}, a.Notes...)}
	if a.PerStep {
		acc.Unit = "step"
		// The account may leave out steps in which a profiler started; the time shown is that of all unprofiled steps.
		if len(b.R.Steps) > 0 && b.R.Steps[0].Baseline != nil && b.R.Steps[0].Kind == b.S.Strings.Text(a.Kind) {
			acc.TotalMs = b.R.Steps[0].Baseline.MedianMs
		}
		if mean := a.Mean() / 1e6; acc.TotalMs > 0 && mean > unevenSteps*acc.TotalMs {
			acc.Notes = append(acc.Notes,
				fmt.Sprintf("half of the steps take less than %s, but their mean is %s: this table and savings a step are of the mean",
					units.Milliseconds(acc.TotalMs), units.Milliseconds(mean)))
			acc.TotalMs = mean
		}
		b.otherKinds(acc, a)
	}
	acc.Basis = basisOf(a)
	if !a.PerStep {
		acc.Basis = "the whole run, " + units.Counted(len(a.Samples), "sample")
	}
	if busy := b.S.Environment.OthersBusyCores; busy != nil && *busy >= 0.25 {
		acc.Notes = append(acc.Notes, fmt.Sprintf("other programs kept %.1f cores busy meanwhile: times are longer than on an idle machine",
			*busy))
	}
	if text := skippedByScaler(p); text != "" {
		acc.Notes = append(acc.Notes, text)
	}
	b.R.Account = acc
	b.noteSynchronous()
	b.R.Breakdown = append(b.R.Breakdown, partsOf(a, acc.TotalMs)...)
}

// skippedSteps is the share of steps that a gradient scaler skips from which a report says so: by a few at the start it finds its scale.
const skippedSteps = 0.05

// skippedByScaler says how many steps changed no weights, as a scaler found their gradients not finite.
func skippedByScaler(p *model.Process) string {
	skipped, all := p.Counters["scaler_skipped_steps"], 0
	for i := range p.Steps {
		if st := &p.Steps[i]; st.Phase != model.PhaseWarmup {
			all += st.Count()
		}
	}
	if all == 0 || skipped < skippedSteps*float64(all) || skipped < 2 {
		return ""
	}
	return fmt.Sprintf("GradScaler skipped %.0f of %s: gradients overflowed, so that they cost as much as others and changed no weights "+
		"(a lower init_scale starts nearer to what the gradients bear)", skipped, units.Counted(all, "step"))
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

// verdict is the first finding that saves something, as a sentence; without one, what the program is bound by.
func (b *Builder) verdict() {
	v := Verdict{Bound: b.bound()}
	i := slices.IndexFunc(b.R.Findings, func(f Finding) bool { return f.Counts() })
	if i < 0 {
		v.Sentence = b.mostlyStartUp() + b.healthy()
		v.Confidence = b.accountConfidence()
		b.R.Verdict = v
		return
	}
	f := &b.R.Findings[i]
	v.Sentence = sentence(f)
	if what, doubtful := cause.Doubt(b.res.ctx, &b.res.found.Findings[i]); doubtful {
		v.Sentence = "probably: " + v.Sentence + " " + units.UpperFirst(what.String()) + "."
	}
	if f.Saving != nil && f.Saving.StepMs != nil {
		v.Sentence = b.mostlyStartUp() + v.Sentence
	}
	if f.Confidence != nil {
		v.Confidence = *f.Confidence
	}
	b.R.Verdict = v
}

// sentence is a finding in one sentence: share, cause, place, saving.
func sentence(f *Finding) string {
	s := f.Title
	if at := AtPlace(f.Where); at != "" {
		s += ": " + at
	}
	if f.Stops {
		return s + "."
	}
	return s + "; " + savingText(f.Saving) + "."
}

// CleanPath removes "." and ".." steps that a command line brought into a path; names such as "<string>" stay.
func CleanPath(file string) string {
	if strings.Contains(file, "/.") && !strings.HasPrefix(file, "<") {
		return path.Clean(file)
	}
	return file
}

// AtPlace names a place with the file's base name.
func AtPlace(w Where) string {
	var s string
	switch {
	case w.File != "" && w.Function != "" && !strings.HasPrefix(w.Function, "<"):
		s = fmt.Sprintf("%s() at %s:%d", lastPart(w.Function), Base(w.File), w.Line)
	case w.File != "":
		s = fmt.Sprintf("%s:%d", Base(w.File), w.Line)
	case w.Op != "":
		s = w.Op
	}
	if w.Rank != nil && s != "" {
		s = fmt.Sprintf("%s on rank %d", s, *w.Rank)
	}
	return s
}

func Base(file string) string { return path.Base(strings.ReplaceAll(file, `\`, "/")) }

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
	case s.StepMs != nil && s.RunS.Mid <= 0: // the fix itself takes as long as it saves
		return fmt.Sprintf("fixing it saves %s a step of a longer run than this one",
			units.Range(s.StepMs.Low, s.StepMs.High, units.Milliseconds))
	case s.StepMs != nil:
		return fmt.Sprintf("fixing it saves %s a step, about %s of this run", units.Range(s.StepMs.Low, s.StepMs.High, units.Milliseconds),
			units.Seconds(s.RunS.Mid))
	}
	return fmt.Sprintf("fixing it saves %s of this run", units.Range(s.RunS.Low, s.RunS.High, units.Seconds))
}

// mostlyStartUp says of a run whose steps are the smaller part of it what the larger one is: a healthy step is no news to somebody
// who waits for the rest. "" for others.
func (b *Builder) mostlyStartUp() string {
	if b.res.ctx == nil {
		return ""
	}
	total, imports := timed.StartUp(b.res.ctx)
	wall := b.res.ctx.Wall
	if wall <= 0 || total < 0.5*wall {
		return ""
	}
	trials := ""
	for i := range b.res.found.Findings {
		if f := &b.res.found.Findings[i]; f.Repaid {
			trials = fmt.Sprintf(" and %s in trying cuDNN's algorithms", units.Percent(min(f.Share*wall/total, 1)))
		}
	}
	return fmt.Sprintf("%s of this run passes before its steps reach their speed, %s of that in imports%s. In the steps: ",
		units.Percent(min(total/wall, 1)), units.Percent(min(imports/total, 1)), trials)
}

// healthy says that nothing is wrong, and down to which share that is known.
func (b *Builder) healthy() string {
	a := b.res.account
	unit := b.res.ctx.Unit()
	if p := a.Part(account.PartUnknown); a.Total > 0 && p > 0.3*a.Total {
		why := "no samples and no traced steps there"
		if n := len(a.Samples); n > 0 && n < account.MinRestSamples {
			why = units.Counted(n, "sample") + " are too few to split it: run longer, or sample more often with --rate"
			if n == 1 {
				why = strings.Replace(why, " are ", " is ", 1)
			}
		}
		return fmt.Sprintf("not enough data to say where the %s goes: %s of it is unknown (%s).", unit, units.Percent(p/a.Total), why)
	}
	compute := (a.Part(account.PartOps) + a.Part(account.PartGPUCompute)) / a.Total
	floor := max(finding.Floor, b.res.found.Largest)
	if i := slices.IndexFunc(b.res.found.Findings,
		func(f finding.Finding) bool { return f.Cause == finding.NoDemand && f.Share >= 0.3 }); i >= 0 {
		return b.res.found.Findings[i].Title.String() + fmt.Sprintf("; nothing above %s to save was found.", units.Percent(floor))
	}
	if compute < 0.5 {
		top := ""
		if len(a.Parts) > 0 {
			top = fmt.Sprintf("; most of it is %s (%s)", a.Parts[0].ID, units.Percent(a.Parts[0].Time/a.Total))
		}
		if len(a.Parts) > 1 && a.Parts[0].ID == account.PartProfiler {
			top = fmt.Sprintf("; %s of it is tracing itself (a longer run or --no-trace shows more), then %s (%s)",
				units.Percent(a.Parts[0].Time/a.Total), a.Parts[1].ID, units.Percent(a.Parts[1].Time/a.Total))
		}
		return fmt.Sprintf("no single cause above %s of the %s was found%s.", units.Percent(floor), unit, top)
	}
	if text := b.noStepSeen(); text != "" {
		return text
	}
	computing := fmt.Sprintf("%s of each %s is computing%s; nothing above %s to save was found", units.Percent(compute), unit,
		b.ofPeak(), units.Percent(floor))
	if crowd := b.crowd(); crowd != "" {
		return crowd + computing + " in the program." + b.between() + b.untried()
	}
	return "healthy: " + computing + "." + b.between() + b.untried()
}

// noStepSeen says of a training that ended in its first step where its time went: nothing is known of its steps. "" for others.
func (b *Builder) noStepSeen() string {
	a := b.res.account
	if a.PerStep || len(a.Process.Steps) > 0 || !b.res.ctx.BuildsOptimizer() {
		return ""
	}
	chains := facts.ChainsOf(b.res.ctx.C, &a.Process.Samples, a.Samples, func(_ int, at *account.Attributed) bool {
		return at.Part == account.PartOps || at.Part == account.PartGPUCompute || at.Part == account.PartSync
	})
	most := ""
	if lines := facts.LineTimes(chains); len(lines) > 0 && len(chains) >= account.MinRestSamples {
		w := b.res.ctx.Where(lines[0])
		most = fmt.Sprintf(" Most of its computing is at %s (%s).", AtPlace(Where{File: w.File, Line: w.Line, Function: w.Function}),
			units.Seconds(lines[0].Line/1e9)) + b.trying(facts.Sum(chains))
	}
	return "this training ended before one of its steps was seen whole, so that nothing can be said of them: run more of them." + most
}

// trying says that most of a first step's computing, ns, may be cuDNN's trials of its algorithms, as the program asks for them.
func (b *Builder) trying(computing float64) string {
	at, ok := timed.TriesAlgorithms(b.res.ctx)
	if !ok || len(b.S.Environment.GPUs) == 0 {
		return ""
	}
	if t, _ := timed.Trying(b.res.ctx, 0, math.MaxInt64); t < computing/2 {
		return ""
	}
	return fmt.Sprintf(" cuDNN tries its algorithms in a first step, once for each shape, as %s asks for.",
		AtPlace(Where{File: at.File, Line: at.Line}))
}

// between says where much of the run's work is outside of its steps, which the verdict is about.
func (b *Builder) between() string {
	at, time, ok := python.OnTensorsBetween(b.res.ctx)
	if !ok {
		return ""
	}
	return fmt.Sprintf(" Outside of its steps the run spends %s in %s: doing that less often saves it.", units.Percent(time/b.res.ctx.Wall),
		AtPlace(Where{File: at.File, Line: at.Line, Function: at.Function}))
}

func (b *Builder) accountConfidence() Confidence {
	a := b.res.account
	why := units.Counted(len(a.Samples), "sample")
	if a.PerStep {
		why += " in " + units.Counted(a.Steps(), "step")
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
func (b *Builder) bound() string {
	a := b.res.account
	words := map[account.PartID]string{account.PartDataWait: "input", account.PartComm: "communication", account.PartOps: "cpu",
		account.PartPython: "python", account.PartGPUCompute: "gpu", account.PartIO: "io", account.PartGC: "python",
		account.PartCompile: "compile", account.PartSync: "gpu", account.PartGILWait: "python", account.PartBlocked: "waiting",
		account.PartImport: "start-up"}
	for _, p := range a.Parts {
		if w := words[p.ID]; w != "" && p.Time > 0 {
			return w
		}
	}
	return "unknown"
}
