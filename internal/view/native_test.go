package view

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"bottleneck/internal/units"
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// nativeProgram computes in a C++ function that line 57 of the user's file calls, for as many functions as asked.
func nativeProgram(functions int) *testkit.Program {
	p := slowProgram()
	sm := &p.P.Samples
	sm.Native = append([]model.StackID(nil), sm.Stack...)
	for i, id := range sm.Stack {
		if sm.Time[i]%3 == 0 { // not every stack could be read
			continue
		}
		n := i % functions
		frame := model.FrameID(len(sm.Stacks.Frames))
		sm.Stacks.Frames = append(sm.Stacks.Frames, model.Frame{Native: true,
			Function: p.S.Strings.Intern(fmt.Sprintf("at::native::(anonymous namespace)::kernel_%d<float, std::vector<int> >::call(int)",
				n)),
			File: p.S.Strings.Intern("/opt/torch/lib/libtorch_cpu.so.2")})
		sm.Native[i] = model.StackID(len(sm.Stacks.Frame))
		sm.Stacks.Frame, sm.Stacks.Parent = append(sm.Stacks.Frame, frame), append(sm.Stacks.Parent, id)
	}
	return p
}

// The table is part of the report where native frames were recorded, and only there.
func TestNativeSection(t *testing.T) {
	for _, width := range []int{60, 80, 100} {
		var b bytes.Buffer
		if err := WriteText(&b, report.Build(nativeProgram(1).S, report.Options{}), TextOptions{Width: width}); err != nil {
			t.Fatal(err)
		}
		_, table, found := strings.Cut(b.String(), "Top native functions")
		table, _, _ = strings.Cut(table, "\n\n")
		for _, part := range []string{"kernel_0::call", "libtorch_cpu", "data.py:57"} {
			if !found || width >= 80 && !strings.Contains(table, part) {
				t.Errorf("width %d: no %q in the table of native functions:\n%s", width, part, table)
			}
		}
		for line := range strings.SplitSeq(table, "\n") {
			if units.TextWidth(line) > width {
				t.Errorf("line of %d columns at width %d: %s", units.TextWidth(line), width, line)
			}
		}
	}
	var without bytes.Buffer
	if err := WriteText(&without, report.Build(slowProgram().S, report.Options{}), TextOptions{}); err != nil ||
		strings.Contains(without.String(), "native functions") {
		t.Errorf("a table of native functions without native frames (%v)", err)
	}
	without.Reset()
	if err := WriteText(&without, report.Build(slowProgram().S, report.Options{}), TextOptions{Sections: []string{"native"}}); err != nil ||
		!strings.Contains(without.String(), "run --native") {
		t.Errorf("the section alone gives %q, %v", without.String(), err)
	}
}

// The document's rows are bounded, have full names, and agree with its schema.
func TestNativeDocument(t *testing.T) {
	r := report.Build(nativeProgram(500).S, report.Options{})
	n := r.Python.Native
	if n == nil || len(n.Functions) != 100 || n.Read == 0 || n.Read >= n.Samples {
		t.Fatalf("native: %+v", n)
	}
	f := n.Functions[0]
	if !strings.HasPrefix(f.Function, "at::native::(anonymous namespace)::kernel_") || f.Library != "/opt/torch/lib/libtorch_cpu.so.2" ||
		f.SelfS <= 0 || f.SelfS != f.TotalS || f.Caller == nil || f.CallerShare <= 0 || f.CallerShare > 1 {
		t.Errorf("first row: %+v", f)
	}
	validDocument(t, r)
}

func TestShortNative(t *testing.T) {
	for name, want := range map[string]string{
		"at::native::(anonymous namespace)::sort_kernel": "at::native::sort_kernel",
		"c10::function_ref<void (char**)>::callback_fn":  "c10::function_ref::callback_fn",
		"f(int)::{lambda(int)#1}::operator()":            "f::{lambda#1}::operator",
		"operator new":                                   "operator new",
		"(odd)":                                          "(odd)",
	} {
		if got := report.ShortNative(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
	for file, want := range map[string]string{"/lib/libc.so.6": "libc", "/x/_ctypes.cpython-313-x86_64-linux-gnu.so": "_ctypes",
		"/x/python3.13": "python3.13", "[vdso]": "[vdso]", "/x/.so": ".so"} {
		if got := report.ShortLibrary(file); got != want {
			t.Errorf("%q: %q, want %q", file, got, want)
		}
	}
}
