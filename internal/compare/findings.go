package compare

import (
	"bottleneck/internal/report"
	"cmp"
	"path"
	"slices"
)

// findings are those of the first run of each side: gone, new, and those of both with both prices.
func (c *comparison) findings() report.DiffFound {
	out := report.DiffFound{Gone: []report.DiffFinding{}, New: []report.DiffFinding{}, Changed: []report.DiffFinding{}}
	before, after := defects(c.before[0].Report), defects(c.after[0].Report)
	taken := map[*report.Finding]bool{}
	for _, same := range []func(f, g *report.Finding) bool{
		func(f, g *report.Finding) bool { return f.Sub == g.Sub && c.samePlace(g.Where, f.Where) },
		func(f, g *report.Finding) bool { return f.Sub == g.Sub },
	} {
		for _, f := range after {
			for _, g := range before {
				if !taken[f] && !taken[g] && f.Cause == g.Cause && same(f, g) {
					taken[f], taken[g] = true, true
					out.Changed = append(out.Changed, c.both(g, f))
				}
			}
		}
	}
	for _, f := range after {
		if !taken[f] {
			out.New = append(out.New, one(f, true))
		}
	}
	for _, g := range before {
		if !taken[g] {
			out.Gone = append(out.Gone, one(g, false))
		}
	}
	for _, list := range [][]report.DiffFinding{out.Gone, out.New, out.Changed} {
		slices.SortStableFunc(list, func(x, y report.DiffFinding) int { return cmp.Compare(price(y), price(x)) })
	}
	return out
}

// defects are the findings that save something.
func defects(r *report.Report) []*report.Finding {
	var out []*report.Finding
	for i := range r.Findings {
		if r.Findings[i].Saving != nil {
			out = append(out, &r.Findings[i])
		}
	}
	return out
}

// samePlace says whether a place of the before side is that of the after side, which may have moved.
func (c *comparison) samePlace(before, after report.Where) bool {
	if (before.File == "") != (after.File == "") {
		return false
	}
	if was, ok := c.texts.lineBefore[place{after.File, after.Line}]; ok {
		return was == place{before.File, before.Line}
	}
	return path.Base(before.File) == path.Base(after.File) && before.Function == after.Function && before.Op == after.Op &&
		before.Source == after.Source
}

func (c *comparison) both(before, after *report.Finding) report.DiffFinding {
	out := one(after, true)
	was := one(before, false)
	out.Before = was.Before
	if was.Of != out.Of { // prices of a step and of a run have nothing in common
		out.Before, out.After, out.Of = runPrice(before), runPrice(after), perRun
	}
	if was.Where != nil && (out.Where == nil || *was.Where != *out.Where) {
		out.Was = was.Where
	}
	return out
}

func one(f *report.Finding, after bool) report.DiffFinding {
	out := report.DiffFinding{Cause: f.Cause, Sub: f.Sub, Title: f.Title, Of: perRun}
	if f.Where.File != "" {
		out.Where = &report.Place{File: f.Where.File, Line: f.Where.Line}
	}
	value := runPrice(f)
	if f.Saving.StepMs != nil {
		out.Of, value = perStep, &f.Saving.StepMs.Mid
	}
	if after {
		out.After = value
	} else {
		out.Before = value
	}
	return out
}

// runPrice is in seconds of the run, nil unknown.
func runPrice(f *report.Finding) *float64 {
	if f.Saving.RunS == nil {
		return nil
	}
	return &f.Saving.RunS.Mid
}

func price(f report.DiffFinding) float64 {
	most := 0.0
	for _, v := range []*float64{f.Before, f.After} {
		if v != nil {
			most = max(most, *v)
		}
	}
	return most
}
