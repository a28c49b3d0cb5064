package traced

import (
	"strings"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// Traced is what the rules on traced devices read. It is made once per report.
type Traced struct {
	GPUs    []device.GPU
	Span    float64 // ns, over all devices
	Total   float64 // ns of the traced steps over all devices, at least Span: a device may be traced for a small part of them
	Busy    float64 // share of the span in which a device works
	Kernels []device.Kernel
	Parts   []TracePart
}

// TracePart is what the rules need of one trace, so that the traces of a large job need not be in memory together.
type TracePart struct {
	Gaps      device.HostGap
	Roofline  *device.Roofline // nil where the trace holds no shapes
	Copies    []device.Copy
	Device    *model.GPU // nil where the trace does not describe it
	Captures  int        // of graphs of device work
	Again     device.Recomputed
	Attention device.Attention
}

// PartOf analyses the device work of one trace.
func PartOf(w *device.Work) TracePart {
	return TracePart{w.HostGaps(), w.Roofline(), w.Copies(), w.Device(), w.Captures(), w.Recomputed(), w.Attention()}
}

// NewTraced prepares the rules; ok is false where the traces hold no device work.
func NewTraced(gpus []device.GPU, kernels []device.Kernel, parts []TracePart) (t *Traced, ok bool) {
	t = &Traced{GPUs: gpus, Kernels: kernels, Parts: parts}
	busy := 0.0
	for i := range gpus {
		t.Span += float64(gpus[i].Span)
		busy += float64(gpus[i].Busy)
	}
	if t.Span <= 0 {
		return nil, false
	}
	t.Busy = busy / t.Span
	t.Total = t.Span
	return t, true
}

// Rooflines are those of the traces that hold shapes.
func (t *Traced) Rooflines() []*device.Roofline {
	var out []*device.Roofline
	for i := range t.Parts {
		if r := t.Parts[i].Roofline; r != nil {
			out = append(out, r)
		}
	}
	return out
}

// idle is the devices' idle time of one of analyse's idle causes, and its largest place.
func (t *Traced) idle(cause string) (sum float64, at code.Where, gaps int) {
	longest := model.Dur(0)
	for i := range t.GPUs {
		for _, c := range t.GPUs[i].IdleBy {
			if c.Cause != cause {
				continue
			}
			sum += float64(c.Dur)
			gaps += c.Gaps
			if c.Dur > longest {
				longest, at = c.Dur, c.Where
			}
		}
	}
	return sum, at, gaps
}

// gaps adds up what launching threads did in the gaps that they caused; the place is that of the trace with most of it.
func (t *Traced) gaps() (sum device.HostGap) {
	most := model.Dur(-1)
	for i := range t.Parts {
		g := &t.Parts[i].Gaps
		sum.Operators += g.Operators
		sum.Between += g.Between
		sum.Apart += g.Apart
		sum.Gaps += g.Gaps
		sum.ApartGaps += g.ApartGaps
		sum.Slow.Operators += g.Slow.Operators
		sum.Slow.OnCPU += g.Slow.OnCPU
		sum.Slow.Stalled += g.Slow.Stalled
		sum.Slow.Names = max(sum.Slow.Names, g.Slow.Names)
		sum.Slow.Planned += g.Slow.Planned
		sum.Slow.Plans += g.Slow.Plans
		sum.Slow.Launches += g.Slow.Launches
		sum.Slow.Calls += g.Slow.Calls
		if g.Slow.Longest > sum.Slow.Longest {
			sum.Slow.Longest, sum.Slow.At = g.Slow.Longest, g.Slow.At
		}
		if d := g.Operators + g.Between + g.Apart; d > most {
			most, sum.Where, sum.ApartAt = d, g.Where, g.ApartAt
		}
	}
	return sum
}

// finding starts a finding about so much of the devices' time, in ns; title is its text's id.
func (t *Traced) finding(id string, time float64, at code.Where, title string) finding.Draft {
	f := finding.NewDraft(finding.Finding{Cause: id, Where: tracedWhere(at), OfRun: true, Share: time / t.Span}, nil)
	f.Title = wording.Say(title, wording.Share("share", f.Share))
	f.Confidence = finding.Confidence{Level: finding.Medium, Why: []wording.Text{wording.Say("traced.basis")}}
	return f
}

// idleFinding is a finding about idle time. Tracing slows the launching side, which makes gaps longer.
func (t *Traced) idleFinding(id string, time float64, at code.Where, gaps int, title string) finding.Draft {
	f := t.finding(id, time, at, title)
	f.Run = f.By(price.TracedIdle).Times(time)
	f.Evidence = []wording.Text{wording.Say("traced.gaps", wording.Time("time", time), wording.Count("gaps", gaps))}
	f.Caveat = []wording.Text{wording.Say("traced.caveat-slowed")}
	return f
}

func tracedWhere(w code.Where) finding.Where {
	return finding.Where{File: w.File, Line: int(w.Line), Function: w.Function, Op: w.Op, Rank: model.NoRank}
}

func TracedInput(t *Traced, _ finding.Ledger) []finding.Draft {
	time, at, gaps := t.idle(device.IdleInput)
	f := t.idleFinding(finding.Input, time, at, gaps, "traced.input")
	f.Run = f.By(price.TracedInput).Times(time)
	f.Fix.Advice = []wording.Text{wording.Say("traced.fix-input")}
	return []finding.Draft{f}
}

func TracedSync(t *Traced, _ finding.Ledger) []finding.Draft {
	time, at, gaps := t.idle(device.IdleSync)
	f := t.idleFinding(finding.Sync, time, at, gaps, "sync.traced")
	f.Fix.Advice = []wording.Text{wording.Say("sync.fix-keep")}
	return []finding.Draft{f}
}

// tracedLaunch: the device waits for launches: calls under way, operators that prepare them, Python around those.
func TracedLaunch(t *Traced, _ finding.Ledger) []finding.Draft {
	time, at, gaps := t.idle(device.IdleLaunch)
	g := t.gaps()
	time = max(time-float64(g.Slow.Launches), 0)
	ops := max(float64(g.Operators-g.Slow.Operators), 0)
	host := ops + float64(g.Between)
	if host > time {
		at = g.Where
	}
	f := t.idleFinding(finding.Launch, time+host, at, gaps+g.Gaps, "traced.launch")
	f.Evidence = append(f.Evidence, wording.Say("traced.launching", wording.Time("operators", ops),
		wording.Time("between", float64(g.Between)), wording.Time("launches", time)))
	if n, mean := t.meanKernel(); n > 0 {
		f.Evidence = append(f.Evidence, wording.Say("traced.mean-kernel", wording.Time("mean", mean), wording.Count("n", n)))
	}
	f.Fix.Advice = []wording.Text{wording.Say("traced.fix-launch")}
	if strings.HasPrefix(at.Op, "Torch-Compiled Region") || strings.HasPrefix(at.Op, "CompiledFunction") {
		f.Fix.Advice = []wording.Text{wording.Say("traced.fix-launch-compiled")}
		f.Fix.Action = finding.SetArguments("torch.compile", finding.Argument{Name: "mode", Value: `"reduce-overhead"`})
	}
	t.atCapture(&f.Finding)
	return []finding.Draft{f}
}

// tracedSlowCalls: the device waits for single calls on the CPU, which batching and fusing do not help.
func TracedSlowCalls(t *Traced, _ finding.Ledger) []finding.Draft {
	s := t.gaps().Slow
	time := float64(s.Operators + s.Launches)
	title, sub := "traced.first-use", "first-use"
	if float64(s.OnCPU) > 0.5*time {
		title, sub = "traced.cpu-operator", "cpu-operator"
	}
	f := t.idleFinding(finding.Launch, time, s.At, s.Calls, title)
	f.Sub = sub
	f.Evidence = append(f.Evidence, wording.Say("traced.slow-calls", wording.Time("longest", float64(s.Longest)),
		wording.Time("operators", float64(s.Operators)), wording.Time("cpu", float64(s.OnCPU)),
		wording.Time("launches", float64(s.Launches))))
	f.Fix.Advice = []wording.Text{wording.Say("traced.fix-first-use")}
	f.Run = f.By(price.FirstUse).Times(time)
	switch {
	case float64(s.Planned) > 0.5*time && s.Plans >= price.PlansSteps:
		f.Sub, f.Title = "plans", wording.Say("traced.plans", wording.Share("share", f.Share))
		f.Run = f.By(price.Plans).Times(float64(s.Planned))
		f.Evidence = append(f.Evidence, wording.Say("traced.planned", wording.Time("planned", float64(s.Planned)),
			wording.Count("plans", s.Plans)))
		f.Fix.Advice = []wording.Text{wording.Say("launch.fix-plans")}
		f.Fix.Action = finding.WithoutPlans()
		f.Caveat = []wording.Text{wording.Say("launch.caveat-plans")}
	case sub == "cpu-operator":
		f.Run = f.By(price.OnCPU).Times(time)
		f.Fix.Advice = []wording.Text{wording.Say("traced.fix-cpu-operator")}
	case float64(s.Stalled) > 0.5*time && s.Names >= stallNames:
		f.Sub, f.Title = "stalled", wording.Say("traced.stalled", wording.Share("share", f.Share))
		f.Run = f.By(price.Stalled).Times(time)
		f.Evidence = append(f.Evidence, wording.Say("traced.stalled-in", wording.Time("stalled", float64(s.Stalled)),
			wording.Count("names", s.Names)))
		f.Fix.Advice = []wording.Text{wording.Say("traced.fix-stalled")}
		f.Caveat = []wording.Text{wording.Say("traced.caveat-stalled")}
	}
	t.atCapture(&f.Finding)
	return []finding.Draft{f}
}

// stallNames is the number of different operators from which a thread that stands still in them is stopped from outside: one alone
// may be slow for a reason of its own, such as sizes that the trace does not hold.
const stallNames = 3

// atCapture says of a finding about launches, where graphs of device work are captured, that this is no step: it happens once.
func (t *Traced) atCapture(f *finding.Finding) {
	n := 0
	for i := range t.Parts {
		n += t.Parts[i].Captures
	}
	if n == 0 {
		return
	}
	f.Run.Low = 0
	f.Confidence.Level = finding.Low
	f.Evidence = append(f.Evidence, wording.Say("traced.captures", wording.Count("n", n)))
	f.Caveat = append(f.Caveat, wording.Say("traced.caveat-captures"))
}

func (t *Traced) meanKernel() (n int64, mean float64) {
	sum := 0.0
	for i := range t.Kernels {
		if k := &t.Kernels[i]; k.Class.Compute() {
			n += k.Count
			sum += float64(k.Dur)
		}
	}
	return n, sum / float64(max(n, 1))
}

// tracedPython: the launching thread does something that is neither an operator nor the calling of one.
func TracedPython(t *Traced, _ finding.Ledger) []finding.Draft {
	g := t.gaps()
	f := t.idleFinding(finding.Python, float64(g.Apart), g.ApartAt, g.ApartGaps, "traced.python")
	f.Fix.Advice = []wording.Text{wording.Say("traced.fix-python")}
	return []finding.Draft{f}
}

func TracedComm(t *Traced, _ finding.Ledger) []finding.Draft {
	time, all := 0.0, 0.0
	for i := range t.GPUs {
		time += float64(t.GPUs[i].ExposedCommunication)
		all += float64(t.GPUs[i].Communication)
	}
	f := t.finding(finding.Comm, time, code.Where{}, "traced.comm")
	f.Run = f.By(price.TracedComm).Times(time)
	f.Evidence = []wording.Text{wording.Say("traced.comm-exposed", wording.Time("time", time), wording.Time("all", all))}
	f.Fix.Advice = []wording.Text{wording.Say("traced.fix-comm")}
	f.Caveat = []wording.Text{wording.Say("traced.caveat-comm")}
	return []finding.Draft{f}
}
