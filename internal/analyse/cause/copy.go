package cause

import (
	"fmt"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// findCopy names copies between host and device that run while nothing computes.
func findCopy(t *Traced, _ Ledger) []Draft {
	var best analyse.Copy
	time, pageable := 0.0, 0.0
	for i := range t.Parts {
		for _, c := range t.Parts[i].Copies {
			if c.Direction == "Memset" || c.Direction == "DtoD" {
				continue
			}
			time += float64(c.Exposed)
			if c.Pageable {
				pageable += float64(c.Exposed)
			}
			if c.Exposed > best.Exposed {
				best = c
			}
		}
	}
	f := t.finding(Copy, time, best.Where, "copies between host and device run while nothing computes")
	f.Run = f.by(price.TracedCopy).Times(time)
	f.Evidence = []wording.Text{wording.Raw(fmt.Sprintf("%d × %s: %s, %.3g GB/s", best.Count, best.Name, ms(float64(best.Dur)), best.GBs()), wording.RawFact(best.GBs(), "GB/s"))}
	f.Fix.Advice = []wording.Text{wording.Raw("Copy while the device computes: pinned host memory and non_blocking=True, a batch ahead; or copy less.")}
	if pageable > 0.5*time {
		f.Evidence = append(f.Evidence, wording.Raw(fmt.Sprintf("of the %s that nothing hides, %s are from or to pageable memory, which the device cannot reach by itself", ms(time), ms(pageable)), wording.RawFact(pageable/1e6, "ms")))
		f.Fix.Action = setArguments("DataLoader", Argument{"pin_memory", "True"})
		f.Fix.Advice = append(f.Fix.Advice, wording.Say("copy.fix-both"))
	}
	f.Caveat = []wording.Text{wording.Raw("What a copy waits for before it starts is not counted here.")}
	return []Draft{f}
}
