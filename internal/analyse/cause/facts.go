package cause

import (
	"math"

	"bottleneck/internal/analyse"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// Facts are what rules on a run of ours read. They are made once per report, and no rule changes them.
type Facts struct {
	S *model.Session
	P *model.Process // whose steps are accounted; never nil
	B *analyse.Breakdown
	C *analyse.FrameClasses

	Wall   float64 // ns of the run; of the accounted process where the run is unknown
	Steps  int     // steps of the main kind in the whole run, all phases
	Steady float64 // ns from the end of the warm-up to the last step's end
	Cores  float64 // cores that the program may use: affinity and quota taken into account; 0 unknown

	workers []*workerView
	drivers map[funcKey]bool
	calling map[model.FrameID]bool // lines of a run without steps that call one small operator after another
}

// NewFacts prepares the rules' view of a session. b must have a process.
func NewFacts(s *model.Session, b *analyse.Breakdown) *Facts {
	c := &Facts{S: s, P: b.Process, B: b, C: analyse.NewFrameClasses(s, b.Process)}
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
	c.Steady = float64(last - c.afterWarmup())
	if !b.PerStep {
		c.Steps, c.Steady = 1, b.Total
	}
	c.drivers = c.findDrivers()
	c.calling = c.findCalling()
	c.workers = c.findWorkers()
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

// perStep turns ns over the accounted windows into ns per step.
func (c *Facts) perStep(ns float64) float64 {
	if n := len(c.B.Windows); n > 0 {
		return ns / float64(n)
	}
	return ns
}

// overRun extrapolates ns per step to the run.
func (c *Facts) overRun(perStep Range) Range { return perStep.Scale(float64(max(c.Steps, 1))) }

// share of the accounted time.
func (c *Facts) share(ns float64) float64 {
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

// unit is the same as a fact, which {each} and {unit} of a text want.
func (c *Facts) unit() wording.Fact { return wording.Named("unit", c.Unit()) }

// text gives an interned string.
func (c *Facts) text(id model.Str) string { return c.S.Strings.Text(id) }

// source is the text of a line of the kept sources.
func (c *Facts) source(file string, line int) string {
	return analyse.SourceLine(c.S.Sources, file, line)
}

// inSteps gives how much of an interval lies in accounted steps, in ns.
func (c *Facts) inSteps(from, to model.Time) float64 {
	t := 0.0
	for _, w := range c.B.Windows {
		if w.Start >= to {
			break
		}
		t += max(float64(min(w.End, to)-max(w.Start, from)), 0)
	}
	return t
}

// inWindows says that an instant lies between the first and the last accounted step.
func (c *Facts) inWindows(t model.Time) bool {
	w := c.B.Windows
	return len(w) > 0 && t >= w[0].Start && t < w[len(w)-1].End
}

// firstStep is when the first step began, or 0 without steps.
func (c *Facts) firstStep() model.Time {
	first := model.Time(0)
	for i := range c.P.Steps {
		if t := c.P.Steps[i].Start; first == 0 || t < first {
			first = t
		}
	}
	return first
}

// lastStep is when the last step ended; the end of all time where the account is not of steps.
func (c *Facts) lastStep() model.Time {
	if !c.B.PerStep {
		return math.MaxInt64
	}
	last := model.Time(0)
	for i := range c.P.Steps {
		last = max(last, c.P.Steps[i].End)
	}
	return last
}

// warm is when the warm-up steps ended: the start of the first step that is not warm-up, 0 without one.
func (c *Facts) warm() model.Time {
	warm := model.Time(0)
	for i := range c.P.Steps {
		st := &c.P.Steps[i]
		if st.Phase != model.PhaseWarmup && (warm == 0 || st.Start < warm) {
			warm = st.Start
		}
	}
	return warm
}

// afterWarmup is when steady work begins: after the warm-up steps, else with the first step.
func (c *Facts) afterWarmup() model.Time {
	if t := c.warm(); t > 0 {
		return t
	}
	return c.firstStep()
}

// basis says what the numbers of a sample-based finding rest on.
func (c *Facts) basis(samples int) Confidence {
	steps := len(c.B.Windows)
	why := wording.Say("basis.samples", wording.Count("samples", samples), wording.Count("steps", steps))
	if !c.B.PerStep {
		why = wording.Say("basis.samples-of-run", wording.Count("samples", samples))
	}
	switch {
	case samples >= 200 && (steps >= 10 || !c.B.PerStep):
		return Confidence{Level: High, Why: []wording.Text{why}}
	case samples >= 40:
		return Confidence{Level: Medium, Why: []wording.Text{why}}
	}
	return Confidence{Level: Low, Why: []wording.Text{why, wording.Say("basis.few-samples")}}
}

// exactBasis says what the numbers of a finding from exact spans rest on.
func (c *Facts) exactBasis(spans int) Confidence {
	steps := len(c.B.Windows)
	why := wording.Say("basis.intervals", wording.Count("intervals", spans), wording.Count("steps", steps))
	if !c.B.PerStep {
		why = wording.Say("basis.intervals-run", wording.Count("intervals", spans))
	}
	switch {
	case steps >= 10 || !c.B.PerStep:
		return Confidence{Level: High, Why: []wording.Text{why}}
	case steps >= 3:
		return Confidence{Level: Medium, Why: []wording.Text{why}}
	}
	return Confidence{Level: Low, Why: []wording.Text{why, wording.Say("basis.few-steps")}}
}
