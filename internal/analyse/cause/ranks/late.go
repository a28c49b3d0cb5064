package ranks

import (
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
)

// lateKey is a line of a function, or with line 0 the function, by name: ranks number their frames apart.
type lateKey struct {
	file, fn string
	line     int32
}

// lateTimes is ns per step that one rank or the mean of the others spends at each line and in each function.
type lateTimes map[lateKey]float64

// lateView compares the late rank with the others.
type lateView struct {
	c            *facts.Facts
	chains       []facts.Chain // of the late rank, outside of collectives
	steps        float64
	mine, others lateTimes
	own          float64 // ns per step of the others outside of collectives
}

func viewLate(c *facts.Facts, late rankView, ranks []rankView) *lateView {
	v := &lateView{c: c, mine: lateTimes{}, others: lateTimes{}}
	for _, r := range ranks {
		cls := code.NewFrameClasses(c.S, r.p)
		chains := facts.ChainsOf(cls, &r.p.Samples, r.b.Samples, func(_ int, a *account.Attributed) bool {
			return a.Part != account.PartComm
		})
		n, into := float64(len(r.b.Windows)), v.mine
		if r.p == late.p {
			v.chains, v.steps = chains, n
		} else {
			n *= float64(len(ranks) - 1)
			into = v.others
			v.own += r.own / float64(len(ranks)-1)
		}
		for _, ch := range chains {
			done := map[lateKey]bool{}
			for i := range ch.Frames {
				k := v.key(&ch.Frames[i])
				for _, k := range []lateKey{k, {k.file, k.fn, 0}} {
					if !done[k] {
						done[k] = true
						into[k] += ch.Weight / n
					}
				}
			}
		}
	}
	return v
}

func (v *lateView) key(f *model.Frame) lateKey {
	return lateKey{v.c.Text(f.File), v.c.Text(f.Function), f.Line}
}

// alone says that the others spend less than a tenth of the late rank's time there, and little of their own.
func (v *lateView) alone(k lateKey) bool {
	return v.others[k] < min(price.LateOthers*v.mine[k], price.LateOwn*v.own)
}

// lateLine is the user's line at which the late rank spends most more per step than the mean of the others: of what it alone does,
// the innermost line in functions that the others do not run; else the innermost line with the largest difference, and shared
// says that the others run it too.
func lateLine(c *facts.Facts, late rankView, ranks []rankView) (place facts.Spot, shared, ok bool) {
	v := viewLate(c, late, ranks)
	least := price.LateOwn * (late.own - minOwn(ranks))
	if sp, found := v.apart(); found && sp.Line >= least {
		return sp, false, true
	}
	best, most := facts.Spot{}, least
	at := facts.LineTimes(v.chains)
	other := lateTimes{}
	for _, r := range ranks {
		if r.p == late.p {
			continue
		}
		cls := code.NewFrameClasses(c.S, r.p)
		chains := facts.ChainsOf(cls, &r.p.Samples, r.b.Samples, func(_ int, a *account.Attributed) bool {
			return a.Part != account.PartComm
		})
		for _, sp := range facts.LineTimes(chains) {
			other[v.key(&sp.Frame)] += sp.Line / float64(len(r.b.Windows)) / float64(len(ranks)-1)
		}
	}
	for _, sp := range at {
		mine := sp.Line / v.steps
		if d := mine - other[v.key(&sp.Frame)]; d > most {
			sp.Line = d
			best, most, ok = sp, d, true
			shared = d < price.LateSame*mine
		}
	}
	return best, shared, ok
}

// apart is the line that holds most of the time that the late rank alone spends, cut below the functions that only it runs.
func (v *lateView) apart() (facts.Spot, bool) {
	var own []facts.Chain
	for _, ch := range v.chains {
		first := slices.IndexFunc(ch.Frames, func(f model.Frame) bool { return v.alone(v.key(&f)) })
		if first < 0 {
			continue
		}
		last := first
		for last+1 < len(ch.Frames) {
			k := v.key(&ch.Frames[last+1])
			if !v.alone(lateKey{k.file, k.fn, 0}) {
				break
			}
			last++
		}
		ch.Frames = ch.Frames[:last+1]
		own = append(own, ch)
	}
	lines := facts.LineTimes(own)
	if len(lines) == 0 || v.steps == 0 {
		return facts.Spot{}, false
	}
	sp := lines[0]
	sp.Line /= v.steps
	return sp, true
}

func minOwn(ranks []rankView) float64 {
	m := ranks[0].own
	for _, r := range ranks {
		m = min(m, r.own)
	}
	return m
}
