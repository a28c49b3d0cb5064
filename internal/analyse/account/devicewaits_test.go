package account

import (
	"math"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// What steps of real recordings wait for their device is what a sum over the files' own events gives: calls that synchronise or last 0.1
// ms, by how much of them kernels, copies or sets cover, as a share of outermost operators and calls outside of the DataLoader; and
// kernels but collectives that were launched in a step, by correlation, as a share of it.
func TestWaitsForDevicesOnRealTraces(t *testing.T) {
	for path, want := range map[string]struct{ busy, idle, computes float64 }{
		"kineto-tb-resnet50/v100_workers0_memory_stack.1623143089861.pt.trace.json.gz":    {0.0341, 0.0031, 0.5639},
		"kineto-tb-resnet50/v100_workers4.1623213129365.pt.trace.json.gz":                 {0.0966, 0.1076, 0.6938},
		"sidnb13-transformer-h100/dcb0aa1a78e7_4399.1752181589621105859.pt.trace.json.gz": {0, 0, 0.1388},
		"hta-trace-diff/control_a100_rank3of8.json.gz":                                    {0.2097, 0.0032, 0.6051},
		"luatil-compile-rtx3060/trace_04_compiled.json.gz":                                {0, 0, 1}, // the program is ahead of its device
	} {
		s := &model.Session{Strings: &model.Strings{}}
		trace := slowtrace.Read(t, filepath.Join(slowtrace.Folder(), path), s.Strings)
		if trace == nil {
			continue
		}
		p, ev := &model.Process{}, &trace.Events
		for i := range trace.Lanes {
			for id := trace.Lanes[i].FirstEvent; id < trace.Lanes[i].EndEvent; id++ {
				if name := s.Strings.Text(ev.Name[id]); ev.Kind[id] == model.KindAnnotation && strings.HasPrefix(name, "ProfilerStep#") {
					p.Steps = append(p.Steps, model.Step{Start: ev.Start[id], End: ev.End(id), Phase: model.PhaseTrace,
						Thread: int(trace.Lanes[i].Thread)})
				}
			}
		}
		trace.Process = 0
		s.Processes, s.Traces = []*model.Process{p}, []*model.Trace{trace}
		b := &Breakdown{Process: p}
		chooseWindows(b, p, 0)
		got := b.waitsForDevices(s)
		if len(p.Steps) < 3 || math.Abs(got.busy+got.copy-want.busy) > 0.0002 || math.Abs(got.idle-want.idle) > 0.0002 ||
			math.Abs(got.Computes-want.computes) > 0.0002 {
			t.Errorf("%s: %d steps, %+v, want %+v", path, len(p.Steps), got, want)
		}
	}
}
