package analyse

import (
	"slices"

	"bottleneck/internal/model"
)

// TransferShare is the part of the time in collectives on CPU threads in which all ranks are in the call: before it the first ranks
// wait for the last. It compares the same windows of every process's traces; ok is false where fewer than least calls can be.
func TransferShare(s *model.Session, of []*model.Process) (share float64, ok bool) {
	windows := map[int64][]*model.Trace{} // by their first step: ranks trace the same ones, and number their windows apart
	for _, t := range s.Traces {
		if t.Process < 0 || t.Process >= len(s.Processes) || !slices.Contains(of, s.Processes[t.Process]) {
			continue
		}
		if p := s.Processes[t.Process]; t.Window >= 0 && t.Window < len(p.Windows) {
			first := p.Windows[t.Window].FirstStep
			windows[first] = append(windows[first], t)
		}
	}
	const least = 4
	all, moved, n := 0.0, 0.0, 0
	for _, traces := range windows {
		if len(traces) < 2 || len(traces) != len(of) {
			continue
		}
		lists := make([][]collective, len(traces))
		for i, t := range traces {
			lists[i] = hostCollectives(t, s.Strings)
		}
		calls := matchCollectives(lists)
		clocks := alignClocks(ranksOf(traces), calls)
		for _, m := range calls {
			last, _ := lastStart(m, clocks)
			n++
			for i := range m {
				dur := m[i].end.Sub(m[i].start)
				all += float64(dur)
				moved += float64(dur - min(dur, max(0, last.Sub(m[i].start-model.Time(clocks[i].Offset)))))
			}
		}
	}
	if n < least || all <= 0 {
		return 0, false
	}
	return moved / all, true
}

// Exchange is what a step sends in collectives that run on CPU threads, as the traced steps have it.
type Exchange struct {
	Steps int     // traced steps
	Calls float64 // per step
	Bytes float64 // of a call's tensors, on average; 0 where the trace knows none
}

// ExchangeOf counts the accounted process's collectives on CPU threads in its traced steps.
func ExchangeOf(s *model.Session, b *Breakdown) (e Exchange) {
	lists := map[*model.Trace][]collective{}
	known := 0.0
	for _, st := range tracedSteps(s, b) {
		list, done := lists[st.trace]
		if !done {
			list = hostCollectives(st.trace, s.Strings)
			lists[st.trace] = list
		}
		e.Steps++
		for _, call := range list {
			if call.start < st.Start || call.start >= st.End {
				continue
			}
			e.Calls++
			if call.call.bytes >= 0 {
				e.Bytes += float64(call.call.bytes)
				known++
			}
		}
	}
	e.Calls /= max(float64(e.Steps), 1)
	e.Bytes /= max(known, 1)
	return e
}
