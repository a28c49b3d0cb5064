package export

import (
	"strings"

	"bottleneck/internal/model"
)

// memoryPlace is what a thread was doing when it took or gave back memory.
type memoryPlace struct {
	op                        model.EventID // outermost operator; NoEvent outside operators
	backward, optimizer, data bool          // data: a DataLoader's work, or an operator that makes a tensor from nothing
}

// memoryPhase knows the place of every memory event of a trace.
type memoryPhase struct {
	at       []memoryPlace
	time     []model.Time
	backward model.Time // first backward operator; 0 where there is none
}

// memoryPhases walks each thread's rows beside its memory events.
func memoryPhases(t *model.Trace, strs *model.Strings) *memoryPhase {
	m := &t.Memory
	p := &memoryPhase{at: make([]memoryPlace, len(m.Time)), time: m.Time}
	byLane := make([][]int, len(t.Lanes))
	for i := range m.Time {
		p.at[i].op = model.NoEvent
		if l := m.Lane[i]; l >= 0 && int(l) < len(t.Lanes) {
			byLane[l] = append(byLane[l], i)
		}
	}
	for l, events := range byLane {
		p.walk(t, strs, &t.Lanes[l], events)
	}
	return p
}

// openRow is a row that has begun, with what it says about the phase; it includes what the rows around it say.
type openRow struct {
	end   model.Time
	place memoryPlace
}

func (p *memoryPhase) walk(t *model.Trace, strs *model.Strings, lane *model.Lane, memory []int) {
	e := &t.Events
	outside := memoryPlace{op: model.NoEvent}
	var open []openRow
	place := func(at model.Time) memoryPlace {
		for n := len(open); n > 0 && open[n-1].end < at; n = len(open) {
			open = open[:n-1]
		}
		if n := len(open); n > 0 {
			return open[n-1].place
		}
		return outside
	}
	id := lane.FirstEvent
	for _, i := range memory {
		for ; id < lane.EndEvent && e.Start[id] <= p.time[i]; id++ {
			if k := e.Kind[id]; k != model.KindOp && k != model.KindAnnotation {
				continue
			}
			inner := place(e.Start[id])
			p.enter(&inner, e, id, strs.Text(e.Name[id]))
			open = append(open, openRow{e.End(id), inner})
		}
		p.at[i] = place(p.time[i])
	}
}

// enter adds what a row says to the place around it.
func (p *memoryPhase) enter(at *memoryPlace, e *model.Events, id model.EventID, name string) {
	switch {
	case strings.HasPrefix(name, "Optimizer.step#"):
		at.optimizer = true
	case strings.HasPrefix(name, "enumerate(DataLoader)#"), at.op == model.NoEvent && makesTensor(name):
		at.data = true
	case strings.HasPrefix(name, "autograd::engine::evaluate_function"):
		at.backward = true
		if p.backward == 0 || e.Start[id] < p.backward {
			p.backward = e.Start[id]
		}
	}
	if e.Kind[id] == model.KindOp && at.op == model.NoEvent {
		at.op = id
	}
}

// category tells what an allocation was for from its place and from that of its free (-1: not given back).
func (p *memoryPhase) category(taken, freed int) int {
	from := p.at[taken]
	to := memoryPlace{op: model.NoEvent}
	if freed >= 0 {
		to = p.at[freed]
	}
	within := freed >= 0 && from.op != model.NoEvent && from.op == to.op
	switch {
	case within:
		return memTemporary
	case from.optimizer:
		if freed >= 0 && to.optimizer {
			return memTemporary
		}
		return memOptimizerState
	case from.backward && freed >= 0 && to.backward:
		return memAutogradDetail
	case from.backward:
		return memGradient
	case from.data:
		return memInput
	case from.op != model.NoEvent && p.backward != 0:
		return memActivation
	}
	return memUnknown
}

// makesTensor says whether an operator's result comes from no other tensor.
func makesTensor(name string) bool {
	switch strings.TrimPrefix(name, "aten::") {
	case "randn", "rand", "randint", "randperm", "normal", "arange", "linspace", "eye", "zeros", "ones", "full", "empty",
		"empty_strided", "from_file":
		return true
	}
	return false
}
