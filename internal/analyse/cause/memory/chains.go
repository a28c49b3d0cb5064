package memory

import (
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/wording"
)

// Compiled is the line by which a model is compiled.
const Compiled = "model = torch.compile(model)"

// TracedMemoryBound names chains of element-wise kernels: each reads and writes its whole operands for an operation or two per
// element, so that memory is what they wait for. Kernels that a compiler fused already are left out.
func TracedMemoryBound(t *traced.Traced, _ finding.Ledger) []finding.Draft {
	time, n, compiled := -float64(tracedAttention(t).Elementwise), int64(0), false // that has a finding of its own
	var best *device.Kernel
	for i := range t.Kernels {
		k := &t.Kernels[i]
		compiled = compiled || strings.HasPrefix(k.Name, "triton_") // as torch.compile names its kernels
		if k.Class != naming.ClassElementwise || strings.HasPrefix(k.Name, "triton_") {
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
	f := t.KernelFinding(finding.MemoryBound, time, best.Where, "memory.traced", price.Elementwise)
	if f.Where.Op == "" {
		f.Where.Op = best.Launcher
	}
	most := wording.Say("memory.most-called-by-none", wording.Named("kernel", finding.Cut(best.Name, 60)))
	if best.Launcher != "" {
		most = wording.Say("memory.most-called-by", wording.Named("kernel", finding.Cut(best.Name, 60)), wording.Named("op", best.Launcher))
	}
	f.Evidence = []wording.Text{
		wording.Say("memory.kernels", wording.Time("time", time), wording.Count("n", n), wording.Time("mean", time/float64(n))), most,
	}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-compile")}
	f.Fix.Action = finding.NewLine(Compiled)
	if compiled {
		f.Fix.Advice = []wording.Text{wording.Say("memory.fix-compile-rest")}
		f.Fix.Action = finding.Action{}
	}
	b := price.Elementwise.Bounds()
	f.Caveat = append(f.Caveat, wording.Say("memory.caveat-bytes", wording.Share("low", b.Low), wording.Share("high", b.High)))
	return []finding.Draft{f}
}

// FindMemoryBound names steps on the CPU of which element-wise operators take a large part: an optimizer's chain over all
// parameters, or the program's own. Each reads and writes its whole operands. Small operators are the
// cause launch.
func FindMemoryBound(c *facts.Facts, l finding.Ledger) []finding.Draft {
	o := c.B.Ops
	if o == nil || c.B.Total <= 0 {
		return nil
	}
	all, inOptimizer, chain := 0.0, 0.0, 0.0
	for _, k := range o.Kinds {
		all += k.Time
		switch k.Kind {
		case naming.OpOptimizer:
			if o.OptimizerMost < price.SingleOp {
				inOptimizer = k.Time
			}
		case naming.OpElementwise:
			chain = k.Time
		}
	}
	if all <= 0 {
		return nil
	}
	ops := c.B.Part(account.PartOps)
	inOptimizer, chain = max(ops*inOptimizer/all-l.OptimizerOps(), 0), max(ops*chain/all-l.ElementwiseOps(), 0)
	if c.Share(inOptimizer+chain) < price.ChainShare || o.Time < price.ChainOp*o.Top {
		return nil
	}
	// The optimizer's chain and the program's own have cures of their own: each is told and priced alone.
	var out []finding.Draft
	for _, part := range []struct {
		time      float64
		optimizer bool
	}{{inOptimizer, true}, {chain, false}} {
		if largest := part.time == max(inOptimizer, chain); largest || c.Share(part.time) >= price.MemoryBoundShare {
			out = append(out, chainFinding(c, l, part.time, part.optimizer))
		}
	}
	return out
}

// chainFinding is about so many ns of element-wise operators over the windows, the optimizer's or the program's own.
func chainFinding(c *facts.Facts, l finding.Ledger, time float64, optimizer bool) finding.Draft {
	f := finding.NewDraft(finding.Finding{Cause: finding.MemoryBound, Where: finding.Nowhere(), Share: c.Share(time),
		Confidence: c.Basis(len(c.B.Samples))},
		finding.Parts{account.PartOps: time})
	own := chainPlace(c, l, &f.Finding, optimizer) && optimizer
	per := c.PerStep(time)
	f.Step = f.By(fusedChain(c.B.Ops, optimizer)).Times(per)
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("memory.chain", wording.Share("share", f.Share), c.Said())
	where := "memory.outside-optimizer"
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-fuse")}
	if optimizer {
		where = "memory.in-optimizer"
		f.Fix.Advice = []wording.Text{wording.Say("memory.fix-fused-optimizer")}
		f.Fix.Action = finding.SetArguments("", finding.Argument{Name: Fused, Value: "True"})
	}
	if own {
		f.Fix.Advice = []wording.Text{wording.Say("memory.fix-own-optimizer")}
		f.Fix.Action = finding.Action{}
	}
	f.Evidence = []wording.Text{wording.Say(where, wording.Time("time", per), c.Said())}
	f.Caveat = []wording.Text{wording.Say("memory.caveat-experience")}
	return f
}

// Fused is the argument by which an optimizer goes over its parameters once.
const Fused = "fused"

// fusedChain is the share of a chain that fusing saves: most where an optimizer's chain makes new tensors (Adam, weight decay), whose
// memory is fetched anew each time and needs no fetching at all then, less where all of it works in place (SGD with momentum). Of other
// chains less is known.
func fusedChain(o *account.OpAccount, optimizer bool) price.Row {
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
func chainPlace(c *facts.Facts, l finding.Ledger, f *finding.Finding, optimizer bool) (own bool) {
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		acts := c.C.Info(c.P.Samples.Stack[a.Index]).Acts
		return a.Part == account.PartOps && !l.Taken(k) && acts&code.ActBackward == 0 && (acts&code.ActOptimizer != 0) == optimizer
	})
	if sp, ok := facts.Hottest(chains, c.Drivers); ok && len(chains) >= facts.MinSamples {
		f.Where = c.Where(sp)
	}
	own = c.OwnOptimizer(chains)
	if at, ok := c.BuiltAt(chains); ok && optimizer && !own {
		f.Where = at
	}
	return own
}
