package python

import (
	"regexp"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// anomalyChecks are the operators by which autograd's anomaly detection looks for NaN in each gradient.
var anomalyChecks = map[string]bool{"aten::isnan": true, "aten::_is_any_true": true, "aten::any": true, "aten::item": true,
	"aten::is_nonzero": true}

// FindAnomaly names autograd's anomaly detection, left on: forwards it notes the Python stack of each operator, backwards it looks for NaN
// in each gradient.
func FindAnomaly(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		switch a.Part {
		case account.PartPython, account.PartOps, account.PartGC:
			return c.Passes(c.P.Samples.Stack[a.Index], "/torch/fx/traceback.py", "format_stack", true)
		}
		return false
	})
	noted, switches := facts.Sum(chains), c.UserLines(switchesAnomaly.MatchString)
	few := len(chains) < facts.MinSamples
	if few && len(switches) == 0 {
		return nil // hooks of the program's own may look for NaN as well
	}
	checked := timeOfChecks(c, noted)
	if few && c.Share(checked) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Python, Sub: "anomaly", Where: finding.Nowhere(),
		Confidence: c.Basis(len(chains))}, nil)
	f.Claim = choreClaim(c, membersOf(chains))
	f.Claim.Parts[account.PartOps] += checked
	f.Claim.Small += checked
	f.Share = c.Share(noted + checked)
	if sp, ok := facts.Hottest(chains, c.Drivers); ok {
		f.Where = c.Where(sp)
	}
	t := c.PerStep(noted + checked)
	f.Step = f.By(price.Anomaly).Sampled(max(len(chains), facts.MinSamples)).Scale(t)
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("python.title-anomaly", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("python.anomaly-checks", wording.Time("time", c.PerStep(checked)), c.Said())}
	if noted > 0 {
		f.Evidence = append(f.Evidence, wording.Say("python.anomaly-stacks", wording.Time("time", c.PerStep(noted)), c.Said()))
	}
	f.Fix.Advice = []wording.Text{wording.Say("python.fix-anomaly")}
	f.Caveat = []wording.Text{wording.Say("python.caveat-anomaly")}
	if len(switches) == 1 {
		anomalySwitch(&f.Finding, switches[0])
	}
	return []finding.Draft{f}
}

// timeOfChecks is the operators' time, in ns over the windows, in which gradients are looked through. Stacks are noted inside of traced
// operators, though samples count it as Python's: so many ns.
func timeOfChecks(c *facts.Facts, noted float64) float64 {
	checks, all := 0.0, 0.0
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		if outer {
			all += float64(ev.Dur[id])
		}
		if p := ev.Parent[id]; p >= 0 && anomalyChecks[c.Text(ev.Name[id])] && naming.IsBackward(c.Text(ev.Name[p])) {
			checks += float64(ev.Dur[id])
		}
	})
	if all <= 0 {
		return 0
	}
	return min(checks/all*(c.B.Part(account.PartOps)+noted), c.B.Part(account.PartOps))
}

var (
	// switchesAnomaly matches a line that may switch the detection on, be it an argument of a trainer's.
	switchesAnomaly = regexp.MustCompile(`\b(set_)?detect_anomaly\b`)
	// anomalyOn matches the switch where its value stands there.
	anomalyOn = regexp.MustCompile(`\b(set_detect_anomaly\(\s*|detect_anomaly\s*=\s*)True\b`)
)

// anomalySwitch makes the line that switches the detection on the place, and changes it where its value stands there.
func anomalySwitch(f *finding.Finding, at finding.UserLine) {
	if f.Where.File != "" {
		f.Evidence = append(f.Evidence, wording.Say("python.anomaly-where", wording.Named("where", finding.In(f.Where))))
	}
	f.Where = finding.Nowhere()
	f.Where.File, f.Where.Line, f.Where.Source = at.File, at.Line, at.Text
	if anomalyOn.MatchString(at.Text) {
		f.Fix.Action.Edit(at, anomalyOn.ReplaceAllString(at.Text, "${1}False"))
	}
}
