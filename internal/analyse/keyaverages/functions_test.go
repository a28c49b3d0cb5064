package keyaverages

import (
	"reflect"
	"sync/atomic"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// TestWindowsEqualWhole makes the tables of real traces from the smallest windows that can be, and from all rows at once.
func TestWindowsEqualWhole(t *testing.T) {
	var windows atomic.Int64
	t.Cleanup(func() {
		if n := windows.Load(); !t.Skipped() && n < 1000 {
			t.Errorf("only %d windows", n)
		}
	})
	slowtrace.OnReal(t, func(t *testing.T, kept *model.Trace, s *model.Strings) {
		tr := *kept
		tr.Memory = model.MemoryEvents{} // else all rows are one window
		for _, opt := range []Options{{}, {ByShapes: true}, {PythonFunctions: true}, {IgnorePython: true, ByModule: true}} {
			whole, cut := newGrouping(s, opt), newGrouping(s, opt)
			whole.add(newFunctions(&tr, s, opt), nil)
			f := startFunctions(&tr, s, opt)
			for len(f.order) > 0 {
				f.take(f.window(1))
				cut.add(f, nil)
				windows.Add(1)
			}
			if !reflect.DeepEqual(cut.rows, whole.rows) {
				t.Fatalf("%+v: the table of windows differs", opt)
			}
			if got := Of([]*model.Trace{&tr}, s, opt); !reflect.DeepEqual(got, whole.rows) {
				t.Fatalf("%+v: the averages differ", opt)
			}
		}
	})
}
