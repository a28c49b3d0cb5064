package cause

import (
	"regexp"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/memory"
	"bottleneck/internal/analyse/cause/precision"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/wording"
)

// kernelRules are those of the rules on traced devices that say which kernels could be faster: kernels take as long in a traced step as in
// others.
func kernelRules() []rule[*traced.Traced] {
	return []rule[*traced.Traced]{
		{finding.Precision, precision.FindPrecision}, {finding.Layout, traced.FindLayout}, {finding.MemoryBound, memory.TracedAttention},
		{finding.MemoryBound, memory.TracedMemoryBound},
	}
}

// softmaxCall matches source lines that make the weights of attention.
var softmaxCall = regexp.MustCompile(`\bsoftmax\s*\(`)

// enoughTraced is the number of traced steps from which what their kernels do is known: a guess.
const enoughTraced = 3

// onDevice names kernels of a run of ours that could be faster. They are priced by the time that its steps wait for the device while that
// computes; t is of the traces of the accounted process, nil without work of a device.
func onDevice(c *facts.Facts, t *traced.Traced, l *book) (out []finding.Finding, skipped []string) {
	if t == nil || !c.B.PerStep {
		return nil, nil
	}
	waited, computed := c.B.Part(account.PartGPUCompute), 0.0
	for i := range t.GPUs {
		computed += float64(t.GPUs[i].Compute)
	}
	if c.Share(waited) < finding.Floor || computed <= 0 {
		return nil, nil
	}
	steps := len(account.TracedSteps(c.S, c.B))
	skipped = run(kernelRules(), t, newBook(nil), func(d *finding.Draft) {
		f := d.Finding
		of := waited * min(f.Share*t.Span/computed, 1)
		gain := f.Run.Scale(waited / computed)
		gain.Low, gain.Mid = gain.Low/t.Busy, gain.Mid/t.Busy // the steps' waits are without what the device idles
		most := of
		if f.Cause == finding.Layout {
			most = waited // other kernels are faster in that layout, too
		}
		f.Step = finding.Bounds(c.PerStep(min(gain.Low, most)), c.PerStep(min(gain.Mid, most)), c.PerStep(min(gain.High, most)))
		f.Run, f.OfRun, f.Share = c.OverRun(f.Step), false, c.Share(of)
		if f.Fix.Action.Code == memory.Compiled && !c.Compiles() {
			f.Run = price.AfterStart(f.Run, d.By(price.Compiling).Times(1e9))
			f.Caveat = append(f.Caveat, wording.Say("memory.caveat-compile"))
		}
		f.Booked = finding.Parts{account.PartGPUCompute: of}
		f.Confidence = finding.Confidence{Level: finding.Low, Why: []wording.Text{wording.Say("traced.basis-run",
			wording.Count("steps", steps))}}
		if steps >= enoughTraced {
			f.Confidence.Level = finding.Medium
		}
		if at, ok := c.OnlyLine(softmaxCall.MatchString); ok && f.Sub == "attention" {
			f.Where = at.Where() // kernels have no lines; this one makes the weights
		}
		notAgain(c, &f)
		certain(c, &f)
		l.settle(&f)
		out = append(out, f)
	})
	return out, skipped
}
