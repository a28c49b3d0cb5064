package ingest

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// vizCategory is VizTracer's category of functions that were entered and left ("function entry exit").
const vizCategory = "fee"

// viztracer says whether VizTracer wrote the trace (gaogaotiantian/viztracer): it logs every call of a function.
func (b *builder) viztracer() bool {
	_, ok := b.header.model.Metadata["viztracer_metadata"]
	return ok
}

// vizFunction takes VizTracer's name of a function apart, "Class.method (/path/file.py:12)"; of one written in C there is the name
// alone.
func vizFunction(name string) (function, file string, line int32) {
	if open := strings.LastIndex(name, " ("); open > 0 && strings.HasSuffix(name, ")") {
		inside := name[open+2 : len(name)-1]
		if colon := strings.LastIndexByte(inside, ':'); colon > 0 {
			if n, ok := lineNumber(inside[colon+1:]); ok {
				return name[:open], inside[:colon], n
			}
		}
	}
	return name, "~", 0
}

// callsOf sums up a trace of every call as cProfile would have counted them. Calls that are cut at the trace's edge count too.
func callsOf(t *model.Trace, texts *model.Strings) *model.Calls {
	out := &model.Calls{Process: -1}
	ids := map[model.Str]int32{}
	type active struct {
		id    model.EventID
		fn    int32
		outer bool // not within itself
		inner model.Dur
	}
	type edge struct{ caller, fn int32 }
	edges := map[edge]*model.CallEdge{}
	ev := &t.Events
	for _, lane := range t.Lanes {
		var stack []active
		running := map[int32]int{}
		leave := func() {
			a := stack[len(stack)-1]
			stack = stack[:len(stack)-1]
			f, dur := &out.Functions[a.fn], ev.Dur[a.id]
			own := max(dur-a.inner, 0)
			f.Calls++
			f.Own += own
			running[a.fn]--
			if a.outer {
				f.Primitive++
				f.Cumulative += dur
			}
			if len(stack) == 0 {
				return
			}
			caller := &stack[len(stack)-1]
			caller.inner += dur
			k := edge{caller.fn, a.fn}
			e := edges[k]
			if e == nil {
				e = &model.CallEdge{Caller: caller.fn}
				edges[k] = e
			}
			e.Calls++
			e.Own += own
			if a.outer {
				e.Primitive++
				e.Cumulative += dur
			}
		}
		for id := lane.FirstEvent; id < lane.EndEvent; id++ {
			if ev.Kind[id] != model.KindPython {
				continue
			}
			for len(stack) > 0 && ev.End(stack[len(stack)-1].id) <= ev.Start[id] {
				leave()
			}
			fn, known := ids[ev.Name[id]]
			if !known {
				fn = int32(len(out.Functions))
				ids[ev.Name[id]] = fn
				function, file, line := vizFunction(texts.Text(ev.Name[id]))
				out.Functions = append(out.Functions, model.CallFunction{File: file, Name: function, Line: line})
			}
			stack = append(stack, active{id: id, fn: fn, outer: running[fn] == 0})
			running[fn]++
		}
		for len(stack) > 0 {
			leave()
		}
	}
	for k, e := range edges {
		f := &out.Functions[k.fn]
		f.Callers = append(f.Callers, *e)
	}
	for i := range out.Functions {
		slices.SortFunc(out.Functions[i].Callers, func(a, b model.CallEdge) int { return cmp.Compare(a.Caller, b.Caller) })
	}
	return out
}

// asKineto rewrites VizTracer's names of functions as Kineto writes them, "/path/file.py(12): function", once their calls are counted.
func asKineto(t *model.Trace, texts *model.Strings) {
	names := map[model.Str]model.Str{}
	for i, kind := range t.Events.Kind {
		if kind != model.KindPython {
			continue
		}
		name := t.Events.Name[i]
		to, known := names[name]
		if !known {
			to = name
			if function, file, line := vizFunction(texts.Text(name)); line > 0 {
				to = texts.Intern(file + "(" + strconv.Itoa(int(line)) + "): " + function)
			} else if !strings.HasPrefix(function, "<") {
				to = texts.Intern("<built-in function " + function + ">")
			}
			names[name] = to
		}
		t.Events.Name[i] = to
	}
}
