package cause

import (
	"slices"

	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/python"
	"bottleneck/internal/analyse/cause/timed"
	"bottleneck/internal/wording"
)

// oneFunction joins findings about one function of the program's outside of its steps: what it takes before the first of them, in the
// interpreter between them, and in small operators there. One change of it ends all of that. A function that drives the steps does one
// thing after another, and stays apart.
func oneFunction(c *facts.Facts, found []finding.Finding) (out []finding.Finding) {
	for i := range found {
		f := &found[i]
		k := slices.IndexFunc(out, func(o finding.Finding) bool {
			return outsideSteps(c, f) && outsideSteps(c, &o) && o.Where.Function == f.Where.Function && o.Where.File == f.Where.File
		})
		if k < 0 {
			out = append(out, *f)
			continue
		}
		most, other := out[k], *f
		if most.Cause == finding.Warmup || other.Cause != finding.Warmup && other.Run.Mid > most.Run.Mid {
			most, other = other, most
		}
		most.Share += other.Share
		most.Run = most.Run.Add(other.Run)
		most.Title = wording.Say("rest.title-function", wording.Share("share", most.Share))
		most.Evidence = slices.Concat(most.Evidence, other.Evidence)
		out[k] = most
	}
	return out
}

// outsideSteps says that a finding is about a function outside of the steps that does not drive them.
func outsideSteps(c *facts.Facts, f *finding.Finding) bool {
	switch {
	case !f.OfRun || f.Kind != "" || f.Where.Function == "" || f.Where.Function == "<module>":
		return false
	case f.Cause == finding.Launch && f.Sub != python.Between, f.Cause == finding.Warmup && f.Title.ID != timed.Prepares,
		f.Cause != finding.Launch && f.Cause != finding.Warmup && (f.Cause != finding.Python || f.Sub != ""):
		return false
	}
	for key := range c.Drivers {
		if c.Text(key.Name) == f.Where.Function && c.Text(key.File) == f.Where.File {
			return false
		}
	}
	return true
}
