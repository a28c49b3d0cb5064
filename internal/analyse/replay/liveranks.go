package replay

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
)

// liveRank is one rank's unprofiled steps.
type liveRank struct {
	r    *Session
	comm float64 // ns of a mean step in collectives
}

// liveRanks are the ranks of a session that have unprofiled steps, this one's too; nil of fewer than two.
func (r *Session) liveRanks() []liveRank {
	if r.rankedYet {
		return r.ranks
	}
	r.rankedYet = true
	for _, p := range r.s.Processes {
		if !trains(p) || p.Rank < 0 || len(r.ranks) == maxRanks {
			continue
		}
		b, of := account.Of(r.s, p), r
		if n := float64(len(b.Windows)); !b.PerStep || n == 0 || len(b.Samples) == 0 {
			continue
		} else if p != r.b.Process {
			if of = newSession(r.s, b, 0, false); of == nil || !of.Unprofiled() {
				continue
			}
		}
		r.ranks = append(r.ranks, liveRank{of, b.Part(account.PartComm) / float64(len(b.Windows))})
	}
	if len(r.ranks) < 2 {
		r.ranks = nil
	}
	return r.ranks
}

// maxRanks bounds how many ranks' unprofiled steps are replayed together.
const maxRanks = 64

// trains says that a process has steps of its own and prepares nothing for others.
func trains(p *model.Process) bool {
	return len(p.Steps) > 0 && p.Role != model.RoleWorker && p.Role != model.RoleCompile
}

// meetLive says whether the ranks of a live session wait in collectives.
func (r *Session) meetLive() bool {
	return slices.ContainsFunc(r.liveRanks(), func(k liveRank) bool { return k.comm > 0 })
}

// pace is what a rank does outside of collectives in a mean step, ns, as it was and under a change.
type pace struct {
	liveRank
	before float64 // the whole step
	own    float64
	then   float64
}

// joined is a question about ranks that wait for one another, put to one of them: the one whose work outside of collectives takes longest
// under the change, for which all others wait, or where none waits for a late one the rank in the middle. What is sent in a collective is
// what the rank that came last spent in them. ranks is how many were asked, 0 where none meets another.
func (r *Session) joined(c Change) (of *Session, with Change, ranks int, err error) {
	if !r.meetLive() {
		c.RanksEqual = false
		return r, c, 0, nil
	}
	sent := 1.0 // factor for what is sent
	rest := c
	rest.RanksEqual = false
	rest.Scale = slices.DeleteFunc(slices.Clone(c.Scale), func(s Scale) bool {
		is := isComm(s.Name)
		if is {
			sent *= s.Factor
		}
		return is
	})
	for _, s := range rest.Scale {
		if !slices.ContainsFunc(r.ranks, func(k liveRank) bool { return k.r.Time(s.Name) > 0 }) {
			return nil, c, 0, &UnknownName{s.Name}
		}
	}
	list := make([]pace, 0, len(r.ranks))
	for _, k := range r.ranks {
		if k.r != r && !k.r.limit(r.only) {
			continue
		}
		p := pace{liveRank: k}
		if p.before, p.own, err = k.r.price(k.alone(Change{})); err != nil {
			return nil, c, 0, err
		}
		if _, p.then, err = k.r.price(k.alone(rest)); err != nil {
			return nil, c, 0, err
		}
		list = append(list, p)
	}
	if len(list) == 0 {
		return r, rest, 0, nil
	}
	late := slices.MaxFunc(list, func(x, y pace) int { return cmp.Compare(x.own, y.own) })
	slices.SortStableFunc(list, func(x, y pace) int { return cmp.Compare(x.then, y.then) })
	last := list[len(list)-1]
	if late.then >= last.then {
		last = late // it is late as it was
	}
	if c.RanksEqual {
		last = list[(len(list)-1)/2]
	}
	with = rest
	factor := sent
	if last.r != late.r && last.comm > 0 {
		factor *= max(late.before-late.own, 0) / last.comm
	}
	if last.comm > 0 {
		with.Scale = append(slices.Clone(with.Scale), Scale{account.PartComm.String(), factor})
	}
	return last.r, last.known(with), len(list), nil
}

// isComm says that a name of Scale is that of collectives.
func isComm(name string) bool { return strings.EqualFold(name, account.PartComm.String()) }

// known is a change without what takes no time in a rank.
func (k liveRank) known(c Change) Change {
	c.Scale = slices.DeleteFunc(slices.Clone(c.Scale), func(s Scale) bool { return k.r.Time(s.Name) == 0 })
	return c
}

// alone is a change of a rank that spends no time in collectives.
func (k liveRank) alone(c Change) Change {
	if c = k.known(c); k.comm > 0 {
		c.Scale = append(c.Scale, Scale{account.PartComm.String(), 0})
	}
	return c
}
