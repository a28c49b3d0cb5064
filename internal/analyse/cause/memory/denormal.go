package memory

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindDenormals names programs that compute on the CPU with denormal numbers all the time: values that decay towards zero, such as traces,
// averages and exponentials, end in them, and many processors take a hundred times as long for each. Which operators meet how many of them
// is not known.
func FindDenormals(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	t := c.B.Part(account.PartOps)
	if !MeetsDenormals(c, price.DenormalLooks) || c.Share(t) < price.DenormalShare || usesDevice(c) {
		return nil
	}
	ops := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool { return a.Part == account.PartOps })
	sp, ok := facts.Hottest(ops, c.Drivers)
	if !ok || sp.Samples < facts.MinSamples {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Precision, Sub: "denormal", Where: c.Where(sp), Share: c.Share(t),
		Confidence: c.Basis(sp.Samples)}, finding.Parts{})
	per := c.PerStep(t)
	f.Step = f.By(price.Denormals).Times(per)
	f.Claim.Parts[account.PartOps] = f.By(price.Denormals).Times(t).Mid
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("precision.denormal", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{
		wording.Say("precision.denormal-met", wording.Count("met", c.P.Counters[denormalMet]),
			wording.Count("looks", c.P.Counters[denormalLooks])),
		wording.Say("precision.denormal-time", wording.Time("time", per), c.Said()),
	}
	f.Fix.Advice = []wording.Text{wording.Say("precision.fix-denormal")}
	f.Fix.Action = finding.NewLine("torch.set_flush_denormal(True)")
	f.Caveat = []wording.Text{wording.Say("precision.caveat-denormal")}
	if f.Confidence.Level == finding.High {
		f.Confidence.Level = finding.Medium
	}
	return []finding.Draft{f}
}

// Counters of the agent's looks at whether the processor has met denormal numbers (docs/session.md).
const (
	denormalLooks = "denormal_looks"
	denormalMet   = "denormal_met"
)

// MeetsDenormals says that so many looks at least were taken and that enough of them found denormal numbers.
func MeetsDenormals(c *facts.Facts, least float64) bool {
	looks, met := c.P.Counters[denormalLooks], c.P.Counters[denormalMet]
	return looks >= least && met > 0 && met >= price.DenormalMet*looks
}
