package memory

import (
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// FindDenormals names programs that compute on the CPU with many denormal numbers: values that decay towards zero, such as traces, averages
// and exponentials, end in them, and many processors take a hundred times as long for each. The processor says that it meets some, and the
// numbers that modules are given how many; few cost nothing.
func FindDenormals(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	worst, sizes := denormalInputs(c.P)
	if !MeetsDenormals(c, price.DenormalLooks) || len(sizes) == 0 || usesDevice(c) {
		return nil
	}
	reading, all := timeOfReaders(c, sizes)
	if reading <= 0 {
		return nil
	}
	t := c.B.Part(account.PartOps) * reading / all
	if c.Share(t) < price.DenormalShare {
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
		wording.Say("precision.denormal-numbers", wording.Share("found", float64(worst.Found)/float64(worst.Read)),
			wording.Named("module", c.Text(worst.Class)), wording.Count("read", int(worst.Read)),
			wording.Named("at", finding.Place(finding.Where{File: c.Text(worst.File), Line: int(worst.Line)}))),
		wording.Say("precision.denormal-time", wording.Time("time", per), c.Said()),
		wording.Say("precision.denormal-met", wording.Count("met", c.P.Counters[denormalMet]),
			wording.Count("looks", c.P.Counters[denormalLooks])),
	}
	f.Fix.Advice = []wording.Text{wording.Say("precision.fix-denormal")}
	f.Fix.Action = finding.NewLine("torch.set_flush_denormal(True)")
	f.Caveat = []wording.Text{wording.Say("precision.caveat-denormal")}
	if f.Confidence.Level == finding.High {
		f.Confidence.Level = finding.Medium
	}
	return []finding.Draft{f}
}

// denormalInputs are the sizes of the tensors, in numbers, many of whose numbers are denormal, and the one with the largest share.
func denormalInputs(p *model.Process) (worst model.Denormal, sizes map[int64]bool) {
	sizes, most := map[int64]bool{}, 0.0
	for _, d := range p.Denormals {
		share := float64(d.Found) / float64(d.Read)
		if share < price.DenormalNumbers {
			continue
		}
		sizes[d.Size] = true
		if share > most {
			worst, most = d, share
		}
	}
	return worst, sizes
}

// timeOfReaders are the ns of the traced steps' outermost operators that read a tensor of one of the sizes, and of all of known shapes.
func timeOfReaders(c *facts.Facts, sizes map[int64]bool) (reading, all float64) {
	dur, shaped, reads := 0.0, false, false // of the current outermost operator
	flush := func() {
		if shaped {
			all += dur
		}
		if reads {
			reading += dur
		}
		shaped, reads = false, false
	}
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		if outer {
			flush()
			dur = float64(ev.Dur[id])
		}
		if text := c.Text(ev.OpArgsOf(ev.Detail[id]).Shapes); text != "" {
			shaped = true
			reads = reads || slices.ContainsFunc(arguments.Shapes(text), func(shape []int64) bool { return sizes[arguments.Product(shape)] })
		}
	})
	flush()
	return reading, all
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
