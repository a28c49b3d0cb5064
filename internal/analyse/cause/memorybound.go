package cause

import (
	"fmt"
	"strings"

	"bottleneck/internal/analyse"
)

// memoryBoundShare is the share of the devices' or the step's time from which element-wise work is worth fusing.
const memoryBoundShare = 0.15

// tracedMemoryBound names chains of element-wise kernels: each reads and writes its whole operands for an operation or two per
// element, so that memory is what they wait for. Kernels that a compiler fused already are left out.
func tracedMemoryBound(t *Traced) []Finding {
	time, n := 0.0, int64(0)
	var best *analyse.Kernel
	for i := range t.Kernels {
		k := &t.Kernels[i]
		if k.Class != analyse.ClassElementwise || strings.HasPrefix(k.Name, "triton_") {
			continue
		}
		time += float64(k.Dur)
		n += k.Count
		if best == nil || k.Dur > best.Dur {
			best = k
		}
	}
	if best == nil || time < memoryBoundShare*t.Span {
		return nil
	}
	f := t.kernelFinding(MemoryBound, time, best.Where, "element-wise kernels move data and compute little", Range{0.2, 0.5, 0.75})
	if f.Where.Op == "" {
		f.Where.Op = best.Launcher
	}
	f.Evidence = []Evidence{
		{Text: fmt.Sprintf("%s in %d element-wise kernels of %s on average", ms(time), n, ms(time/float64(n))), Value: time / 1e6, Unit: "ms"},
		{Text: fmt.Sprintf("most in %s, called by %s", cut(best.Name, 60), nonEmpty(best.Launcher, "no operator"))},
	}
	f.Fix.Text = "Let torch.compile fuse the chain, so that the data moves once; use operators that are fused already (attention, normalisation, optimizers with fused=True)."
	f.Fix.Change = "model = torch.compile(model)"
	f.Caveat += " How much a chain gains depends on how many operators of it become one."
	return []Finding{f}
}
