package account

import (
	"cmp"
	"maps"
	"slices"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// NativeFunction is the time of one function of a C or C++ library, from samples with native frames.
type NativeFunction struct {
	Function string // or the library and the place in it, where no symbol covers that
	Library  string // path of its file
	Self     float64
	Total    float64 // ns; a function that calls itself counts once
	// File, Line and Caller are the Python line that called it most: the innermost one of the user's code, of a library's
	// where none is in the stack. Empty where no Python called it.
	File       string
	Line       int32
	Caller     string
	CallerTime float64 // ns, of Total
}

// NativeTimes is the time of an account's samples by native function.
type NativeTimes struct {
	Functions []NativeFunction // most own time first
	Samples   int              // of the account
	Native    int              // those in which native frames were read
}

// nativeKey tells functions apart: files may have functions of one name.
type nativeKey struct{ function, library model.Str }

// callerKey is a line of a Python function.
type callerKey struct {
	file, function model.Str
	line           int32
}

type nativeSum struct {
	self, total float64
	callers     map[callerKey]float64
}

// NativeFunctions sums the samples of an account by native function; nil where none were recorded. Functions that the
// recording's own agent called are left out. Samples whose native frames could not be read have none, so that times are too
// small by as much as Native is below the samples that were in native code.
func NativeFunctions(s *model.Session, b *Breakdown) *NativeTimes {
	if b == nil || b.Process == nil || b.Process.Samples.Native == nil {
		return nil
	}
	sm := &b.Process.Samples
	out := &NativeTimes{Samples: len(b.Samples)}
	weights := map[model.StackID]float64{} // samples of one stack are looked at once
	for _, at := range b.Samples {
		if id := sm.Native[at.Index]; id != sm.Stack[at.Index] {
			out.Native++
			weights[id] += at.Weight
		}
	}
	if out.Native == 0 {
		return nil
	}
	w := nativeWalk{cls: code.NewFrameClasses(s, b.Process)}
	sums := map[nativeKey]*nativeSum{}
	for id, weight := range stats.InOrder(weights) {
		w.walk(id)
		w.add(sums, weight)
	}
	for k, sum := range sums {
		out.Functions = append(out.Functions, sum.function(k, s.Strings))
	}
	slices.SortFunc(out.Functions, func(x, y NativeFunction) int {
		return cmp.Or(cmp.Compare(y.Self, x.Self), cmp.Compare(y.Total, x.Total), cmp.Compare(x.Function, y.Function),
			cmp.Compare(x.Library, y.Library))
	})
	return out
}

func (n *nativeSum) function(k nativeKey, s *model.Strings) NativeFunction {
	out := NativeFunction{Function: s.Text(k.function), Library: s.Text(k.library), Self: n.self, Total: n.total}
	lines := slices.SortedFunc(maps.Keys(n.callers), func(x, y callerKey) int {
		return cmp.Or(cmp.Compare(n.callers[y], n.callers[x]), cmp.Compare(s.Text(x.file), s.Text(y.file)), cmp.Compare(x.line, y.line),
			cmp.Compare(x.function, y.function))
	})
	if len(lines) > 0 {
		most := lines[0]
		out.File, out.Line, out.Caller, out.CallerTime = s.Text(most.file), most.line, s.Text(most.function), n.callers[most]
	}
	return out
}

// nativeWalk finds the native frames of one stack and who called them.
type nativeWalk struct {
	cls   *code.FrameClasses
	found []nativeFrame
	seen  map[nativeKey]bool
}

type nativeFrame struct {
	key       nativeKey
	leaf      bool // the stack's innermost frame
	agent     bool // called by the agent
	caller    callerKey
	hasCaller bool
	byUser    bool // caller is the user's
}

// walk goes through a stack, innermost frame first.
func (w *nativeWalk) walk(id model.StackID) {
	w.found = w.found[:0]
	leaf, called := true, 0 // found[called:] have no Python frame around them yet
	w.cls.Walk(id, func(fr model.FrameID) bool {
		f := &w.cls.Stacks.Frames[fr]
		if f.Native {
			w.found = append(w.found, nativeFrame{key: nativeKey{f.Function, f.File}, leaf: leaf})
		} else {
			w.python(f, called)
			called = len(w.found)
		}
		leaf = false
		return true
	})
}

// python notes a Python frame as the caller of the native frames within it, of which those from called on have none between.
func (w *nativeWalk) python(f *model.Frame, called int) {
	class := w.cls.File(f.File)
	if class == code.FileAgent {
		for i := called; i < len(w.found); i++ {
			w.found[i].agent = true
		}
		return
	}
	for i := range w.found {
		n := &w.found[i]
		if n.byUser || n.hasCaller && class != code.FileUser {
			continue
		}
		n.caller, n.hasCaller, n.byUser = callerKey{f.File, f.Function, f.Line}, true, class == code.FileUser
	}
}

// add adds the stack's time to its functions.
func (w *nativeWalk) add(sums map[nativeKey]*nativeSum, weight float64) {
	if w.seen == nil {
		w.seen = map[nativeKey]bool{}
	}
	clear(w.seen)
	for i := range w.found {
		n := &w.found[i]
		if n.agent || w.seen[n.key] {
			continue
		}
		w.seen[n.key] = true
		sum := sums[n.key]
		if sum == nil {
			sum = &nativeSum{callers: map[callerKey]float64{}}
			sums[n.key] = sum
		}
		sum.total += weight
		if n.leaf {
			sum.self += weight
		}
		if n.hasCaller {
			sum.callers[n.caller] += weight
		}
	}
}
