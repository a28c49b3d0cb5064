package cause

import (
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// slowTypes are the element types that fast libraries for convolutions may not know, as traces write them.
var slowTypes = []struct{ written, name string }{{"c10::Half", "float16"}, {"c10::BFloat16", "bfloat16"}, {`"double"`, "float64"}}

// slowConvolutions is PyTorch's own code for convolutions, which it takes where its fast library does not know the format: it
// makes a matrix of all windows of the input and multiplies it element by element.
const slowConvolutions = "slow_conv"

// findFormat names convolutions on the CPU in a number format for which there is no fast code: half precision is meant for GPUs, float64
// for other work.
func findFormat(c *Facts, _ Ledger) []Draft {
	if c.B.Part(analyse.PartOps) < Floor*c.B.Total {
		return nil
	}
	slow, all, calls, format, op := 0.0, 0.0, 0, "", ""
	steps := analyse.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		if outer {
			all += float64(ev.Dur[id])
		}
		name := c.text(ev.Name[id])
		if !strings.Contains(name, slowConvolutions) {
			return
		}
		if p := ev.Parent[id]; p >= 0 && int(p) < ev.Len() && strings.Contains(c.text(ev.Name[p]), slowConvolutions) {
			return // counted with the operator around it
		}
		slow += float64(ev.Dur[id])
		calls++
		op = name
		for _, t := range slowTypes {
			if strings.Contains(c.text(ev.OpArgsOf(ev.Detail[id]).Types), t.written) {
				format = t.name
			}
		}
	})
	if steps == 0 || format == "" || all <= 0 {
		return nil
	}
	t := c.B.Part(analyse.PartOps) * min(slow/all, 1)
	if c.share(t) < Floor {
		return nil
	}
	f := draft(Finding{Cause: Precision, Where: nowhere(), Share: c.share(t), Confidence: c.basis(len(c.B.Samples))},
		Parts{analyse.PartOps: t})
	c.formatPlace(&f.Finding)
	per := c.perStep(t)
	f.Step = f.by(price.NoFastCode).Times(per)
	f.Run = c.overRun(f.Step)
	f.Title = wording.Say("precision.no-fast-code", wording.Share("share", f.Share), c.unit(), wording.Named("format", format))
	slowOp := "precision.slow-op"
	if !c.B.PerStep {
		slowOp = "precision.slow-op-of-run"
	}
	f.Evidence = []wording.Text{wording.Say(slowOp, wording.Time("time", per), c.unit(), wording.Named("op", op),
		wording.Count("calls", calls), wording.Count("steps", steps))}
	f.Fix.Advice = []wording.Text{wording.Say("precision.fix-not-float64")}
	f.Caveat = []wording.Text{wording.Say("precision.caveat-not-measured")}
	if format != "float64" {
		f.Fix.Advice = []wording.Text{wording.Say("precision.fix-float32", wording.Named("format", format))}
		f.Caveat = append(f.Caveat, wording.Say("precision.caveat-twice"))
	}
	return []Draft{f}
}

// formatPlace is the user's line below which the convolutions run; without samples of their module, the one that computes most.
func (c *Facts) formatPlace(f *Finding) {
	ops := func(_ int, a *analyse.Attributed) bool { return a.Part == analyse.PartOps }
	chains := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *analyse.Attributed) bool {
		return ops(k, a) && c.passes(c.P.Samples.Stack[a.Index], "/torch/nn/modules/conv.py", "", false)
	})
	if len(chains) < minSamples {
		chains = chainsOf(c.C, &c.P.Samples, c.B.Samples, ops)
	}
	if sp, ok := hottest(chains, c.drivers); ok && sp.samples >= minSamples {
		f.Where = c.where(sp)
	}
}
