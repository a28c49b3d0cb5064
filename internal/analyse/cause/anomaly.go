package cause

import (
	"regexp"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// anomalyChecks are the operators by which autograd's anomaly detection looks for NaN in each gradient.
var anomalyChecks = map[string]bool{"aten::isnan": true, "aten::_is_any_true": true, "aten::any": true, "aten::item": true, "aten::is_nonzero": true}

// findAnomaly names autograd's anomaly detection, left on: forwards it notes the Python stack of each operator, backwards it looks for NaN in
// each gradient.
func findAnomaly(c *Facts, _ Ledger) []Draft {
	chains := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool {
		switch a.Part {
		case analyse.PartPython, analyse.PartOps, analyse.PartGC:
			return c.passes(c.P.Samples.Stack[a.Index], "/torch/fx/traceback.py", "format_stack", true)
		}
		return false
	})
	noted, switches := sum(chains), c.userLines(switchesAnomaly.MatchString)
	few := len(chains) < minSamples
	if few && len(switches) == 0 {
		return nil // hooks of the program's own may look for NaN as well
	}
	checked := c.anomalyChecks(noted)
	if few && c.share(checked) < Floor {
		return nil
	}
	f := draft(Finding{Cause: Python, Sub: "anomaly", Where: nowhere(), Confidence: c.basis(len(chains))}, nil)
	f.Claim = c.chores(membersOf(chains))
	f.Claim.Parts[analyse.PartOps] += checked
	f.Claim.Small += checked
	f.Share = c.share(noted + checked)
	if sp, ok := hottest(chains, c.drivers); ok {
		f.Where = c.where(sp)
	}
	t := c.perStep(noted + checked)
	f.Step = f.by(price.Anomaly).Sampled(max(len(chains), minSamples)).Scale(t)
	f.Run = c.overRun(f.Step)
	f.Title = wording.Say("python.title-anomaly", wording.Share("share", f.Share), c.unit())
	f.Evidence = []wording.Text{wording.Say("python.anomaly-checks", wording.Time("time", c.perStep(checked)), c.unit())}
	if noted > 0 {
		f.Evidence = append(f.Evidence, wording.Say("python.anomaly-stacks", wording.Time("time", c.perStep(noted)), c.unit()))
	}
	f.Fix.Advice = []wording.Text{wording.Say("python.fix-anomaly")}
	f.Caveat = []wording.Text{wording.Say("python.caveat-anomaly")}
	if len(switches) == 1 {
		f.anomalySwitch(switches[0])
	}
	return []Draft{f}
}

// anomalyChecks is the operators' time, in ns over the windows, in which gradients are looked through. Stacks are noted inside of traced
// operators, though samples count it as Python's: so many ns.
func (c *Facts) anomalyChecks(noted float64) float64 {
	checks, all := 0.0, 0.0
	analyse.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		if outer {
			all += float64(ev.Dur[id])
		}
		if p := ev.Parent[id]; p >= 0 && anomalyChecks[c.text(ev.Name[id])] && strings.HasPrefix(c.text(ev.Name[p]), "autograd::engine::evaluate_function") {
			checks += float64(ev.Dur[id])
		}
	})
	if all <= 0 {
		return 0
	}
	return min(checks/all*(c.B.Part(analyse.PartOps)+noted), c.B.Part(analyse.PartOps))
}

var (
	// switchesAnomaly matches a line that may switch the detection on, be it an argument of a trainer's.
	switchesAnomaly = regexp.MustCompile(`\b(set_)?detect_anomaly\b`)
	// anomalyOn matches the switch where its value stands there.
	anomalyOn = regexp.MustCompile(`\b(set_detect_anomaly\(\s*|detect_anomaly\s*=\s*)True\b`)
)

// anomalySwitch makes the line that switches the detection on the place, and changes it where its value stands there.
func (f *Finding) anomalySwitch(at userLine) {
	if f.Where.File != "" {
		f.Evidence = append(f.Evidence, wording.Say("python.anomaly-where", wording.Named("where", in(f.Where))))
	}
	f.Where = nowhere()
	f.Where.File, f.Where.Line, f.Where.Source = at.file, at.line, at.text
	if anomalyOn.MatchString(at.text) {
		f.Fix.Action.edit(at, anomalyOn.ReplaceAllString(at.text, "${1}False"))
	}
}
