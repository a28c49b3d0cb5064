package cause

import (
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// tracedMemoryBound names chains of element-wise kernels: each reads and writes its whole operands for an operation or two per
// element, so that memory is what they wait for. Kernels that a compiler fused already are left out.
func tracedMemoryBound(t *Traced, _ Ledger) []Draft {
	time, n, compiled := 0.0, int64(0), false
	var best *analyse.Kernel
	for i := range t.Kernels {
		k := &t.Kernels[i]
		compiled = compiled || strings.HasPrefix(k.Name, "triton_") // as torch.compile names its kernels
		if k.Class != analyse.ClassElementwise || strings.HasPrefix(k.Name, "triton_") {
			continue
		}
		time += float64(k.Dur)
		n += k.Count
		if best == nil || k.Dur > best.Dur {
			best = k
		}
	}
	if best == nil || time < price.MemoryBoundShare*t.Span {
		return nil
	}
	f := t.kernelFinding(MemoryBound, time, best.Where, "memory.traced", price.Elementwise)
	if f.Where.Op == "" {
		f.Where.Op = best.Launcher
	}
	most := wording.Say("memory.most-called-by-none", wording.Named("kernel", cut(best.Name, 60)))
	if best.Launcher != "" {
		most = wording.Say("memory.most-called-by", wording.Named("kernel", cut(best.Name, 60)), wording.Named("op", best.Launcher))
	}
	f.Evidence = []wording.Text{
		wording.Say("memory.kernels", wording.Time("time", time), wording.Count("n", n), wording.Time("mean", time/float64(n))), most,
	}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-compile")}
	f.Fix.Action = insertLine("model = torch.compile(model)")
	if compiled {
		f.Fix.Advice = []wording.Text{wording.Say("memory.fix-compile-rest")}
		f.Fix.Action = Action{}
	}
	b := price.Elementwise.Bounds()
	f.Caveat = append(f.Caveat, wording.Say("memory.caveat-bytes", wording.Share("low", b.Low), wording.Share("high", b.High)))
	return []Draft{f}
}

// findMemoryBound names steps on the CPU of which element-wise operators take a large part: an optimizer's chain over all
// parameters, or the program's own. Each reads and writes its whole operands. Small operators are the
// cause launch.
func findMemoryBound(c *Facts, l Ledger) []Draft {
	o := c.B.Ops
	if o == nil || c.B.Total <= 0 {
		return nil
	}
	all, inOptimizer, chain := 0.0, 0.0, 0.0
	for _, k := range o.Kinds {
		all += k.Time
		switch k.Kind {
		case analyse.OpOptimizer:
			if o.OptimizerMost < price.SingleOp {
				inOptimizer = k.Time
			}
		case analyse.OpElementwise:
			chain = k.Time
		}
	}
	if all <= 0 {
		return nil
	}
	ops := c.B.Part(analyse.PartOps)
	inOptimizer, chain = max(ops*inOptimizer/all-l.OptimizerOps(), 0), ops*chain/all
	if c.share(inOptimizer+chain) < price.ChainShare || o.Time < price.ChainOp*o.Top {
		return nil
	}
	// The optimizer's chain and the program's own have cures of their own: each is told and priced alone.
	var out []Draft
	for _, part := range []struct {
		time      float64
		optimizer bool
	}{{inOptimizer, true}, {chain, false}} {
		if largest := part.time == max(inOptimizer, chain); largest || c.share(part.time) >= price.MemoryBoundShare {
			out = append(out, c.chainFinding(l, part.time, part.optimizer))
		}
	}
	return out
}

// chainFinding is about so many ns of element-wise operators over the windows, the optimizer's or the program's own.
func (c *Facts) chainFinding(l Ledger, time float64, optimizer bool) Draft {
	f := draft(Finding{Cause: MemoryBound, Where: nowhere(), Share: c.share(time), Confidence: c.basis(len(c.B.Samples))},
		Parts{analyse.PartOps: time})
	own := c.chainPlace(l, &f.Finding, optimizer) && optimizer
	per := c.perStep(time)
	f.Step = f.by(fusedChain(c.B.Ops, optimizer)).Times(per)
	f.Run = c.overRun(f.Step)
	f.Title = wording.Say("memory.chain", wording.Share("share", f.Share), c.unit())
	where := "memory.outside-optimizer"
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-fuse")}
	if optimizer {
		where = "memory.in-optimizer"
		f.Fix.Advice = []wording.Text{wording.Say("memory.fix-fused-optimizer")}
		f.Fix.Action = setArguments("", Argument{Name: fused, Value: "True"})
	}
	if own {
		f.Fix.Advice = []wording.Text{wording.Say("memory.fix-own-optimizer")}
		f.Fix.Action = Action{}
	}
	f.Evidence = []wording.Text{wording.Say(where, wording.Time("time", per), c.unit())}
	f.Caveat = []wording.Text{wording.Say("memory.caveat-experience")}
	return f
}

// fused is the argument by which an optimizer goes over its parameters once.
const fused = "fused"

// fusedChain is the share of a chain that fusing saves: most where an optimizer's chain makes new tensors (Adam, weight decay), whose
// memory is fetched anew each time and needs no fetching at all then, less where all of it works in place (SGD with momentum). Of other
// chains less is known.
func fusedChain(o *analyse.OpAccount, optimizer bool) price.Row {
	switch {
	case !optimizer:
		return price.FusedChain
	case o.OptimizerMakes < price.MakesShare:
		return price.FusedInPlace
	}
	anew := price.FusedAnew
	anew.Mid = max(anew.Mid, price.FusedNew.Mid*o.OptimizerMakes+price.FusedInPlace.Mid*(1-o.OptimizerMakes))
	return anew
}

// chainPlace is the user's line that calls most of the operators: the optimizer's step, or else the rest of the step. own says that they
// would be an optimizer of the program's own.
func (c *Facts) chainPlace(l Ledger, f *Finding, optimizer bool) (own bool) {
	chains := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *analyse.Attributed) bool {
		acts := c.C.Info(c.P.Samples.Stack[a.Index]).Acts
		return a.Part == analyse.PartOps && !l.Taken(k) && acts&analyse.ActBackward == 0 && (acts&analyse.ActOptimizer != 0) == optimizer
	})
	if sp, ok := hottest(chains, c.drivers); ok && len(chains) >= minSamples {
		f.Where = c.where(sp)
	}
	return c.ownOptimizer(chains)
}
