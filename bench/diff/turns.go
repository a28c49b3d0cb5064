//go:build linux

package main

import (
	"bottleneck/internal/compare"
	"bottleneck/internal/report"
	"fmt"
	"math/rand/v2"
)

// mostLooks is after how many pairs in turns a comparison that has not decided is left.
const mostLooks = 20

// inTurns compares sides that are made in turns on a machine that drifts, and looks after every pair, as ab does.
func (m *measurement) inTurns() error {
	r := rand.New(rand.NewPCG(3, 4))
	both := spreads(r)
	for _, c := range both {
		wrong, _ := looks(r, m.pairs, c.draw, 1)
		m.say(fmt.Sprintf("A/A in turns, %d times, %s, looked at after each of %d pairs: called different", m.pairs, c.name, mostLooks),
			percent(wrong, m.pairs), "≤ 1 %", 100*wrong <= m.pairs)
	}
	found, pairs := looks(r, m.pairs, both[0].draw, 1.15)
	m.say(fmt.Sprintf("+15 %% in turns, runs spread by 1.5 %%: found, after %.1f pairs on average", pairs), percent(found, m.pairs),
		"≥ 95 %", 100*found >= 95*m.pairs)
	found, pairs = looks(r, m.pairs, both[0].draw, 1.03)
	m.note(fmt.Sprintf("+3 %% in turns, runs spread by 1.5 %%: found within %d pairs, after %.1f on average", mostLooks, pairs),
		percent(found, m.pairs), "(no goal)")
	return nil
}

// looks is how many comparisons call the sides different at some look, and after how many pairs those did on average.
func looks(r *rand.Rand, times int, draw func() float64, factor float64) (different int, pairs float64) {
	for range times {
		var runs [2][]float64
		drift := 1.0
		for n := 1; n <= mostLooks; n++ {
			drift *= 1 + 0.01*r.NormFloat64()
			runs[0], runs[1] = append(runs[0], drift*draw()), append(runs[1], drift*factor*draw())
			d, err := compare.Diff(sideOf(runs[0]), sideOf(runs[1]), compare.Options{InTurns: true})
			if err == nil && (d.Verdict == report.Slower || d.Verdict == report.Faster) {
				different++
				pairs += float64(n)
				break
			}
		}
	}
	return different, pairs / float64(max(different, 1))
}
