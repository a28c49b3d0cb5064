package cause

import (
	"fmt"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// findAlloc names devices that stand still because memory is asked of the driver or given back, each of which waits for the
// device. PyTorch's own cache does so only while it grows, after an empty_cache(), or when it is fragmented.
func findAlloc(t *Traced, _ Ledger) []Draft {
	time, at, gaps := t.idle(analyse.IdleAlloc)
	f := t.idleFinding(Alloc, time, at, gaps, "the device idles while the driver allocates or frees memory")
	f.Run = f.by(price.TracedAlloc).Times(time)
	f.Fix.Advice = []wording.Text{wording.Raw("Do not call torch.cuda.empty_cache() in the loop, keep shapes the same from step to step, and let PyTorch's allocator use expandable segments.")}
	f.Fix.Action = setEnvironment("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
	f.Evidence = append(f.Evidence, wording.Raw(fmt.Sprintf("longest place: %s", nonEmpty(at.Op, "outside of operators"))))
	f.Caveat = []wording.Text{wording.Raw("In the first steps the cache grows as a matter of course: a trace of those shows this in every program.")}
	return []Draft{f}
}
