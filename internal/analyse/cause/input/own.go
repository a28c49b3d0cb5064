package input

import (
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// loaderFile is where a DataLoader hands out batches: what it calls while workers fetch is its sampler, and what unpickles and pins a
// batch.
const loaderFile = "/torch/utils/data/dataloader.py"

// rebuilds is where tensors are made of what a worker has sent, each by a connection of its own.
const rebuilds = "/torch/multiprocessing/reductions.py"

// inputBesideWorkers looks at what the thread that waits does itself while workers fetch: it runs code of the program's own, such as a
// sampler, or copies and unpickles what comes through a pipe.
func inputBesideWorkers(c *facts.Facts, v *inputView) {
	sm := &c.P.Samples
	all, bytes, pieces, seen := 0.0, 0.0, 0.0, 0
	own := facts.ChainsInside(loaderFile, c.C, sm, c.B.Samples, func(_ int, a *account.Attributed) bool {
		info := c.C.Info(sm.Stack[a.Index])
		if a.Part != account.PartDataWait || !v.waitsAt(sm.Time[a.Index]) || info.Acts&(code.ActLoader|code.ActWorkers) != code.ActLoader {
			return false
		}
		all += a.Weight
		if copiesBytes(c.C, sm.Stack[a.Index]) {
			bytes += a.Weight
		}
		if c.Passes(sm.Stack[a.Index], rebuilds, "", false) {
			pieces += a.Weight
		}
		seen++
		return true
	})
	if all == 0 {
		return
	}
	v.bytes = bytes / all
	if seen >= facts.MinSamples {
		v.pieces = pieces / all
	}
	inner := own[:0]
	for _, ch := range own {
		if len(ch.Frames) > 0 {
			inner = append(inner, ch)
		}
	}
	if len(inner) < facts.MinSamples || facts.Sum(inner) < 0.5*all || v.wait < 2*finding.Floor*c.B.Total {
		return
	}
	if sp, ok := facts.Hottest(inner, nil); ok {
		v.own, v.hot, v.hotOK, v.hotPart, v.samples = true, sp, true, sp.Unit/all, len(own)
	}
}

// copiesBytes says that a stack is in a queue between processes and there copies or unpickles what came: not where it waits for something
// to come, nor where it makes tensors of shared memory.
func copiesBytes(cls *code.FrameClasses, id model.StackID) (copies bool) {
	innermost := ""
	cls.Walk(id, func(fr model.FrameID) bool {
		f := &cls.Stacks.Frames[fr]
		path, function := cls.Strings.Text(f.File), cls.Strings.Text(f.Function)
		if strings.HasSuffix(path, rebuilds) {
			return false
		}
		if innermost == "" {
			innermost = function[strings.LastIndexByte(function, '.')+1:]
		}
		copies = strings.HasSuffix(path, "/multiprocessing/queues.py") && (innermost == "get" || innermost == "_recv")
		return !copies
	})
	return copies
}

// hotEvidence says how much of the fetch the place holds, and how much its line where it is one of several.
func (v *inputView) hotEvidence(c *facts.Facts) wording.Text {
	w, of := c.Where(v.hot), wording.Say("input.of-fetch")
	if v.own {
		of = wording.Say("input.of-wait")
	}
	share, samples := wording.Share("share", v.hotPart), wording.Count("samples", v.hot.Samples)
	if v.hot.Line < price.HotLine*v.hot.Unit && v.hot.Unit > 0 && w.Function != "" && w.Function != "<module>" {
		return wording.Say("input.hot-line", share, wording.With("of", of), wording.Named("function", finding.ShortFunction(w.Function)),
			wording.Share("line", v.hotPart*v.hot.Line/v.hot.Unit), wording.Named("at", finding.Place(w)), samples)
	}
	return wording.Say("input.hot", share, wording.With("of", of), wording.Named("in", finding.In(w)), samples)
}

// handOverLess says how a batch gets from its worker to the step faster, or not at all.
func (v *inputView) handOverLess(c *facts.Facts, f *finding.Finding) {
	f.Title = wording.Say("input.title-handover", wording.Share("share", f.Share), c.Said())
	switch {
	case v.alone():
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-alone")}
		v.proposeNone(c, f)
	case v.bytes >= 0.5:
		f.Evidence = append(f.Evidence, wording.Say("input.bytes", wording.Share("bytes", v.bytes)))
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-bytes")}
	case v.pieces >= 0 && v.pieces < price.FewPieces:
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-less")}
	default:
		f.Fix.Advice = []wording.Text{wording.Say("input.fix-handover")}
	}
}

// alone says that a batch takes less time to fetch than to hand over, and less than is waited for it: workers only add to it.
func (v *inputView) alone() bool {
	return v.workers > 0 && v.fetch > 0 && v.fetch < price.Handover.Mid && v.slowest == nil && v.fetch*float64(v.batches) < v.wait
}

// proposeNone proposes a DataLoader without workers, and without what only workers may be told.
func (v *inputView) proposeNone(c *facts.Facts, f *finding.Finding) {
	arguments := []finding.Argument{{Name: NumWorkers, Value: "0"}}
	if v.loader != nil && v.loader.Persistent {
		arguments = append(arguments, finding.Argument{Name: KeepWorkers.Name, Value: "False"})
	}
	if v.loader != nil && v.loader.Prefetch != 0 && v.loader.Prefetch != usualPrefetch {
		arguments = append(arguments, finding.Argument{Name: prefetchFactor, Value: "None"})
	}
	v.propose(c, f, arguments...)
}

// usualPrefetch is a DataLoader's prefetch_factor where the program asks for none.
const usualPrefetch = 2
