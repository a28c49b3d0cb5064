package report

import (
	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/wording"
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

func listed(texts []wording.Text) string {
	var out []string
	for _, t := range texts {
		out = append(out, t.String())
	}
	return strings.Join(out, ", ")
}
