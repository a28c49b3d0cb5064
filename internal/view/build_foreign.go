package view

import (
	"cmp"
	"fmt"
	"slices"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause"
)

// idleFindings maps why a device idled to causes. What the host did in a gap is not known from a trace without samples.
var idleFindings = map[string]struct{ cause, title, fix string }{
	"sync":   {cause.Sync, "the device idles because the program waited for it", "Keep values on the device until they are needed, and copy them every n-th step."},
	"launch": {cause.Launch, "the device idles because work reaches it too slowly", "Fewer, larger operators: batches, fused optimizers, torch.compile, CUDA graphs."},
	"input":  {cause.Input, "the device idles while the program waits for data", "More DataLoader workers, or a faster data set."},
	"host":   {cause.Python, "the device idles while the launching thread does something else", "Record stacks (with_stack=True) or run the program under bottleneck to see the line."},
}

// foreignFindings names what keeps devices from computing in traces from elsewhere. A trace holds no unprofiled step, so that
// nothing is priced: the upper bound of a saving is the time named.
func (b *builder) foreignFindings(gpus []analyse.GPU, span float64) {
	sums, places := map[string]float64{}, map[string]analyse.IdleCause{}
	comm, copies := 0.0, 0.0
	for i := range gpus {
		comm += float64(gpus[i].ExposedCommunication)
		copies += float64(gpus[i].ExposedCopy)
		for _, c := range gpus[i].IdleBy {
			sums[c.Cause] += float64(c.Dur)
			if c.Dur > places[c.Cause].Dur {
				places[c.Cause] = c
			}
		}
	}
	add := func(id, title, fix string, t float64, where Where) {
		if t < cause.Floor*span {
			return
		}
		b.r.Findings = append(b.r.Findings, Finding{Cause: id, Title: fmt.Sprintf("%s: %s of the devices' time", title, Percent(t/span)), Share: t / span, Of: "run", Where: where,
			Evidence: []Evidence{{Text: fmt.Sprintf("%s over all devices of the trace", Milliseconds(t/1e6)), Value: ptr(t / 1e6), Unit: "ms"}},
			Fix:      Fix{Text: fix}, Caveat: "Traced time: tracing slows the launching side, so that idle time is overstated.",
			Confidence: &Confidence{"medium", "a trace without an unprofiled baseline prices nothing"}})
	}
	for name, f := range idleFindings {
		add(f.cause, f.title, f.fix, sums[name], traceWhere(places[name].Where))
	}
	add(cause.Comm, "collectives run while nothing computes", "Overlap with the backward pass, send less, or send less often.", comm, Where{})
	add(cause.Copy, "copies run while nothing computes", "Pinned memory and non_blocking copies, or copy less.", copies, Where{})
	sortFindings(b.r.Findings)
}

// sortFindings puts the largest share first, in a fixed order on ties.
func sortFindings(f []Finding) {
	slices.SortFunc(f, func(x, y Finding) int { return cmp.Or(cmp.Compare(y.Share, x.Share), cmp.Compare(x.Cause, y.Cause)) })
}
