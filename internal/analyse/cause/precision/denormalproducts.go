package precision

import (
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
	"bottleneck/internal/wording"
)

// FindDenormalProducts names programs whose processor meets denormal numbers that no module is given, but matrix products read: gradients
// that vanish on their way back, as through attention that is all but certain. Products of the same shapes then take very different times.
func FindDenormalProducts(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if _, shares := denormalInputs(c.P); !MeetsDenormals(c, price.DenormalLooks) || len(shares) > 0 || c.UsesDevice() {
		return nil
	}
	p := productsOf(c)
	beyond := c.B.Part(account.PartOps) * p.beyond / max(p.all, 1)
	if c.Share(beyond) < price.DenormalShare {
		return nil
	}
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		back := c.C.Info(c.P.Samples.Stack[a.Index]).Acts&code.ActBackward != 0
		return a.Part == account.PartOps && back == p.backward
	})
	sp, ok := facts.Hottest(facts.UpToDriver(chains, c.Drivers), c.Drivers)
	if !ok || sp.Samples < facts.MinSamples {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Precision, Sub: "denormal", Where: c.Where(sp), Share: c.Share(beyond),
		Confidence: c.Basis(sp.Samples)}, finding.Parts{account.PartOps: beyond})
	f.Claim.Slow = beyond
	f.Step = f.By(price.DenormalProducts).Times(c.PerStep(beyond))
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("precision.denormal", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{
		wording.Say("precision.denormal-products", wording.Count("slow", p.slow), wording.Count("calls", p.calls),
			wording.Value("times", p.most)),
		wording.Say("precision.denormal-beyond", wording.Time("time", c.PerStep(beyond)), c.Said()),
		denormalsMet(c),
	}
	fixDenormals(&f.Finding)
	return []finding.Draft{f}
}

// slowProducts are the matrix products of traced steps.
type slowProducts struct {
	all, beyond float64 // ns in operators; what products take beyond others of their shapes
	calls, slow int     // products that others have the shapes of; those that take much longer than these
	most        float64 // how many times as long the slowest takes
	backward    bool    // most of the time in slow ones lies in the backward pass
}

// productsOfStep are those of one traced step, in their order.
type productsOfStep struct {
	names, shapes []string // shapes: those of the inputs, "" where they were not recorded
	dur           []float64
	backward      []bool
	all           float64 // ns in outermost operators
}

// productsOf compares the products of traced steps with those of the same shapes: in the steps whose shapes were recorded with the fastest
// quarter, in others that call the same products with what the ones that are not slow take in the former.
func productsOf(c *facts.Facts) (p slowProducts) {
	var steps []productsOfStep
	for _, traced := range account.TracedSteps(c.S, c.B) {
		step, back := productsOfStep{}, false
		traced.EachOp(c.B.Thread, func(ev *model.Events, id model.EventID, outer bool) {
			name, dur := c.Text(ev.Name[id]), float64(ev.Dur[id])
			if outer {
				step.all += dur
				back = naming.IsBackward(name)
			}
			if _, _, ok := arguments.Factors(name); ok { // with the same shapes they have the same work each time
				step.names, step.dur, step.backward = append(step.names, name), append(step.dur, dur), append(step.backward, back)
				step.shapes = append(step.shapes, c.Text(ev.OpArgsOf(ev.Detail[id]).Shapes))
			}
		})
		steps = append(steps, step)
	}
	typical := p.typical(steps)
	usual := map[string]float64{} // what a step of such products takes for them
	for i := range steps {
		if step := &steps[i]; step.shaped() {
			t := 0.0
			for k, name := range step.names {
				if usual, ok := typical[name+step.shapes[k]]; ok {
					t += usual
				} else {
					t += step.dur[k]
				}
			}
			usual[strings.Join(step.names, " ")] = t
		}
	}
	var beyond []float64
	for i := range steps {
		if t, ok := usual[strings.Join(steps[i].names, " ")]; ok {
			p.all += steps[i].all
			beyond = append(beyond, max(sum(steps[i].dur)-t, 0))
		}
	}
	if p.slow > 0 { // each step has such numbers: what one step alone waits for is something else
		slices.Sort(beyond)
		p.beyond = beyond[(len(beyond)-1)/2] * float64(len(beyond))
	}
	return p
}

// shaped says that all products' shapes are known.
func (s *productsOfStep) shaped() bool { return len(s.shapes) > 0 && !slices.Contains(s.shapes, "") }

// typical counts the slow products of steps with shapes, and gives what the others take on average, by name and shapes of those that are
// called often enough.
func (p *slowProducts) typical(steps []productsOfStep) map[string]float64 {
	groups := map[string]*productGroup{}
	for i := range steps {
		if s := &steps[i]; s.shaped() {
			for k, name := range s.names {
				g := groups[name+s.shapes[k]]
				if g == nil {
					g = &productGroup{flops: arguments.Flops(name, s.shapes[k], "")}
					groups[name+s.shapes[k]] = g
				}
				g.add(s.dur[k], s.backward[k])
			}
		}
	}
	forward := map[int64]float64{} // what a quarter of the forward pass's products of so much work take at most
	for _, g := range groups {
		if t, known := forward[g.flops]; len(g.forward) > 0 && (!known || quarter(g.forward) < t) {
			forward[g.flops] = quarter(g.forward)
		}
	}
	out := map[string]float64{}
	behind, slow := 0.0, 0.0
	for key, g := range stats.InOrder(groups) {
		if len(g.forward)+len(g.backward) < price.DenormalCalls {
			continue
		}
		base := g.base(forward)
		usual, n := 0.0, 0
		for i, d := range slices.Concat(g.forward, g.backward) {
			if d < price.DenormalSlower*base || base <= 0 {
				usual, n = usual+d, n+1
				continue
			}
			p.slow, p.most, slow = p.slow+1, max(p.most, d/base), slow+d
			if i >= len(g.forward) {
				behind += d
			}
		}
		p.calls += len(g.forward) + len(g.backward)
		if out[key] = base; n > 0 {
			out[key] = usual / float64(n)
		}
	}
	p.backward = 2*behind >= slow
	return out
}

// productGroup are products of the same shapes.
type productGroup struct {
	flops             int64
	forward, backward []float64 // durations, ns
}

func (g *productGroup) add(dur float64, backward bool) {
	if backward {
		g.backward = append(g.backward, dur)
	} else {
		g.forward = append(g.forward, dur)
	}
}

// base is what such a product takes without denormal numbers: as the fastest quarter of them, or little more than others of about as much
// work in the forward pass.
func (g *productGroup) base(forward map[int64]float64) float64 {
	base := quarter(slices.Concat(g.forward, g.backward))
	for flops, t := range forward {
		if float64(max(flops, g.flops)) <= price.DenormalAlike*float64(min(flops, g.flops)) {
			base = min(base, price.DenormalAlike*t)
		}
	}
	return base
}

// quarter is the duration that a quarter of some do not exceed.
func quarter(dur []float64) float64 { return slices.Sorted(slices.Values(dur))[len(dur)/4] }

func sum(of []float64) (all float64) {
	for _, v := range of {
		all += v
	}
	return all
}
