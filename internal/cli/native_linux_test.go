package cli

import (
	"bottleneck/internal/report"
	"encoding/json"
	"strings"
	"testing"
)

// A recording with --native has the functions of libraries in its report, with the line that calls them. A sleeping thread's
// are read from its stack, which needs no perf events.
func TestRunNative(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "import time\ndef pause():\n    time.sleep(0.25)\nfor _ in range(5):\n    pause()\n")
	got := b.run("", "run", "--native", "s.py")
	if got.code != 0 {
		t.Fatalf("%+v", got)
	}
	if l := b.launcher(); hasNote(l, "not-sampled") {
		t.Skipf("programs cannot be sampled from outside here: %+v", l.Notes)
	}
	var r report.Report
	if err := json.Unmarshal([]byte(b.run("", "report", "--json", "-", b.session()).stdout), &r); err != nil {
		t.Fatal(err)
	}
	if r.Python == nil || r.Python.Native == nil {
		t.Fatalf("no native functions: %+v\n%s", r.Python, got.stderr)
	}
	for _, f := range r.Python.Native.Functions {
		if strings.Contains(f.Library, "/libc") && f.TotalS > 0.5*r.Python.ScopeS {
			if f.Caller == nil || f.Caller.Line != 3 || f.Caller.Function != "pause" || f.CallerShare < 0.9 {
				t.Errorf("the sleep in %s was called at %+v", f.Library, f.Caller)
			}
			expect(t, "the report at the end of the run", got.stderr, "Top native functions", "s.py:3")
			return
		}
	}
	t.Errorf("no function of the C library sleeps: %+v", r.Python.Native)
}
