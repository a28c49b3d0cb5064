package collectives

import (
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/model"
)

// Shared is one collective call as each of several ranks has it, in three columns of equal length.
type Shared struct {
	Traces []*model.Trace
	Events []model.EventID
	Waits  []model.Dur // of the call's time, what passes until the last rank begins it
}

// SharedCalls lists the calls, on devices and on CPU threads, that the traces of all ranks hold. Of the ranks of a live job, the same
// windows are compared.
func SharedCalls(s *model.Session) []Shared {
	windows := map[int64][]*model.Trace{} // by their first step: ranks number their windows apart
	var order []int64
	for _, t := range s.Traces {
		first := int64(-1)
		if t.Process >= 0 && t.Process < len(s.Processes) {
			if p := s.Processes[t.Process]; t.Window >= 0 && t.Window < len(p.Windows) {
				first = p.Windows[t.Window].FirstStep
			}
		}
		if windows[first] == nil {
			order = append(order, first)
		}
		windows[first] = append(windows[first], t)
	}
	var out []Shared
	parser := NewParser(s.Strings)
	for _, first := range order {
		if traces := windows[first]; len(traces) > 1 && distinct(Numbers(traces)) {
			out = append(out, sharedBy(traces, s.Strings, parser)...)
		}
	}
	return out
}

// distinct says whether each trace is of a rank of its own: two files of one rank share no call.
func distinct(ranks []int) bool {
	seen := map[int]bool{}
	for _, rank := range ranks {
		if rank < 0 || seen[rank] {
			return false
		}
		seen[rank] = true
	}
	return true
}

func sharedBy(traces []*model.Trace, s *model.Strings, parser *Parser) []Shared {
	lists := make([][]Collective, len(traces))
	for i, t := range traces {
		for _, w := range device.Timelines(t, s) {
			lists[i] = append(lists[i], OnDevice(w, parser)...)
		}
		lists[i] = append(lists[i], hostCollectives(t, s)...)
	}
	calls := Match(lists)
	clocks := AlignClocks(Numbers(traces), calls)
	out := make([]Shared, 0, len(calls))
	for _, m := range calls {
		last, _ := LastStart(m, clocks)
		shared := Shared{Traces: traces}
		for i, c := range m {
			wait := min(c.end.Sub(c.start), max(0, last.Sub(c.start-model.Time(clocks[i].Offset))))
			shared.Events, shared.Waits = append(shared.Events, c.Row), append(shared.Waits, wait)
		}
		out = append(out, shared)
	}
	return out
}
