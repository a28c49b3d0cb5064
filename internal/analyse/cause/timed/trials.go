package timed

import (
	"regexp"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// triesOn matches the line that lets cuDNN try its algorithms, up to the value.
var triesOn = regexp.MustCompile(`(\bcudnn\.benchmark\s*=\s*|\bTrainer\(.*\bbenchmark\s*=\s*)True\b`)

// FindTrials names first steps in which cuDNN runs each of its algorithms for each convolution, to take the fastest one later: the
// program asks for it, a device computes, and samples of the warm-up steps lie in convolutions and their backward pass.
func FindTrials(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if !c.OnDevice() || c.Wall <= 0 {
		return nil
	}
	at, ok := TriesAlgorithms(c)
	if !ok {
		return nil
	}
	t, n := Trying(c, c.FirstStep(), c.AfterWarmup())
	t = max(t-float64(c.WarmSteps())*(c.B.Part(account.PartOps)+c.B.Part(account.PartGPUCompute))/float64(max(len(c.B.Windows), 1)), 0)
	if n < facts.MinSamples || t < price.PreparesLeast*c.Wall {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Warmup, Sub: "algorithms", OfRun: true, Repaid: true,
		Where: finding.Nowhere(), Share: t / c.Wall, Confidence: c.Basis(n)}, nil)
	f.Where.File, f.Where.Line, f.Where.Source = at.File, at.Line, at.Text
	f.Title = wording.Say("warmup.title-algorithms", wording.Share("share", f.Share))
	f.Run = f.By(price.Trials).Times(t)
	f.Run.Low = max(f.Run.Low-price.UntriedSlower.Mid*c.Steady, 0)
	f.Evidence = []wording.Text{wording.Say("warmup.algorithms", wording.Time("t", t)),
		wording.Say("warmup.algorithms-later", wording.Time("median", c.B.Median))}
	f.Fix.Advice = []wording.Text{wording.Say("warmup.fix-algorithms")}
	f.Fix.Action.Edit(at, triesOn.ReplaceAllString(at.Text, "${1}False"))
	f.Caveat = []wording.Text{wording.Say("warmup.caveat-algorithms")}
	return []finding.Draft{f}
}

// TriesAlgorithms is the user's line that lets cuDNN try its algorithms; ok is false where there is none.
func TriesAlgorithms(c *facts.Facts) (at finding.UserLine, ok bool) {
	switches := c.UserLines(triesOn.MatchString)
	if len(switches) == 0 {
		return at, false
	}
	return switches[0], true
}

// Trying is the time in ns between two times in which cuDNN may try algorithms, and its samples: those in convolutions and in the backward
// pass.
func Trying(c *facts.Facts, from, until model.Time) (t float64, samples int) {
	t = c.SampledTime(from, until, func(i int) bool {
		id := c.P.Samples.Stack[i]
		info := c.C.Info(id)
		if info.Acts&(code.ActImport|code.ActCompile|code.ActLoader) != 0 ||
			info.Acts&code.ActBackward == 0 && !c.Passes(id, "/torch/nn/modules/conv.py", "", true) {
			return false
		}
		samples++
		return true
	})
	return t, samples
}
