package collectives

import (
	"slices"

	"bottleneck/internal/analyse/device"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// Clock is how a rank's clock differs from that of the first trace: add Offset to the first trace's times to get this one's.
type Clock struct {
	Rank    int
	Offset  model.Dur
	Error   model.Dur // the true offset is within ± Error, as far as collectives bound it; -1: nothing to compare with
	Matched int       // collectives that were compared
}

// Clocks aligns the clocks of several ranks: a collective ends at nearly the same time everywhere, and nowhere before
// the last rank has begun it.
func Clocks(traces []*model.Trace, s *model.Strings) []Clock {
	lists := make([][]Collective, len(traces))
	parser := NewParser(s)
	for i, t := range traces {
		for _, w := range device.Timelines(t, s) {
			lists[i] = append(lists[i], OnDevice(w, parser)...)
		}
		lists[i] = append(lists[i], hostCollectives(t, s)...)
	}
	return AlignClocks(Numbers(traces), Match(lists))
}

// Matched is one collective call, by trace.
type Matched []*Collective

// Match finds the calls that every trace holds: per group and members the k-th call, or the calls of equal
// sequence numbers where the traces have them. Groups whose calls differ between ranks are left out.
func Match(lists [][]Collective) []Matched {
	if len(lists) < 2 {
		return nil
	}
	type groupKey struct{ group, members string }
	groups := make([]map[groupKey][]*Collective, len(lists))
	var order []groupKey
	for i, list := range lists {
		groups[i] = map[groupKey][]*Collective{}
		for j := range list {
			key := groupKey{list[j].call.group, list[j].call.members}
			if i == 0 && groups[0][key] == nil {
				order = append(order, key)
			}
			groups[i][key] = append(groups[i][key], &list[j])
		}
	}
	var out []Matched
	for _, key := range order {
		calls := make([][]*Collective, len(lists))
		for i := range lists {
			calls[i] = groups[i][key]
		}
		out = append(out, zipCalls(calls)...)
	}
	return out
}

// zipCalls pairs the calls of one group over the ranks. If the first calls are of different operations the windows began
// at different calls, and nothing is paired.
func zipCalls(calls [][]*Collective) []Matched {
	n := len(calls[0])
	for _, c := range calls {
		n = min(n, len(c))
	}
	var out []Matched
	for k := range n {
		m := make(Matched, len(calls))
		for i := range calls {
			m[i] = calls[i][k]
			if m[i].call.op != m[0].call.op || m[i].seq != m[0].seq || m[i].call.dtype != m[0].call.dtype {
				return out
			}
		}
		out = append(out, m)
	}
	return out
}

// Numbers are the traces' ranks; numbers in their order where one does not know its own.
func Numbers(traces []*model.Trace) []int {
	out := make([]int, len(traces))
	for i, t := range traces {
		out[i] = t.Rank
	}
	return out
}

// AlignClocks tells by how much each rank's clock differs from the first one's, from calls that all of them hold.
func AlignClocks(ranks []int, calls []Matched) []Clock {
	out := make([]Clock, len(ranks))
	for i, rank := range ranks {
		out[i] = Clock{Rank: rank, Error: -1, Matched: len(calls)}
		if i == 0 || len(calls) == 0 {
			continue
		}
		ends := make([]int64, len(calls))
		low, high := int64(-1<<62), int64(1<<62)
		for k, m := range calls {
			ends[k] = int64(m[i].end - m[0].end)
			low = max(low, int64(m[i].start-m[0].end))
			high = min(high, int64(m[i].end-m[0].start))
		}
		slices.Sort(ends)
		offset := stats.Quantile(ends, 0.5)
		spread := (stats.Quantile(ends, 0.9) - stats.Quantile(ends, 0.1)) / 2
		if low <= high {
			offset = min(max(offset, low), high)
			spread = min(spread, max(high-offset, offset-low))
		}
		out[i].Offset, out[i].Error = model.Dur(offset), model.Dur(spread)
	}
	if len(out) > 0 && len(calls) > 0 {
		out[0].Error = 0
	}
	return out
}

// lateness is the waiting that each rank caused for one kind of call, and the longest single wait.
type lateness struct {
	caused  []model.Dur // by trace
	longest []model.Dur
	until   []model.Time // when the late rank began that call, on its own clock
}

// splitWaits fills Matched, Wait, Transfer, LateRank and LateDid of the rows that owners describe.
func splitWaits(ranks []int, lists [][]Collective, rows []Communication, owners []commOwner,
	did func(rank int, from, to model.Time) string) {
	calls := Match(lists)
	if len(calls) == 0 {
		return
	}
	clocks := AlignClocks(ranks, calls)
	type rowKey struct {
		trace int
		key   commKey
	}
	index := map[rowKey]int{}
	for i, o := range owners {
		index[rowKey{o.trace, o.call.key()}] = i
	}
	caused := map[commKey]*lateness{}
	for _, m := range calls {
		last, late := LastStart(m, clocks)
		key := m[0].call.key()
		by := caused[key]
		if by == nil {
			by = &lateness{make([]model.Dur, len(ranks)), make([]model.Dur, len(ranks)), make([]model.Time, len(ranks))}
			caused[key] = by
		}
		for i := range m {
			dur := m[i].end.Sub(m[i].start)
			wait := min(dur, max(0, last.Sub(m[i].start-model.Time(clocks[i].Offset))))
			by.caused[late] += wait
			if wait > by.longest[late] {
				by.longest[late], by.until[late] = wait, m[late].start
			}
			if at, ok := index[rowKey{i, m[i].call.key()}]; ok {
				rows[at].Matched++
				rows[at].Wait += wait
				rows[at].Transfer += dur - wait
			}
		}
	}
	for key, by := range caused {
		worst := slices.Index(by.caused, slices.Max(by.caused))
		if by.caused[worst] == 0 {
			continue
		}
		what := did(worst, by.until[worst]-model.Time(by.longest[worst]), by.until[worst])
		for i := range rows {
			if owners[i].call.key() == key {
				rows[i].LateRank, rows[i].LateDid = ranks[worst], what
			}
		}
	}
}

// LastStart is when the last rank began a call, on the first trace's clock, and which it was.
func LastStart(m Matched, clocks []Clock) (last model.Time, late int) {
	last = m[0].start
	for i := range m {
		if at := m[i].start - model.Time(clocks[i].Offset); at > last {
			last, late = at, i
		}
	}
	return last, late
}

// MatchedCalls lists the collectives on devices that every trace holds: by call the device row of each trace, and how
// the traces' clocks differ. Nothing is matched for fewer than two traces.
func MatchedCalls(traces []*model.Trace, s *model.Strings) ([][]model.EventID, []Clock) {
	lists := make([][]Collective, len(traces))
	parser := NewParser(s)
	for i, t := range traces {
		for _, w := range device.Timelines(t, s) {
			lists[i] = append(lists[i], OnDevice(w, parser)...)
		}
	}
	calls := Match(lists)
	rows := make([][]model.EventID, len(calls))
	for k, m := range calls {
		for _, c := range m {
			rows[k] = append(rows[k], c.Row)
		}
	}
	return rows, AlignClocks(Numbers(traces), calls)
}
