package cause

import (
	"fmt"
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
	f := t.kernelFinding(MemoryBound, time, best.Where, "element-wise kernels move data and compute little", price.Elementwise)
	if f.Where.Op == "" {
		f.Where.Op = best.Launcher
	}
	f.Evidence = []wording.Text{
		wording.Raw(fmt.Sprintf("%s in %d element-wise kernels of %s on average", ms(time), n, ms(time/float64(n))), wording.RawFact(time/1e6, "ms")),
		wording.Raw(fmt.Sprintf("most in %s, called by %s", cut(best.Name, 60), nonEmpty(best.Launcher, "no operator"))),
	}
	f.Fix.Advice = []wording.Text{wording.Raw("Let torch.compile fuse the chain, so that the data moves once; use operators that are fused already (attention, normalisation, optimizers with fused=True).")}
	f.Fix.Action = insertLine("model = torch.compile(model)")
	if compiled {
		f.Fix.Advice = []wording.Text{wording.Raw("torch.compile fuses a part of the program already, and these kernels lie outside of it: compile the functions that call them as well, or mend what breaks the compiled graph there (TORCH_LOGS=graph_breaks lists it).")}
		f.Fix.Action = Action{}
	}
	b := price.Elementwise.Bounds()
	f.Caveat = append(f.Caveat, wording.Raw(fmt.Sprintf(" Its bounds are %.0f to %.0f %% of these kernels' time, from experience: the trace does not say how many bytes they move."+
		" How much a chain gains depends on how many operators of it become one.", 100*b.Low, 100*b.High)))
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
	f.Title = wording.Raw(fmt.Sprintf("%s of %s is element-wise work that moves data and computes little", percent(f.Share), c.each()))
	where := "in element-wise operators outside of the optimizer"
	f.Fix.Advice = []wording.Text{wording.Raw("Let torch.compile fuse the chain, so that the data moves once, or write it with fewer temporaries (in place, addcmul, lerp). What is the same in every step is computed once, before them.")}
	if optimizer {
		where = "in the optimizer, operator by operator over all parameters"
		f.Fix.Advice = []wording.Text{wording.Raw("Let the optimizer go over its parameters once: fused=True where it is built. Where most gradients are zero (embeddings), sparse gradients with SparseAdam touch only the rows in use.")}
		f.Fix.Action = setArguments("", Argument{fused, "True"})
	}
	if own {
		f.Fix.Advice = []wording.Text{wording.Raw("Go over the parameters once: an optimizer of torch.optim with fused=True in place of this one, or torch.compile around its update. Operators that work in place (addcdiv_, lerp_) save the temporaries.")}
		f.Fix.Action = Action{}
	}
	f.Evidence = []wording.Text{wording.Raw(fmt.Sprintf("%s per %s %s", ms(per), c.Unit(), where), wording.RawFact(per/1e6, "ms"))}
	f.Caveat = []wording.Text{wording.Raw("How much fusing gains is a range from experience, not from a measurement of this program: try it.")}
	return f
}

// fused is the argument by which an optimizer goes over its parameters once.
const fused = "fused"

// fusedChain is the share of a chain that fusing saves: most where an optimizer's chain makes new tensors (Adam, weight decay), whose memory is
// fetched anew each time and needs no fetching at all then, less where all of it works in place (SGD with momentum). Of other chains less is
// known.
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
