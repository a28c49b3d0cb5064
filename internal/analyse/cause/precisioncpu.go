package cause

import (
	"fmt"
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

// findFormat names convolutions on the CPU in a number format for which there is no fast code: half precision is meant for GPUs, float64 for other work.
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
	f.Title = wording.Raw(fmt.Sprintf("%s of %s is convolutions in %s, for which this CPU has no fast code", percent(f.Share), c.each(), format))
	f.Evidence = []wording.Text{wording.Raw(fmt.Sprintf("%s per %s in %s, which PyTorch takes where its fast library does not know the format (%s in %s)", ms(per), c.Unit(), op, plural(calls, "call"), plural(steps, "traced "+c.Unit())), wording.RawFact(per/1e6, "ms"))}
	f.Fix.Advice = []wording.Text{wording.Raw("Let model and inputs stay in float32 on the CPU: " + format + " saves memory there, not time.")}
	f.Caveat = []wording.Text{wording.Raw("How much faster float32 is was not measured: the range is what convolutions of usual sizes gain. Weights take twice the memory.")}
	if format == "float64" {
		f.Fix.Advice = []wording.Text{wording.Raw("Where float32 is precise enough, make model and inputs of it: NumPy's arrays are float64 unless something else is said.")}
		f.Caveat = []wording.Text{wording.Raw("How much faster float32 is was not measured: the range is what convolutions of usual sizes gain.")}
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
