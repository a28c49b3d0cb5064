package export

import (
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// tracesOf gives the traces that the options ask for.
func tracesOf(s *model.Session, opt Options) []*model.Trace {
	if opt.Rank == model.NoRank {
		return s.Traces
	}
	var chosen []*model.Trace
	for _, t := range s.Traces {
		if t.Rank == opt.Rank {
			chosen = append(chosen, t)
		}
	}
	return chosen
}

// callsOfTrace counts the Python calls of a trace that was recorded with stacks, as cProfile would have: nil where the
// trace has no Python rows. What operators and the device's runtime take is the own time of the Python function around
// them, as the time of C code that cProfile does not see.
func callsOfTrace(t *model.Trace, strs *model.Strings) *model.Calls {
	c := tracedCalls{
		calls: &model.Calls{Input: t.Input, Process: t.Process},
		byKey: map[functionKey]int32{}, byName: map[model.Str]int32{},
		edges: edgeIndex{}, activeEdges: map[[2]int32]int32{},
	}
	e := &t.Events
	// Rows of a lane are sorted so that callers precede what they call: the chain of running Python functions is a stack.
	for _, lane := range t.Lanes {
		c.stack = c.stack[:0]
		if lane.Kind != model.LaneThread {
			continue
		}
		for id := lane.FirstEvent; id < lane.EndEvent; id++ {
			if e.Kind[id] == model.KindPython {
				c.call(e, id, strs)
			}
		}
		c.unwind(1<<63 - 1)
	}
	if len(c.calls.Functions) == 0 {
		return nil
	}
	return c.calls
}

// tracedCalls builds call counts from nested rows.
type tracedCalls struct {
	calls  *model.Calls
	byKey  map[functionKey]int32
	byName map[model.Str]int32
	stack  []activation
	edges  edgeIndex
	// How many activations of a function, or of a function from one caller, are on the stack.
	active      []int32
	activeEdges map[[2]int32]int32
}

type activation struct {
	function int32
	end      model.Time
	total    model.Dur
	children model.Dur
}

func (c *tracedCalls) call(e *model.Events, id model.EventID, strs *model.Strings) {
	c.unwind(e.Start[id])
	// A row that only overlaps its caller is cut at the caller's end, so that own times stay what was spent there.
	end := e.End(id)
	if n := len(c.stack); n > 0 {
		end = min(end, c.stack[n-1].end)
	}
	f := c.function(e.Name[id], strs)
	c.active[f]++
	if n := len(c.stack); n > 0 {
		c.activeEdges[[2]int32{f, c.stack[n-1].function}]++
	}
	c.stack = append(c.stack, activation{function: f, end: end, total: model.Dur(end - e.Start[id])})
}

// unwind ends all activations that are over at t. As in cProfile, a recursive activation adds to the own time and to the
// calls only; cumulative time and primitive calls are those of the outermost one, per function and per caller.
func (c *tracedCalls) unwind(t model.Time) {
	for n := len(c.stack); n > 0 && c.stack[n-1].end <= t; n = len(c.stack) {
		a := c.stack[n-1]
		c.stack = c.stack[:n-1]
		f := &c.calls.Functions[a.function]
		f.Calls++
		f.Own += a.total - a.children
		if c.active[a.function]--; c.active[a.function] == 0 {
			f.Primitive++
			f.Cumulative += a.total
		}
		if n == 1 {
			continue
		}
		parent := &c.stack[n-2]
		parent.children += a.total
		edge := c.edges.edge(f, a.function, parent.function)
		edge.Calls++
		edge.Own += a.total - a.children
		key := [2]int32{a.function, parent.function}
		if c.activeEdges[key]--; c.activeEdges[key] == 0 {
			edge.Primitive++
			edge.Cumulative += a.total
		}
	}
}

func (c *tracedCalls) function(name model.Str, strs *model.Strings) int32 {
	if id, ok := c.byName[name]; ok {
		return id
	}
	key := splitPythonName(strs.Text(name))
	id, ok := c.byKey[key]
	if !ok {
		id = int32(len(c.calls.Functions))
		c.byKey[key] = id
		c.calls.Functions = append(c.calls.Functions, model.CallFunction{File: key.file, Name: key.name, Line: key.line})
		c.active = append(c.active, 0)
	}
	c.byName[name] = id
	return id
}

// splitPythonName takes "path(12): function" apart; any other row ("nn.Module: Linear_0", "<built-in …>") is named as
// cProfile names functions written in C.
func splitPythonName(s string) functionKey {
	if end := strings.Index(s, "): "); end > 0 {
		if open := strings.LastIndexByte(s[:end], '('); open > 0 {
			if line, err := strconv.ParseInt(s[open+1:end], 10, 32); err == nil {
				return functionKey{file: s[:open], line: int32(line), name: s[end+3:]}
			}
		}
	}
	return functionKey{file: "~", name: s}
}
