package cause

import (
	"slices"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
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
	c            *Facts
	chains       []chain // of the late rank, outside of collectives
	steps        float64
	mine, others lateTimes
	own          float64 // ns per step of the others outside of collectives
}

func (c *Facts) lateView(late rankView, ranks []rankView) *lateView {
	v := &lateView{c: c, mine: lateTimes{}, others: lateTimes{}}
	for _, r := range ranks {
		cls := analyse.NewFrameClasses(c.S, r.p)
		chains := chainsOf(cls, &r.p.Samples, r.b.Samples, func(_ int, a *analyse.Attributed) bool { return a.Part != analyse.PartComm })
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
			for i := range ch.frames {
				k := v.key(&ch.frames[i])
				for _, k := range []lateKey{k, {k.file, k.fn, 0}} {
					if !done[k] {
						done[k] = true
						into[k] += ch.weight / n
					}
				}
			}
		}
	}
	return v
}

func (v *lateView) key(f *model.Frame) lateKey {
	return lateKey{v.c.text(f.File), v.c.text(f.Function), f.Line}
}

// alone says that the others spend less than a tenth of the late rank's time there, and little of their own.
func (v *lateView) alone(k lateKey) bool {
	return v.others[k] < min(price.LateOthers*v.mine[k], price.LateOwn*v.own)
}

// lateLine is the user's line at which the late rank spends most more per step than the mean of the others: of what it alone does,
// the innermost line in functions that the others do not run; else the innermost line with the largest difference, and shared
// says that the others run it too.
func (c *Facts) lateLine(late rankView, ranks []rankView) (place spot, shared, ok bool) {
	v := c.lateView(late, ranks)
	least := price.LateOwn * (late.own - minOwn(ranks))
	if sp, found := v.apart(); found && sp.line >= least {
		return sp, false, true
	}
	best, most := spot{}, least
	at := lineTimes(v.chains)
	other := lateTimes{}
	for _, r := range ranks {
		if r.p == late.p {
			continue
		}
		cls := analyse.NewFrameClasses(c.S, r.p)
		chains := chainsOf(cls, &r.p.Samples, r.b.Samples, func(_ int, a *analyse.Attributed) bool { return a.Part != analyse.PartComm })
		for _, sp := range lineTimes(chains) {
			other[v.key(&sp.frame)] += sp.line / float64(len(r.b.Windows)) / float64(len(ranks)-1)
		}
	}
	for _, sp := range at {
		mine := sp.line / v.steps
		if d := mine - other[v.key(&sp.frame)]; d > most {
			sp.line = d
			best, most, ok = sp, d, true
			shared = d < price.LateSame*mine
		}
	}
	return best, shared, ok
}

// apart is the line that holds most of the time that the late rank alone spends, cut below the functions that only it runs.
func (v *lateView) apart() (spot, bool) {
	var own []chain
	for _, ch := range v.chains {
		first := slices.IndexFunc(ch.frames, func(f model.Frame) bool { return v.alone(v.key(&f)) })
		if first < 0 {
			continue
		}
		last := first
		for last+1 < len(ch.frames) {
			k := v.key(&ch.frames[last+1])
			if !v.alone(lateKey{k.file, k.fn, 0}) {
				break
			}
			last++
		}
		ch.frames = ch.frames[:last+1]
		own = append(own, ch)
	}
	lines := lineTimes(own)
	if len(lines) == 0 || v.steps == 0 {
		return spot{}, false
	}
	sp := lines[0]
	sp.line /= v.steps
	return sp, true
}

func minOwn(ranks []rankView) float64 {
	m := ranks[0].own
	for _, r := range ranks {
		m = min(m, r.own)
	}
	return m
}
