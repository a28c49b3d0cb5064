package facts

import (
	"math"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// Facts are what rules on a run of ours read. They are made once per report, and no rule changes them.
type Facts struct {
	S *model.Session
	P *model.Process // whose steps are accounted; never nil
	B *account.Breakdown
	C *code.FrameClasses

	Wall   float64 // ns of the run; of the accounted process where the run is unknown
	Steps  int     // steps of the main kind in the whole run, all phases
	Steady float64 // ns from the end of the warm-up to the last step's end
	Cores  float64 // cores that the program may use: affinity and quota taken into account; 0 unknown

	// Launching is the share of the driving thread's time in operators in which these launch work of a device, or wait for it.
	Launching float64

	kinds   int // of steps that the process has
	Workers []*WorkerView
	Drivers map[FuncKey]bool
	Calling map[model.FrameID]bool // lines of a run without steps that call one small operator after another
}

// NewFacts prepares the rules' view of a session. b must have a process.
func NewFacts(s *model.Session, b *account.Breakdown) *Facts {
	c := &Facts{S: s, P: b.Process, B: b, C: code.NewFrameClasses(s, b.Process)}
	c.Cores = s.Environment.UsableCores()
	c.Wall = wallTime(s, b.Process)
	var first, last model.Time
	for i := range b.Process.Steps {
		st := &b.Process.Steps[i]
		if b.PerStep && st.Kind == b.Kind {
			c.Steps += st.Count()
		}
		if first == 0 || st.Start < first {
			first = st.Start
		}
		last = max(last, st.End)
	}
	c.Wall = max(c.Wall, float64(last-first))
	c.Steady = float64(last - c.AfterWarmup())
	if !b.PerStep {
		c.Steps, c.Steady = 1, b.Total
	}
	c.kinds = len(account.KindsOfSteps(b.Process))
	c.Drivers = c.findDrivers()
	c.Calling = c.findCalling()
	c.Workers = c.findWorkers()
	c.Launching = c.findLaunching()
	return c
}

func wallTime(s *model.Session, p *model.Process) float64 {
	if s.Run != nil && s.Run.End > s.Run.Start && s.Run.Start > 0 {
		return float64(s.Run.End - s.Run.Start)
	}
	if p.End > p.Start && p.Start > 0 {
		return float64(p.End - p.Start)
	}
	return 0
}

// PerStep turns ns over the accounted windows into ns per step.
func (c *Facts) PerStep(ns float64) float64 {
	if n := len(c.B.Windows); n > 0 {
		return ns / float64(n)
	}
	return ns
}

// OverRun extrapolates ns per step to the run.
func (c *Facts) OverRun(perStep finding.Range) finding.Range {
	return perStep.Scale(float64(max(c.Steps, 1)))
}

// Share of the accounted time.
func (c *Facts) Share(ns float64) float64 {
	if c.B.Total <= 0 {
		return 0
	}
	return ns / c.B.Total
}

// Unit is what a share is of, in words.
func (c *Facts) Unit() string {
	if c.B.PerStep {
		return "step"
	}
	return "run"
}

// Said is the same as a fact, which {each} and {unit} of a text want; where the process has steps of several kinds it says which.
func (c *Facts) Said() wording.Fact {
	unit := c.Unit()
	if kind := c.Text(c.B.Kind); c.B.PerStep && kind != "" && c.kinds > 1 {
		unit = kind + " " + unit
	}
	return wording.Named("unit", unit)
}

// OnlyLaunches says that a device computes what the program does: its operators on the CPU launch that, and no number of threads makes them
// faster.
func (c *Facts) OnlyLaunches() bool { return c.Launching >= price.LaunchesNearly }

// Text gives an interned string.
func (c *Facts) Text(id model.Str) string { return c.S.Strings.Text(id) }

// Source is the text of a line of the kept sources.
func (c *Facts) Source(file string, line int) string {
	return code.SourceLine(c.S.Sources, file, line)
}

// InSteps gives how much of an interval lies in accounted steps, in ns.
func (c *Facts) InSteps(from, to model.Time) float64 {
	t := 0.0
	for _, w := range c.B.Windows {
		if w.Start >= to {
			break
		}
		t += max(float64(min(w.End, to)-max(w.Start, from)), 0)
	}
	return t
}

// InWindows says that an instant lies between the first and the last accounted step.
func (c *Facts) InWindows(t model.Time) bool {
	w := c.B.Windows
	return len(w) > 0 && t >= w[0].Start && t < w[len(w)-1].End
}

// FirstStep is when the first step began, or 0 without steps.
func (c *Facts) FirstStep() model.Time {
	first := model.Time(0)
	for i := range c.P.Steps {
		if t := c.P.Steps[i].Start; first == 0 || t < first {
			first = t
		}
	}
	return first
}

// LastStep is when the last step ended; the end of all time where the account is not of steps.
func (c *Facts) LastStep() model.Time {
	if !c.B.PerStep {
		return math.MaxInt64
	}
	last := model.Time(0)
	for i := range c.P.Steps {
		last = max(last, c.P.Steps[i].End)
	}
	return last
}

// Warm is when the warm-up steps ended: the start of the first step that is not warm-up, 0 without one.
func (c *Facts) Warm() model.Time {
	warm := model.Time(0)
	for i := range c.P.Steps {
		st := &c.P.Steps[i]
		if st.Phase != model.PhaseWarmup && (warm == 0 || st.Start < warm) {
			warm = st.Start
		}
	}
	return warm
}

// AfterWarmup is when steady work begins: after the warm-up steps, else with the first step.
func (c *Facts) AfterWarmup() model.Time {
	if t := c.Warm(); t > 0 {
		return t
	}
	return c.FirstStep()
}

// Basis says what the numbers of a sample-based finding rest on.
func (c *Facts) Basis(samples int) finding.Confidence {
	steps := len(c.B.Windows)
	why := wording.Say("basis.samples", wording.Count("samples", samples), wording.Count("steps", steps))
	if !c.B.PerStep {
		why = wording.Say("basis.samples-of-run", wording.Count("samples", samples))
	}
	switch {
	case samples >= 200 && (steps >= 10 || !c.B.PerStep):
		return finding.Confidence{Level: finding.High, Why: []wording.Text{why}}
	case samples >= 40:
		return finding.Confidence{Level: finding.Medium, Why: []wording.Text{why}}
	}
	return finding.Confidence{Level: finding.Low, Why: []wording.Text{why, wording.Say("basis.few-samples")}}
}

// ExactBasis says what the numbers of a finding from exact spans rest on.
func (c *Facts) ExactBasis(spans int) finding.Confidence {
	steps := len(c.B.Windows)
	why := wording.Say("basis.intervals", wording.Count("intervals", spans), wording.Count("steps", steps))
	if !c.B.PerStep {
		why = wording.Say("basis.intervals-run", wording.Count("intervals", spans))
	}
	switch {
	case steps >= 10 || !c.B.PerStep:
		return finding.Confidence{Level: finding.High, Why: []wording.Text{why}}
	case steps >= 3:
		return finding.Confidence{Level: finding.Medium, Why: []wording.Text{why}}
	}
	return finding.Confidence{Level: finding.Low, Why: []wording.Text{why, wording.Say("basis.few-steps")}}
}
