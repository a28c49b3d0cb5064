package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// Bounds of modules-<n>.json.gz: its text, and what is made of it.
const (
	maxModulesText = 16 << 20
	maxModuleCalls = 1 << 20
	maxModuleNames = 1 << 20
)

// moduleSlack is how far a module's call, by the system's clock, and its operators, by Kineto's, may be apart, nanoseconds.
const moduleSlack = 2000

// modulesFile is modules-<n>.json.gz (docs/session.md).
type modulesFile struct {
	Schema  string             `json:"schema"`
	Start   int64              `json:"start_unix_ns"`
	Full    bool               `json:"full"`
	Names   [][2]string        `json:"names"`
	Threads map[string][]int64 `json:"threads"` // by native thread id: name, begin after Start, length, name, …
}

// modules reads which modules ran in window number, if the agent recorded that, and gives each event of the trace its own.
func (r *sessionReader) modules(t *model.Trace, folder string, number int) {
	path := filepath.Join(folder, "modules-"+strconv.Itoa(number)+".json.gz")
	file, err := readModules(path)
	if errors.Is(err, fs.ErrNotExist) {
		return
	}
	if err != nil {
		r.diagnose(path, "modules", 1, plain(err))
		return
	}
	t.Modules = newModules(t, r.s.Strings, file)
}

func readModules(path string) (*modulesFile, error) {
	var file modulesFile
	if err := readPackedJSON(path, "the modules", maxModulesText, &file); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(file.Schema, "bottleneck.modules/") || len(file.Names) > maxModuleNames {
		return nil, fmt.Errorf("reading the modules: not a list of modules' calls (%.40q)", file.Schema)
	}
	return &file, nil
}

// newModules makes the calls of a file, and attributes the events of t.
func newModules(t *model.Trace, texts *model.Strings, file *modulesFile) *model.Modules {
	n := t.Events.Len()
	m := &model.Modules{Of: make([]int32, n), Backward: make([]bool, n), Full: file.Full}
	for i := range m.Of {
		m.Of[i] = model.NoModule
	}
	for _, name := range file.Names {
		m.Names = append(m.Names, model.ModuleName{Path: texts.Intern(name[0]), Class: texts.Intern(name[1])})
	}
	for l := range t.Lanes {
		if lane := &t.Lanes[l]; lane.Kind == model.LaneThread {
			addModuleCalls(m, model.LaneID(l), file.Start, file.Threads[strconv.FormatInt(lane.Thread, 10)])
		}
	}
	nestModuleCalls(m)
	a := moduleAttribution{t: t, texts: texts, m: m, call: slices.Clone(m.Of)}
	a.forward()
	a.backward()
	a.device()
	return m
}

// addModuleCalls takes the calls of one thread.
func addModuleCalls(m *model.Modules, lane model.LaneID, start int64, flat []int64) {
	for ; len(flat) >= 3 && len(m.Calls) < maxModuleCalls; flat = flat[3:] {
		name, began, length := flat[0], flat[1], flat[2]
		if name < 0 || name >= int64(len(m.Names)) || length < 0 || began < 0 || began > 1<<62-start {
			continue
		}
		m.Calls = append(m.Calls, model.ModuleCall{Module: int32(name), Lane: lane, Start: model.Time(start + began),
			Dur: model.Dur(length), Parent: -1})
	}
}

// nestModuleCalls sorts the calls and finds each one's parent.
func nestModuleCalls(m *model.Modules) {
	slices.SortFunc(m.Calls, func(a, b model.ModuleCall) int {
		return cmp.Or(cmp.Compare(a.Lane, b.Lane), cmp.Compare(a.Start, b.Start), cmp.Compare(b.Dur, a.Dur))
	})
	var open []int32
	for i := range m.Calls {
		c := &m.Calls[i]
		for n := len(open); n > 0 && (m.Calls[open[n-1]].Lane != c.Lane || m.Calls[open[n-1]].End() < c.End()); n = len(open) {
			open = open[:n-1]
		}
		if n := len(open); n > 0 {
			c.Parent = open[n-1]
		}
		open = append(open, int32(i))
	}
}

// moduleAttribution gives events their modules.
type moduleAttribution struct {
	t     *model.Trace
	texts *model.Strings
	m     *model.Modules
	call  []int32 // by event: the innermost call that surrounds it, or its parent; -1 without one
}

// forward gives each CPU event the innermost call that it ran in; what no call surrounds has its parent's module.
func (a *moduleAttribution) forward() {
	ev, calls := &a.t.Events, a.m.Calls
	for l := range a.t.Lanes {
		lane := &a.t.Lanes[l]
		if lane.Kind != model.LaneThread {
			continue
		}
		from, _ := slices.BinarySearchFunc(calls, model.LaneID(l), func(c model.ModuleCall, l model.LaneID) int {
			return cmp.Compare(c.Lane, l)
		})
		to := from
		for to < len(calls) && calls[to].Lane == model.LaneID(l) {
			to++
		}
		for id := lane.FirstEvent; id < lane.EndEvent; id++ {
			if call := a.around(from, to, id); call >= 0 {
				a.m.Of[id], a.call[id] = calls[call].Module, int32(call)
			} else if up := ev.Parent[id]; up != model.NoEvent {
				a.m.Of[id], a.call[id] = a.m.Of[up], a.call[up]
			}
		}
	}
}

// around is the innermost of the calls [from, to) that an event ran in, -1 without one. The middle decides: the two clocks
// differ by less than what lies between a module's call and its operators. A call within the event is not around it.
func (a *moduleAttribution) around(from, to int, id model.EventID) int {
	ev, calls := &a.t.Events, a.m.Calls
	start, end := ev.Start[id], ev.End(id)
	middle := start + (end-start)/2
	at, _ := slices.BinarySearchFunc(calls[from:to], middle+1, func(c model.ModuleCall, t model.Time) int {
		return cmp.Compare(c.Start, t)
	})
	for call := from + at - 1; call >= from; call = int(calls[call].Parent) {
		c := &calls[call]
		within := c.Start > start+moduleSlack && c.End() < end-moduleSlack
		if c.End() >= middle && !within && ev.Dur[id] <= c.Dur+2*moduleSlack {
			return call
		}
	}
	return -1
}

// Operators of the backward pass, as the autograd engine names them.
const (
	engineNode     = "autograd::engine::evaluate_function: "
	accumulateGrad = engineNode + "torch::autograd::AccumulateGrad"
)

// sequenceKey is where an autograd node was made: sequence numbers are counted by thread.
type sequenceKey struct {
	lane   model.LaneID
	number int64
}

// backward gives what the autograd engine ran the module of the operator that made the node. A node is made by the last
// operator that shows its sequence number on its thread (the number is counted up when one is made). A gradient is
// accumulated right after the node that gave it.
func (a *moduleAttribution) backward() {
	made, lanes := a.makers()
	ev := &a.t.Events
	for l := range a.t.Lanes {
		lane := &a.t.Lanes[l]
		if lane.Kind != model.LaneThread {
			continue
		}
		last := model.NoModule
		for id := lane.FirstEvent; id < lane.EndEvent; id++ {
			if up := ev.Parent[id]; up != model.NoEvent && a.m.Backward[up] && a.call[id] == a.call[up] { // else recomputed in its module
				a.m.Of[id], a.m.Backward[id] = a.m.Of[up], true
			}
			name, isNode := strings.CutPrefix(a.texts.Text(ev.Name[id]), engineNode)
			if !isNode || ev.Kind[id] != model.KindOp || ev.Detail[id] < 0 {
				continue
			}
			if engineNode+name != accumulateGrad {
				last = a.maker(made, lanes, id, model.LaneID(l))
			}
			if last != model.NoModule {
				a.m.Of[id], a.m.Backward[id] = last, true
			}
		}
	}
}

// makers finds, for each sequence number of each thread, the last forward operator that shows it; lanes: the threads that have any.
func (a *moduleAttribution) makers() (made map[sequenceKey]model.EventID, lanes []model.LaneID) {
	ev := &a.t.Events
	made = map[sequenceKey]model.EventID{}
	for l := range a.t.Lanes {
		before := len(made)
		for id := a.t.Lanes[l].FirstEvent; id < a.t.Lanes[l].EndEvent; id++ {
			if ev.Kind[id] != model.KindOp || ev.Detail[id] < 0 {
				continue
			}
			if d := &ev.OpDetails[ev.Detail[id]]; d.Sequence >= 0 && d.FwdThread == 0 {
				made[sequenceKey{model.LaneID(l), d.Sequence}] = id
			}
		}
		if len(made) > before {
			lanes = append(lanes, model.LaneID(l))
		}
	}
	return made, lanes
}

// maker is the module of the operator that made a node: on the node's own thread, else on the only one that shows its number.
func (a *moduleAttribution) maker(made map[sequenceKey]model.EventID, lanes []model.LaneID, node model.EventID, lane model.LaneID) int32 {
	ev := &a.t.Events
	number := ev.OpDetails[ev.Detail[node]].Sequence
	if number < 0 {
		return model.NoModule
	}
	found := model.NoEvent
	for _, l := range lanes {
		id, ok := made[sequenceKey{l, number}]
		if !ok || ev.Start[id] > ev.Start[node] {
			continue
		}
		if l == lane {
			return a.m.Of[id]
		}
		if found != model.NoEvent {
			return model.NoModule // two threads counted that far, and the file does not say which of them it was
		}
		found = id
	}
	if found == model.NoEvent {
		return model.NoModule
	}
	return a.m.Of[found]
}

// device gives calls of the device's runtime and work on the device the module of their operator.
func (a *moduleAttribution) device() {
	ev := &a.t.Events
	for id, op := range ev.Op {
		if op != model.NoEvent && a.m.Of[op] != model.NoModule {
			a.m.Of[id], a.m.Backward[id] = a.m.Of[op], a.m.Backward[op]
		}
	}
}
