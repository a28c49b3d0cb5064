package precision

import (
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
	worst, shares := denormalInputs(c.P)
	if !MeetsDenormals(c, price.DenormalLooks) || len(shares) == 0 || c.UsesDevice() {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Precision, Sub: "denormal"}, finding.Parts{})
	reading, saved := timeOfReaders(c, shares, f.By(price.Denormals).Range)
	t := c.B.Part(account.PartOps) * reading
	if c.Share(t) < price.DenormalShare {
		return nil
	}
	ops := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool { return a.Part == account.PartOps })
	sp, ok := facts.Hottest(ops, c.Drivers)
	if !ok || sp.Samples < facts.MinSamples {
		return nil
	}
	f.Where, f.Share, f.Confidence = c.Where(sp), c.Share(t), c.Basis(sp.Samples)
	per := c.PerStep(t)
	f.Step = saved.Scale(c.PerStep(c.B.Part(account.PartOps)))
	f.Claim.Parts[account.PartOps] = saved.Mid * c.B.Part(account.PartOps)
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("precision.denormal", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{
		wording.Say("precision.denormal-numbers", wording.Share("found", float64(worst.Found)/float64(worst.Read)),
			wording.Named("module", c.Text(worst.Class)), wording.Count("read", int(worst.Read)),
			wording.Named("at", finding.Place(finding.Where{File: c.Text(worst.File), Line: int(worst.Line)}))),
		wording.Say("precision.denormal-time", wording.Time("time", per), c.Said()),
		denormalsMet(c),
	}
	fixDenormals(&f.Finding)
	return []finding.Draft{f}
}

// denormalsMet says how often the processor had met denormal numbers.
func denormalsMet(c *facts.Facts) wording.Text {
	return wording.Say("precision.denormal-met", wording.Count("met", c.P.Counters[denormalMet]),
		wording.Count("looks", c.P.Counters[denormalLooks]))
}

// fixDenormals says what ends a finding about denormal numbers; that it would is seldom sure.
func fixDenormals(f *finding.Finding) {
	f.Fix.Advice = []wording.Text{wording.Say("precision.fix-denormal")}
	f.Fix.Action = finding.NewLine("torch.set_flush_denormal(True)")
	f.Caveat = []wording.Text{wording.Say("precision.caveat-denormal")}
	if f.Confidence.Level == finding.High {
		f.Confidence.Level = finding.Medium
	}
}

// denormalInputs are, of the tensors that modules are given and by their sizes in numbers, the shares of denormal ones, on average, where
// these are many; and the tensor with the largest.
func denormalInputs(p *model.Process) (worst model.Denormal, shares map[int64]float64) {
	read, found := map[int64]int64{}, map[int64]int64{}
	most := 0.0
	for _, d := range p.Denormals {
		read[d.Size] += d.Read
		found[d.Size] += d.Found
		if share := float64(d.Found) / float64(d.Read); share > most {
			worst, most = d, share
		}
	}
	shares = map[int64]float64{}
	for size := range read {
		if share := float64(found[size]) / float64(read[size]); share >= price.DenormalNumbers {
			shares[size] = share
		}
	}
	return worst, shares
}

// timeOfReaders is the share of operators' time, in traced steps, that those take that read a tensor of one of the sizes, by outermost
// operators, and the share that they would take less without denormal numbers. Where no shapes were recorded, as of few long steps, all of
// them count, with the sizes' average.
func timeOfReaders(c *facts.Facts, shares map[int64]float64, slower price.Range) (reading float64, saved price.Range) {
	less := func(share float64) price.Range {
		of := func(times float64) float64 { return times * share / (1 + times*share) }
		return price.Range{Low: of(slower.Low), Mid: of(slower.Mid), High: of(slower.High)}
	}
	all, dur, shaped, most := 0.0, 0.0, false, 0.0 // the latter three of the current outermost operator
	flush := func() {
		if shaped {
			all += dur
		}
		if most > 0 {
			reading += dur
			saved = saved.Add(less(most).Scale(dur))
		}
		shaped, most = false, 0
	}
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		if outer {
			flush()
			dur = float64(ev.Dur[id])
		}
		if text := c.Text(ev.OpArgsOf(ev.Detail[id]).Shapes); text != "" {
			shaped = true
			for _, shape := range arguments.Shapes(text) {
				most = max(most, shares[arguments.Product(shape)])
			}
		}
	})
	flush()
	if all <= 0 {
		sum := 0.0
		for _, share := range shares {
			sum += share
		}
		return 1, less(sum / float64(len(shares)))
	}
	return reading / all, saved.Scale(1 / all)
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
