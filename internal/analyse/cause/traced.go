package cause

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/memory"
	"bottleneck/internal/analyse/cause/precision"
	"bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/model"
	"cmp"
	"slices"
)

func tracedRules() []rule[*traced.Traced] {
	return []rule[*traced.Traced]{
		{finding.Input, traced.TracedInput}, {finding.Sync, traced.TracedSync}, {finding.Launch, traced.TracedLaunch},
		{finding.Launch, traced.TracedSlowCalls}, {finding.Python, traced.TracedPython}, {finding.Alloc, traced.FindAlloc},
		{finding.Comm, traced.TracedComm}, {finding.Copy, traced.FindCopy}, {finding.Precision, precision.FindPrecision},
		{finding.Layout, traced.FindLayout}, {finding.MemoryBound, memory.TracedAttention},
		{finding.MemoryBound, memory.TracedMemoryBound},
		{finding.Again, traced.FindActivations},
	}
}

// FindTraced names what keeps the devices of traces from elsewhere from computing, and what they compute at less than they
// could; s is the session that t is of. The shares of idle causes are of disjoint time; those of precision, layout and memory-bound are
// of the devices' busy time, by disjoint classes of kernels. Savings are of the traced time. A rule that panics is skipped and named.
func FindTraced(t *traced.Traced, s *model.Session) Result {
	var res Result
	res.Skipped = run(priced(tracedRules(), s, true), t, newBook(nil), func(d *finding.Draft) {
		if share := d.Share * t.Span / t.Total; share < finding.Floor {
			res.Largest = max(res.Largest, share)
			return
		}
		res.Findings = append(res.Findings, d.Finding)
	})
	if f, ok := traced.TracedCompute(t, res.Findings); ok {
		res.Findings = append(res.Findings, f)
	}
	rankTraced(res.Findings)
	return res
}

// rankTraced puts first what saves most, and last what is no defect.
func rankTraced(found []finding.Finding) {
	slices.SortStableFunc(found, func(a, b finding.Finding) int {
		return cmp.Or(cmp.Compare(finding.Btoi(a.Healthy), finding.Btoi(b.Healthy)), cmp.Compare(b.Run.Mid, a.Run.Mid),
			cmp.Compare(b.Share, a.Share))
	})
}
