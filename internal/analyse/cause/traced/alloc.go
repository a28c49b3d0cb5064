package traced

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/wording"
)

// FindAlloc names devices that stand still because memory is asked of the driver or given back, each of which waits for the
// device. PyTorch's own cache does so only while it grows, after an empty_cache(), or when it is fragmented.
func FindAlloc(t *Traced, _ finding.Ledger) []finding.Draft {
	time, at, gaps := t.idle(device.IdleAlloc)
	f := t.idleFinding(finding.Alloc, time, at, gaps, "alloc.driver")
	f.Run = f.By(price.TracedAlloc).Times(time)
	f.Fix.Advice = []wording.Text{wording.Say("alloc.fix-keep")}
	f.Fix.Action = finding.SetVariable("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
	longest := wording.Say("alloc.longest-outside")
	if at.Op != "" {
		longest = wording.Say("alloc.longest-in", wording.Named("op", at.Op))
	}
	f.Evidence = append(f.Evidence, longest)
	f.Caveat = []wording.Text{wording.Say("alloc.caveat-growth")}
	return []finding.Draft{f}
}
