package account

import (
	"math"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// withNative records stacks, each with the native frames that are named, in a program with one sample each millisecond.
func withNative(stacks ...[]testkit.Frame) *testkit.Program {
	p := testkit.NewProgram()
	var native []model.StackID
	for _, frames := range stacks { // the same frames twice: as they are, then without the native ones
		p.Do(testkit.Native(1, frames...))
		native = append(native, p.P.Samples.Stack[len(native)])
	}
	for i, frames := range stacks {
		var python []testkit.Frame
		for _, f := range frames {
			if f.Line != 0 {
				python = append(python, f)
			}
		}
		p.Do(testkit.Native(1, python...))
		p.P.Samples.Stack[i] = p.P.Samples.Stack[len(stacks)+i]
	}
	sm := &p.P.Samples
	n := len(stacks)
	sm.Time, sm.Thread, sm.Stack, sm.State, sm.Flags, sm.Native = sm.Time[:n], sm.Thread[:n], sm.Stack[:n],
		sm.State[:n], sm.Flags[:n], native
	for i := range sm.Stacks.Frames {
		sm.Stacks.Frames[i].Native = sm.Stacks.Frames[i].Line == 0
	}
	return p
}

// account gives each sample one second.
func account(p *testkit.Program) *Breakdown {
	b := &Breakdown{Process: p.P}
	for i := range p.P.Samples.Len() {
		b.Samples = append(b.Samples, Attributed{Index: i, Weight: 1e9})
	}
	b.Total = 1e9 * float64(len(b.Samples))
	return b
}

func TestNativeFunctions(t *testing.T) {
	user := func(line int) testkit.Frame {
		return testkit.Frame{File: "/home/u/train.py", Function: "train", First: 1, Line: line}
	}
	library := testkit.Frame{File: "/usr/lib/python3.13/site-packages/torch/nn/functional.py", Function: "linear", First: 9, Line: 12}
	agent := testkit.Frame{File: "/s/agent/_bneck_agent/core.py", Function: "hook", First: 1, Line: 2}
	call := testkit.Frame{File: "/lib/libtorch_cpu.so", Function: "at::addmm"}
	kernel := testkit.Frame{File: "/lib/libtorch_cpu.so", Function: "sgemm"}
	other := testkit.Frame{File: "/lib/libblas.so", Function: "sgemm"} // of one name, in another file
	p := withNative(
		[]testkit.Frame{user(3), library, call, kernel},
		[]testkit.Frame{user(3), library, call, kernel},
		[]testkit.Frame{user(4), call, kernel, call}, // calls itself: counts once, from its innermost call
		[]testkit.Frame{library, other},              // nothing of the user's around it
		[]testkit.Frame{call, user(5), kernel},       // an engine that calls Python, which calls it again
		[]testkit.Frame{user(6), agent, other},       // our own doing
		[]testkit.Frame{call, user(7)},               // Python is what runs
		[]testkit.Frame{user(8)},                     // none could be read
	)
	got := NativeFunctions(p.S, account(p))
	if got.Samples != 8 || got.Native != 7 {
		t.Errorf("%d samples, %d with native frames; want 8, 7", got.Samples, got.Native)
	}
	want := []NativeFunction{
		{"sgemm", "/lib/libtorch_cpu.so", 3e9, 4e9, "/home/u/train.py", 3, "train", 2e9},
		{"at::addmm", "/lib/libtorch_cpu.so", 1e9, 5e9, "/home/u/train.py", 3, "train", 2e9},
		{"sgemm", "/lib/libblas.so", 1e9, 1e9, library.File, 12, "linear", 1e9},
	}
	if len(got.Functions) != len(want) {
		t.Fatalf("functions: %+v", got.Functions)
	}
	own := 0.0
	for i, f := range got.Functions {
		if f != want[i] {
			t.Errorf("row %d: %+v, want %+v", i, f, want[i])
		}
		own += f.Self
	}
	if math.Abs(own-5e9) > 1 { // five of the innermost frames are native and not ours
		t.Errorf("own times sum to %v", own)
	}
}

// Sessions without native frames, and damaged ones, have no such table.
func TestNativeFunctionsOfNothing(t *testing.T) {
	p := withNative([]testkit.Frame{{File: "/home/u/train.py", Function: "train", First: 1, Line: 3}})
	if got := NativeFunctions(p.S, account(p)); got != nil {
		t.Errorf("stacks without native frames give %+v", got)
	}
	p.P.Samples.Native = nil
	if got := NativeFunctions(p.S, account(p)); got != nil {
		t.Errorf("samples without native frames give %+v", got)
	}
	if NativeFunctions(p.S, nil) != nil || NativeFunctions(p.S, &Breakdown{}) != nil {
		t.Error("an account of nothing gives a table")
	}
	p = withNative([]testkit.Frame{{File: "/lib/libc.so.6", Function: "read"}})
	p.P.Samples.Stacks.Frame[0] = 99 // no such frame
	p.P.Samples.Stack[0] = model.NoStack
	if got := NativeFunctions(p.S, account(p)); got == nil || len(got.Functions) != 0 {
		t.Errorf("a stack of no known frame gives %+v", got)
	}
}
