package collectives

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/device"
	"bottleneck/internal/model"
)

// Calls are one rank's collectives without its trace: what comparing ranks needs of each, so that the ranks of a large
// job need not be in memory together.
type Calls struct {
	rank  int
	list  []Collective
	rows  []Communication
	kinds []*collectiveKind // of rows
}

// CallsOf takes the collectives out of a trace.
func CallsOf(t *model.Trace, s *model.Strings) *Calls {
	return callsOf(t, s, NewParser(s))
}

func callsOf(t *model.Trace, s *model.Strings, parser *Parser) *Calls {
	c := &Calls{rank: t.Rank}
	add := func(list []Collective, rows []Communication, kinds []*collectiveKind) {
		c.list, c.rows, c.kinds = append(c.list, list...), append(c.rows, rows...), append(c.kinds, kinds...)
	}
	for _, w := range device.Timelines(t, s) {
		list := OnDevice(w, parser)
		rows, kinds := communication(w, list)
		add(list, rows, kinds)
	}
	list := hostCollectives(t, s)
	rows, kinds := hostCommunication(t, s, list)
	add(list, rows, kinds)
	return c
}

// Keep replaces every text by what intern returns for it, so that the trace's strings can be dropped.
func (c *Calls) Keep(intern func(string) string) {
	seen := map[*collectiveKind]bool{}
	keep := func(k *collectiveKind) {
		if !seen[k] {
			seen[k] = true
			k.op, k.group, k.dtype, k.members = intern(k.op), intern(k.group), intern(k.dtype), intern(k.members)
		}
	}
	for i := range c.list {
		keep(c.list[i].call)
	}
	for i := range c.rows {
		keep(c.kinds[i])
		r := &c.rows[i]
		r.Op, r.Group, r.DType = intern(r.Op), intern(r.Group), intern(r.DType)
	}
	c.list = slices.Clip(c.list)
}

// JoinCalls is Communications of ranks whose traces are gone: what a late rank did meanwhile stays unknown.
func JoinCalls(ranks []*Calls) []Communication {
	return joinCalls(ranks, func(int, model.Time, model.Time) string { return "" })
}

// ClocksOf is RankClocks of ranks whose traces are gone.
func ClocksOf(ranks []*Calls) []Clock {
	return AlignClocks(rankNumbers(ranks), Match(callLists(ranks)))
}

func rankNumbers(ranks []*Calls) []int {
	out := make([]int, len(ranks))
	for i, c := range ranks {
		out[i] = c.rank
	}
	return out
}

func callLists(ranks []*Calls) [][]Collective {
	lists := make([][]Collective, len(ranks))
	for i, c := range ranks {
		lists[i] = c.list
	}
	return lists
}

// joinCalls splits waiting from transfer where the ranks' calls can be matched. did names what a rank did in a stretch of
// its own time.
func joinCalls(ranks []*Calls, did func(rank int, from, to model.Time) string) []Communication {
	out := []Communication{}
	var owners []commOwner
	for i, c := range ranks {
		out = append(out, c.rows...)
		for _, kind := range c.kinds {
			owners = append(owners, commOwner{i, kind})
		}
	}
	splitWaits(rankNumbers(ranks), callLists(ranks), out, owners, did)
	for i := range out {
		out[i].rate(owners[i].call.factor)
	}
	slices.SortFunc(out, func(a, b Communication) int {
		return cmp.Or(cmp.Compare(a.Rank, b.Rank), cmp.Compare(b.Dur, a.Dur), strings.Compare(a.Op, b.Op),
			strings.Compare(a.Group, b.Group), strings.Compare(a.DType, b.DType))
	})
	return out
}
