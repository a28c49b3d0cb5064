package replay

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse"
	"bottleneck/internal/model"
)

// liveRank is one rank's unprofiled step as a mean, ns: in collectives, and outside of them.
type liveRank struct {
	b         *analyse.Breakdown
	comm, own float64
}

// liveRanks accounts for the ranks of a session that have unprofiled steps, the one that works least first; nil of fewer than two.
func liveRanks(s *model.Session) []liveRank {
	var out []liveRank
	for _, p := range s.Processes {
		if p.Rank < 0 || len(p.Steps) == 0 || p.Role == model.RoleWorker || p.Role == model.RoleCompile {
			continue
		}
		b := analyse.StepBreakdown(s, p)
		if n := float64(len(b.Windows)); b.PerStep && n > 0 && len(b.Samples) > 0 {
			comm := b.Part(analyse.PartComm) / n
			out = append(out, liveRank{b, comm, max(b.Mean()-comm, 0)})
		}
	}
	if len(out) < 2 {
		return nil
	}
	slices.SortStableFunc(out, func(x, y liveRank) int { return cmp.Compare(x.own, y.own) })
	return out
}

// meetLive says whether the ranks of a live session wait in collectives.
func (r *Session) meetLive() bool {
	if !r.rankedYet {
		r.ranks, r.rankedYet = liveRanks(r.s), true
	}
	return slices.ContainsFunc(r.ranks, func(k liveRank) bool { return k.comm > 0 })
}

// equalLive is the question about ranks that wait for no late one, put to the rank in the middle: it waits in collectives as much
// less as the last one comes later.
func (r *Session) equalLive(c Change) (*Session, Change) {
	c.RanksEqual = false
	if !r.meetLive() {
		return r, c
	}
	middle, late := r.ranks[(len(r.ranks)-1)/2], r.ranks[len(r.ranks)-1]
	of := r
	if middle.b.Process != r.b.Process {
		if other := newSession(r.s, middle.b, 0); other != nil && other.Unprofiled() && (r.only == nil || other.Only(*r.only)) {
			of = other
		}
	}
	if middle.comm > 0 {
		c.Scale = append(slices.Clone(c.Scale), Scale{analyse.PartComm.String(), max(1-(late.own-middle.own)/middle.comm, 0)})
	}
	return of, c
}
