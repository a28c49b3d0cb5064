package memory

import (
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// slowTypes are the element types that fast libraries for convolutions may not know, as traces write them.
var slowTypes = []struct{ written, name string }{{"c10::Half", "float16"}, {"c10::BFloat16", "bfloat16"}, {`"double"`, "float64"}}

// slowConvolutions is PyTorch's own code for convolutions, which it takes where its fast library does not know the format: it
// makes a matrix of all windows of the input and multiplies it element by element.
const slowConvolutions = "slow_conv"

// FindFormat names convolutions on the CPU in a number format for which there is no fast code: half precision is meant for GPUs, float64
// for other work.
func FindFormat(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if c.B.Part(account.PartOps) < finding.Floor*c.B.Total {
		return nil
	}
	slow, all, calls, format, op := 0.0, 0.0, 0, "", ""
	steps := account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		if outer {
			all += float64(ev.Dur[id])
		}
		name := c.Text(ev.Name[id])
		if !strings.Contains(name, slowConvolutions) {
			return
		}
		if p := ev.Parent[id]; p >= 0 && int(p) < ev.Len() && strings.Contains(c.Text(ev.Name[p]), slowConvolutions) {
			return // counted with the operator around it
		}
		slow += float64(ev.Dur[id])
		calls++
		op = name
		for _, t := range slowTypes {
			if strings.Contains(c.Text(ev.OpArgsOf(ev.Detail[id]).Types), t.written) {
				format = t.name
			}
		}
	})
	if steps == 0 || format == "" || all <= 0 {
		return nil
	}
	t := c.B.Part(account.PartOps) * min(slow/all, 1)
	if c.Share(t) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Precision, Where: finding.Nowhere(), Share: c.Share(t),
		Confidence: c.Basis(len(c.B.Samples))},
		finding.Parts{account.PartOps: t})
	formatPlace(c, &f.Finding)
	per := c.PerStep(t)
	f.Step = f.By(price.NoFastCode).Times(per)
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("precision.no-fast-code", wording.Share("share", f.Share), c.Said(), wording.Named("format", format))
	slowOp := "precision.slow-op"
	if !c.B.PerStep {
		slowOp = "precision.slow-op-of-run"
	}
	f.Evidence = []wording.Text{wording.Say(slowOp, wording.Time("time", per), c.Said(), wording.Named("op", op),
		wording.Count("calls", calls), wording.Count("steps", steps))}
	f.Fix.Advice = []wording.Text{wording.Say("precision.fix-not-float64")}
	f.Caveat = []wording.Text{wording.Say("precision.caveat-not-measured")}
	if format != "float64" {
		f.Fix.Advice = []wording.Text{wording.Say("precision.fix-float32", wording.Named("format", format))}
		f.Caveat = append(f.Caveat, wording.Say("precision.caveat-twice"))
	}
	return []finding.Draft{f}
}

// formatPlace is the user's line below which the convolutions run; without samples of their module, the one that computes most.
func formatPlace(c *facts.Facts, f *finding.Finding) {
	ops := func(_ int, a *account.Attributed) bool { return a.Part == account.PartOps }
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		return ops(k, a) && c.Passes(c.P.Samples.Stack[a.Index], "/torch/nn/modules/conv.py", "", false)
	})
	if len(chains) < facts.MinSamples {
		chains = facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, ops)
	}
	if sp, ok := facts.Hottest(chains, c.Drivers); ok && sp.Samples >= facts.MinSamples {
		f.Where = c.Where(sp)
	}
}
