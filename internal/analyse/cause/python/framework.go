package python

import (
	"slices"
	"strings"

	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// switches say what leaves a part of a framework out, by parts of its files' paths; the first that fits holds.
var switches = []struct{ part, fix string }{
	{"/callbacks/progress/", "python.fix-progress"},
	{"/logger_connector/", "python.fix-logged"},
	{"/loggers/", "python.fix-logged"},
	{"/tracking.py", "python.fix-logged"},
	{"/model_checkpoint.py", "python.fix-checkpoints"},
	{"/profilers/", "python.fix-profilers"},
	{"/callbacks/", "python.fix-callbacks"},
	{"/torchmetrics/", "python.fix-metrics"},
}

// ofFramework says in a finding about a framework's code which of its functions has most of the time, and what leaves that out: the user's
// line is only where the framework was started.
func ofFramework(c *facts.Facts, f *finding.Finding, members []int, library string) {
	times := map[facts.FuncKey]float64{}
	frames := map[facts.FuncKey]model.Frame{}
	fixes := map[string]float64{}
	all := 0.0
	var most facts.FuncKey
	for _, m := range members {
		a := &c.B.Samples[m]
		info := c.C.Info(c.P.Samples.Stack[a.Index])
		all += a.Weight
		if info.Owner < 0 || c.C.File(c.C.Stacks.Frames[info.Owner].File) != code.FileFramework {
			continue
		}
		fr := c.C.Stacks.Frames[info.Owner]
		key := facts.KeyOf(&fr)
		if times[key] += a.Weight; times[key] > times[most] {
			most = key
		}
		if known, seen := frames[key]; !seen || fr.Line < known.Line {
			frames[key] = fr
		}
		fixes[switchOf(c, c.P.Samples.Stack[a.Index])] += a.Weight
	}
	if len(times) == 0 {
		return
	}
	fr := frames[most]
	at := finding.Where{File: c.Text(fr.File), Function: c.Text(fr.Function), Line: int(fr.Line)}
	f.Evidence = append(f.Evidence, wording.Say("python.framework", wording.Share("share", times[most]/max(all, 1)),
		wording.Named("in", finding.In(at))))
	f.Fix.Advice = []wording.Text{wording.Say("python.fix-framework", wording.Named("library", library))}
	for _, s := range switches {
		fix := wording.Say(s.fix)
		said := slices.ContainsFunc(f.Fix.Advice, func(t wording.Text) bool { return t.ID == fix.ID })
		if !said && fixes[s.fix] >= price.SwitchShare*all {
			f.Fix.Advice = slices.Insert(f.Fix.Advice, len(f.Fix.Advice)-1, fix)
		}
	}
}

// switchOf is the text on what leaves out what a stack is in: its innermost frame that a switch fits, of the framework. "" where none does.
func switchOf(c *facts.Facts, id model.StackID) (fix string) {
	c.C.Walk(id, func(fr model.FrameID) bool {
		file := c.C.Stacks.Frames[fr].File
		if c.C.File(file) != code.FileFramework {
			return c.C.File(file) != code.FileUser
		}
		for _, s := range switches {
			if strings.Contains(c.Text(file), s.part) {
				fix = s.fix
				return false
			}
		}
		return true
	})
	return fix
}
