package input

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
	"cmp"
	"slices"
	"strconv"
)

// uneven finds the worker for whose batches all wait: batches are handed over in turn, one of each worker, so that the slowest worker sets
// the pace, and what the others have made lies ready meanwhile.
func (v *inputView) uneven() {
	if len(v.serving) < 2 || v.fetch <= 0 {
		return
	}
	w := slices.MaxFunc(v.serving, func(a, b *facts.WorkerView) int { return cmp.Compare(a.Mean, b.Mean) })
	life := float64(w.Fetches[len(w.Fetches)-1].End - w.Fetches[0].Start)
	if len(w.Fetches) < facts.MinSamples || w.Mean < price.UnevenFetch*v.fetch || life <= 0 ||
		w.Mean*float64(len(w.Fetches)) < price.UnevenBusy*life {
		return
	}
	v.slowest = w
	n := 0
	for _, o := range v.serving {
		if o != w {
			v.quick += o.Mean * float64(len(o.Fetches))
			n += len(o.Fetches)
		}
	}
	v.quick /= float64(max(n, 1))
}

// pace is the time in ns of the batch that sets the pace: the mean one, or the slowest worker's.
func (v *inputView) pace() float64 {
	if v.slowest != nil {
		return v.slowest.Mean
	}
	return v.fetch
}

// turns says of a slow worker that the others' batches lie ready while its own is waited for.
func (v *inputView) turns(f *finding.Finding) {
	if v.slowest == nil || v.own || f.Sub == "handover" {
		return
	}
	f.Evidence = append(f.Evidence, wording.Say("input.slow-worker", wording.Time("slowest", v.slowest.Mean),
		wording.Named("pid", strconv.Itoa(v.slowest.P.PID)), wording.Time("others", v.quick)))
	f.Fix.Advice = append(f.Fix.Advice, wording.Say("input.fix-share-out"))
}
