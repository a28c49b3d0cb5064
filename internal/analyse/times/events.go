package times

import (
	"cmp"
	"slices"

	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// OfEvent is an event's time as the interval arithmetic wants it.
func OfEvent(ev *model.Events, id model.EventID) stats.Interval {
	return stats.Interval{From: int64(ev.Start[id]), To: int64(ev.End(id))}
}

// MergeLanes sorts events by (start, -end, lane). Events of one lane are adjacent and in that order already, so runs
// are merged pairwise.
func MergeLanes(ev *model.Events, ids []model.EventID) []model.EventID {
	var cuts []int
	for i := range ids {
		if i == 0 || ev.Lane[ids[i]] != ev.Lane[ids[i-1]] || before(ev, ids[i], ids[i-1]) {
			cuts = append(cuts, i)
		}
	}
	cuts = append(cuts, len(ids))
	spare := make([]model.EventID, len(ids))
	for len(cuts) > 2 {
		next := cuts[:0:len(cuts)]
		next = slices.Clone(next)
		for i := 0; i+1 < len(cuts); i += 2 {
			from, mid := cuts[i], cuts[i+1]
			to := mid
			if i+2 < len(cuts) {
				to = cuts[i+2]
			}
			mergeRuns(ev, ids[from:mid], ids[mid:to], spare[from:to])
			next = append(next, from)
		}
		cuts = append(next, len(ids))
		ids, spare = spare, ids
	}
	return ids
}

func before(ev *model.Events, a, b model.EventID) bool {
	return cmp.Or(cmp.Compare(ev.Start[a], ev.Start[b]), cmp.Compare(ev.Dur[b], ev.Dur[a])) < 0
}

func mergeRuns(ev *model.Events, a, b, out []model.EventID) {
	for i := range out {
		if len(b) == 0 || len(a) > 0 && !before(ev, b[0], a[0]) {
			out[i], a = a[0], a[1:]
		} else {
			out[i], b = b[0], b[1:]
		}
	}
}
