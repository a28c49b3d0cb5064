package device

import (
	"cmp"
	"slices"

	"bottleneck/internal/model"
)

// Stream is how one stream was used. Gaps between consecutive pieces of work are split as Holistic Trace Analysis does:
// HostWait before work whose launching call began after the gap did, KernelWait other gaps shorter than 30 µs, OtherWait the rest.
type Stream struct {
	Device                          int32
	Stream                          int64
	Count                           int64
	Busy                            model.Dur // sum of durations
	HostWait, KernelWait, OtherWait model.Dur
	Queue                           Queue
}

// Queue is the number of pieces of work that were launched (the call had begun) and had not started.
type Queue struct {
	Max  int
	Mean float64   // over time, from the first launch to the last start
	Full model.Dur // at 1024 or more, where a launch blocks
}

// queueLimit is the number of launches that CUDA queues before a launch blocks.
const queueLimit = 1024

// Streams analyses each stream with work, by device and stream number.
func Streams(t *model.Trace, _ *model.Strings) []Stream {
	out := []Stream{}
	ev := &t.Events
	for i := range t.Lanes {
		lane := &t.Lanes[i]
		var rows []model.EventID
		for id := lane.FirstEvent; id < lane.EndEvent; id++ {
			if ev.Kind[id].Device() {
				rows = append(rows, id)
			}
		}
		if len(rows) == 0 {
			continue
		}
		s := Stream{Device: lane.Device, Stream: lane.Stream, Count: int64(len(rows)), Queue: queueOf(ev, rows)}
		for j, id := range rows {
			s.Busy += ev.Dur[id]
			if j > 0 {
				s.gap(ev, rows[j-1], id)
			}
		}
		out = append(out, s)
	}
	slices.SortFunc(out, func(a, b Stream) int { return cmp.Or(cmp.Compare(a.Device, b.Device), cmp.Compare(a.Stream, b.Stream)) })
	return out
}

// gap books the time between two pieces of work.
func (s *Stream) gap(ev *model.Events, before, id model.EventID) {
	gap := ev.Start[id].Sub(ev.End(before))
	launch := ev.Link[id]
	switch {
	case gap <= 0:
	case launch != model.NoEvent && ev.Start[launch] > ev.End(before):
		s.HostWait += gap
	case gap < OwnGap:
		s.KernelWait += gap
	default:
		s.OtherWait += gap
	}
}

// queueOf follows the length of a stream's queue. A graph's launch queues all its work at once.
func queueOf(ev *model.Events, rows []model.EventID) Queue {
	type change struct {
		at model.Time
		by int
	}
	changes := make([]change, 0, 2*len(rows))
	for _, id := range rows {
		if launch := ev.Link[id]; launch != model.NoEvent {
			changes = append(changes, change{min(ev.Start[launch], ev.Start[id]), 1}, change{ev.Start[id], -1})
		}
	}
	slices.SortFunc(changes, func(a, b change) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.by, a.by)) })
	var q Queue
	length, weighted := 0, 0.0
	for i, c := range changes {
		if i > 0 {
			passed := c.at.Sub(changes[i-1].at)
			weighted += float64(length) * float64(passed)
			if length >= queueLimit {
				q.Full += passed
			}
		}
		length += c.by
		q.Max = max(q.Max, length)
	}
	if n := len(changes); n > 0 && changes[n-1].at > changes[0].at {
		q.Mean = weighted / float64(changes[n-1].at-changes[0].at)
	}
	return q
}
