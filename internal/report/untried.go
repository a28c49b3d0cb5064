package report

import (
	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/units"
	"bottleneck/internal/wording"
	"fmt"
	"strings"
)

// untried says which cheap changes nobody has tried on a program that is called healthy, as further sentences; "" where there are none.
// Otherwise "nothing to save was found" would be said of what was never looked at.
func (b *Builder) untried() string {
	var fixes []cause.MeasuredFix
	if b.opt.Measured != nil {
		fixes = b.opt.Measured.fixes()
	}
	u := b.res.found.Untried(b.res.ctx, fixes)
	out := ""
	if len(u.Measurable) > 0 {
		out += " Not tried: " + listed(u.Measurable)
		if len(fixes) == 0 {
			out += "; bottleneck run --measure-fixes tries " + map[bool]string{true: "it", false: "them"}[len(u.Measurable) == 1]
		}
		out += "."
	}
	if len(u.Others) > 0 {
		out += " Nor known is what " + listed(u.Others) + " would save."
	}
	return out
}

// crowd begins the sentence on a program whose threads did not get the cores that they want, so that its steps were longer than they are
// alone; "" for others.
func (b *Builder) crowd() string {
	c := b.res.ctx
	busy, ok := facts.CrowdedOut(c)
	if !ok {
		return ""
	}
	return fmt.Sprintf("no defect was found, but other programs kept %.1f of the %s busy while this one computes with %s: alone, or with "+
		"fewer threads, it is faster. ", busy, units.Counted(int(c.Cores), "core"),
		units.Counted(int(facts.TorchThreads(c)), "thread"))
}

func listed(texts []wording.Text) string {
	var out []string
	for _, t := range texts {
		out = append(out, t.String())
	}
	return strings.Join(out, ", ")
}
