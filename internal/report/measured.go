package report

import (
	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/units"
	"fmt"
	"strings"
)

// measured puts measured prices into the document.
func (b *Builder) measured() { b.R.Measured = b.opt.Measured }

// fixes are the measured prices as rules take them.
func (m *Measured) fixes() (out []cause.MeasuredFix) {
	for _, p := range m.Prices {
		out = append(out, cause.MeasuredFix{Fix: p.Fix, Ops: p.Ops, SavedMs: p.SavedMs, OfMs: p.OfMs})
	}
	return out
}

// Measured are prices that were measured: recorded operators run again in a process of their own, as they were and under fixes.
type Measured struct {
	Tolerance float64         `json:"tolerance"` // factor either way within which a repetition must reproduce the recording
	Prices    []MeasuredPrice `json:"prices"`
	Ops       []MeasuredOp    `json:"ops"`
}

// MeasuredPrice is what a fix saves over all operators that could be reproduced.
type MeasuredPrice struct {
	Fix     string  `json:"fix"`
	SavedMs float64 `json:"saved_ms"` // per step; negative: it costs
	OfMs    float64 `json:"of_ms"`    // per step, of the operators measured under it
	Ops     int     `json:"ops"`
}

// MeasuredOp is one operator: recorded, repeated, and under fixes. RepeatedUs is absent where it could not be run again.
type MeasuredOp struct {
	Op         string        `json:"op"`
	Shapes     string        `json:"shapes"`
	PerStep    float64       `json:"per_step"`
	RecordedUs float64       `json:"recorded_us"`
	RepeatedUs *float64      `json:"repeated_us,omitempty"`
	Reproduced bool          `json:"reproduced"`
	Why        string        `json:"why,omitempty"` // it was not
	Fixes      []MeasuredFix `json:"fixes"`
}

// MeasuredFix is an operator's time under one fix.
type MeasuredFix struct {
	Fix string  `json:"fix"`
	Us  float64 `json:"us"`
}

// MeasuredText is the measured prices as text.
func MeasuredText(m *Measured) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured  recorded operators run again in a process of their own\n")
	kept, kinds := 0, len(m.Ops)
	for i := range m.Ops {
		if m.Ops[i].Reproduced {
			kept++
		}
	}
	fmt.Fprintf(&b, "  %d of %d operators took as long as recorded (within a factor of %.3g); the others get no price\n",
		kept, kinds, m.Tolerance)
	for _, p := range m.Prices {
		verb, amount := "saves", p.SavedMs
		if amount < 0 {
			verb, amount = "costs", -amount
		}
		fmt.Fprintf(&b, "  %-14s %s %s a step, of %s in %d operators\n", p.Fix, verb, units.Milliseconds(amount),
			units.Milliseconds(p.OfMs), p.Ops)
	}
	for i := range m.Ops {
		o := &m.Ops[i]
		line := fmt.Sprintf("  %-28s recorded %s", units.Clip(o.Op, 28), units.Milliseconds(o.RecordedUs/1e3))
		if o.RepeatedUs != nil {
			line += ", repeated " + units.Milliseconds(*o.RepeatedUs/1e3)
		}
		if !o.Reproduced && o.RepeatedUs != nil {
			line += ": no price"
		} else if !o.Reproduced {
			line += ": no price, " + units.Printable(o.Why)
		}
		for _, f := range o.Fixes {
			line += fmt.Sprintf(", %s %s", f.Fix, units.Milliseconds(f.Us/1e3))
		}
		fmt.Fprintf(&b, "%s  %s\n", line, units.Clip(o.Shapes, 60))
	}
	return b.String()
}

// maxVaried bounds how far a price's upper bound can be from its middle for what repeated operators vary by.
const maxVaried = 2

// repeatedByRecorded is how long the operators took when they were run again, as they were, for each ms that they took as recorded;
// 1 where nothing is known.
func (m *Measured) repeatedByRecorded() float64 {
	recorded, repeated := 0.0, 0.0
	for i := range m.Ops {
		if o := &m.Ops[i]; o.RepeatedUs != nil {
			recorded += o.RecordedUs * o.PerStep
			repeated += *o.RepeatedUs * o.PerStep
		}
	}
	if recorded <= 0 || repeated <= 0 {
		return 1
	}
	return min(max(repeated/recorded, 1.0/maxVaried), maxVaried)
}
