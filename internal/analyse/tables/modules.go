package tables

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// moduleTimes are the calls of a model's modules with their own and total times, forward and backward.
var moduleTimes = Analysis{
	Name: "modules", Title: "Modules", Aside: "CPU: inside their calls, and of the autograd engine for what they made; as traced",
	Needs: "calls of modules: record with --with-modules",
	Columns: []Column{{"module", UnitText}, {"class", UnitText}, {"calls", UnitCount}, {"self CPU", UnitTime}, {"CPU", UnitTime},
		{"backward CPU", UnitTime}, {"self device", UnitTime}, {"device", UnitTime}, {"backward device", UnitTime}},
	All: moduleRows,
}

// noModule is the row of operators and device work that belong to no module.
const noModule = "(outside modules)"

// ModuleTime is one module of a model over all calls of the traces. Self times are without those of the modules within it.
type ModuleTime struct {
	Path, Class              string
	Calls                    int64
	SelfCPU, CPU             model.Dur // of its calls, Python included, and of the engine's nodes that its operators made
	BackwardCPU              model.Dur // the nodes' part of CPU
	SelfDevice, Device       model.Dur
	BackwardDevice           model.Dur // part of Device that nodes launched
	selfBackward, selfDevBwd model.Dur
}

// ModuleTimes sums the modules of traces, most self time first; one row are the operators that ran in no module and the device
// work that belongs to none (no calls), so that all operators and all device work are accounted for. Nothing without modules.
func ModuleTimes(traces []*model.Trace, s *model.Strings) []ModuleTime {
	sum := moduleSums{texts: s, index: map[model.ModuleName]*ModuleTime{}}
	for _, t := range traces {
		if t.Modules != nil {
			sum.calls(t.Modules)
			sum.events(t)
		}
	}
	return sum.rows()
}

type moduleSums struct {
	texts   *model.Strings
	index   map[model.ModuleName]*ModuleTime
	list    []*ModuleTime
	outside ModuleTime
}

func (m *moduleSums) of(name model.ModuleName) *ModuleTime {
	row := m.index[name]
	if row == nil {
		row = &ModuleTime{Path: m.texts.Text(name.Path), Class: m.texts.Text(name.Class)}
		m.index[name] = row
		m.list = append(m.list, row)
	}
	return row
}

// calls adds the time inside calls; a module that calls itself counts once in its total.
func (m *moduleSums) calls(modules *model.Modules) {
	for i := range modules.Calls {
		c := &modules.Calls[i]
		row := m.of(modules.Names[c.Module])
		row.Calls++
		row.SelfCPU += c.Dur
		again := false
		for up := c.Parent; up >= 0 && !again; up = modules.Calls[up].Parent {
			again = modules.Calls[up].Module == c.Module
		}
		if !again {
			row.CPU += c.Dur
		}
		if c.Parent >= 0 {
			m.of(modules.Names[modules.Calls[c.Parent].Module]).SelfCPU -= c.Dur
		}
	}
}

// events adds the autograd engine's nodes, operators outside modules, and the device's work.
func (m *moduleSums) events(t *model.Trace) {
	ev, modules := &t.Events, t.Modules
	for id := range ev.Len() {
		at, of, dur := model.EventID(id), modules.Of[id], ev.Dur[id]
		switch {
		case ev.Kind[id].Device():
			m.device(modules, at, dur)
		case ev.Kind[id] != model.KindOp:
		case of == model.NoModule:
			if !withinOp(ev, at) {
				m.outside.SelfCPU += dur
			}
		case modules.Backward[id]:
			if up := ev.Parent[id]; up == model.NoEvent || !modules.Backward[up] {
				m.of(modules.Names[of]).selfBackward += dur
			}
		}
	}
}

func withinOp(ev *model.Events, id model.EventID) bool {
	for up := ev.Parent[id]; up != model.NoEvent; up = ev.Parent[up] {
		if ev.Kind[up] == model.KindOp {
			return true
		}
	}
	return false
}

func (m *moduleSums) device(modules *model.Modules, id model.EventID, dur model.Dur) {
	of := modules.Of[id]
	if of == model.NoModule {
		m.outside.SelfDevice += dur
		return
	}
	row := m.of(modules.Names[of])
	row.SelfDevice += dur
	if modules.Backward[id] {
		row.selfDevBwd += dur
	}
}

// rows adds what was found by place in the model, device work and nodes, to the modules around.
func (m *moduleSums) rows() []ModuleTime {
	byPath := map[string][]*ModuleTime{}
	for _, row := range m.list {
		byPath[row.Path] = append(byPath[row.Path], row)
	}
	for _, row := range m.list {
		row.SelfCPU += row.selfBackward
		for path := row.Path; path != ""; path = path[:max(strings.LastIndexByte(path, '.'), 0)] {
			for _, around := range byPath[path] {
				if path == row.Path && around != row {
					continue
				}
				around.CPU += row.selfBackward
				around.BackwardCPU += row.selfBackward
				around.Device += row.SelfDevice
				around.BackwardDevice += row.selfDevBwd
			}
		}
	}
	if len(m.list) > 0 {
		m.outside.Path, m.outside.CPU, m.outside.Device = noModule, m.outside.SelfCPU, m.outside.SelfDevice
		m.list = append(m.list, &m.outside)
	}
	slices.SortStableFunc(m.list, func(a, b *ModuleTime) int { return cmp.Compare(b.SelfCPU+b.SelfDevice, a.SelfCPU+a.SelfDevice) })
	out := make([]ModuleTime, 0, len(m.list))
	for _, row := range m.list {
		out = append(out, *row)
	}
	return out
}

func moduleRows(traces []*model.Trace, s *model.Strings) [][]Cell {
	times := ModuleTimes(traces, s)
	device := slices.ContainsFunc(times, func(m ModuleTime) bool { return m.SelfDevice > 0 })
	onDevice := func(d model.Dur) Cell { return Cell{Number: float64(d), None: !device} }
	rows := make([][]Cell, 0, len(times))
	for _, m := range times {
		calls := numberCell(m.Calls)
		calls.None = m.Calls == 0
		rows = append(rows, []Cell{textCell(m.Path), textCell(m.Class), calls, numberCell(m.SelfCPU), numberCell(m.CPU),
			numberCell(m.BackwardCPU), onDevice(m.SelfDevice), onDevice(m.Device), onDevice(m.BackwardDevice)})
	}
	return rows
}
