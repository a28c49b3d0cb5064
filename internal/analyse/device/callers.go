package device

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
)

// Caller is a Python call around the launch of device work. Where.Line is the line on which the function begins; Running that from which it
// made the next call, 0 where the trace does not say (before PyTorch 2.12, and for operators like a + b, which are no calls).
type Caller struct {
	code.Where
	Running int32
}

// LaunchCallers hands out each piece of device work with the Python calls around its launch, innermost first: of work that the backward
// pass launched in a thread of its own, those around the call of backward. Work without any, as where no stacks were recorded, is left out.
func LaunchCallers(t *model.Trace, s *model.Strings, visit func(work model.EventID, callers []Caller)) {
	c := callerFinder{t: t, texts: s, frames: map[model.Str]code.Where{}, chains: map[model.EventID][]Caller{}}
	c.findBackward()
	ev := &t.Events
	for id := range model.EventID(ev.Len()) {
		if !ev.Kind[id].Device() || ev.Link[id] == model.NoEvent {
			continue
		}
		if callers := c.of(ev.Link[id]); len(callers) > 0 {
			visit(id, callers)
		}
	}
}

type callerFinder struct {
	t        *model.Trace
	texts    *model.Strings
	frames   map[model.Str]code.Where
	chains   map[model.EventID][]Caller // by the event that stands around a launch
	backward []model.EventID            // calls of autograd's engine, by their start
}

// findBackward finds the calls during which autograd's own threads launch.
func (c *callerFinder) findBackward() {
	ev := &c.t.Events
	for id := range model.EventID(ev.Len()) {
		if ev.Kind[id] == model.KindPython && strings.HasPrefix(c.texts.Text(ev.Name[id]), "<built-in method run_backward") {
			c.backward = append(c.backward, id)
		}
	}
	slices.SortStableFunc(c.backward, func(a, b model.EventID) int { return cmp.Compare(ev.Start[a], ev.Start[b]) })
}

// of are the calls around a launch.
func (c *callerFinder) of(launch model.EventID) []Caller {
	ev := &c.t.Events
	around := ev.Parent[launch]
	if chain := c.chain(around); len(chain) > 0 {
		return chain
	}
	at := ev.Start[launch]
	after, _ := slices.BinarySearchFunc(c.backward, at, func(id model.EventID, at model.Time) int {
		if ev.Start[id] <= at {
			return -1
		}
		return 1
	})
	if after > 0 && ev.End(c.backward[after-1]) >= at {
		return c.chain(c.backward[after-1])
	}
	return nil
}

// chain are the Python calls from an event outwards.
func (c *callerFinder) chain(from model.EventID) []Caller {
	if from == model.NoEvent {
		return nil
	}
	if chain, known := c.chains[from]; known {
		return chain
	}
	ev := &c.t.Events
	chain, called := []Caller(nil), model.Str(0)
	for at := from; at != model.NoEvent; at = ev.Parent[at] {
		if ev.Kind[at] != model.KindPython {
			continue
		}
		if w := c.frame(ev.Name[at]); w.Known() {
			chain = append(chain, Caller{w, code.LineFrom(c.texts.Text(called), w.File)})
		}
		if called = 0; ev.Detail[at] >= 0 {
			called = ev.PythonDetails[ev.Detail[at]].From
		}
	}
	c.chains[from] = chain
	return chain
}

func (c *callerFinder) frame(name model.Str) code.Where {
	w, known := c.frames[name]
	if !known {
		w.SetFrame(c.texts.Text(name))
		c.frames[name] = w
	}
	return w
}
