package cause

import (
	"fmt"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
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
	f.Evidence = []Evidence{{Text: fmt.Sprintf("%d × %s: %s, %.3g GB/s", best.Count, best.Name, ms(float64(best.Dur)), best.GBs()), Value: best.GBs(), Unit: "GB/s"}}
	f.Fix.Text = "Copy while the device computes: pinned host memory and non_blocking=True, a batch ahead; or copy less."
	if pageable > 0.5*time {
		f.Evidence = append(f.Evidence, Evidence{Text: fmt.Sprintf("of the %s that nothing hides, %s are from or to pageable memory, which the device cannot reach by itself", ms(time), ms(pageable)), Value: pageable / 1e6, Unit: "ms"})
		f.Fix.Change = "DataLoader(..., pin_memory=True) and x.to(device, non_blocking=True)"
	}
	f.Caveat = "What a copy waits for before it starts is not counted here."
	return []Draft{f}
}
