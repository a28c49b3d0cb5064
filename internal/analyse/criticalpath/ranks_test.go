package criticalpath

import (
	"fmt"
	"path/filepath"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

func checkRanksPath(t *testing.T, p *RanksPath) {
	t.Helper()
	at := p.From
	var kinds, ranks model.Dur
	for _, s := range p.Spans {
		if s.Start != at || s.Dur <= 0 {
			t.Fatalf("span %+v does not begin at %d", s, at)
		}
		at = s.Start + model.Time(s.Dur)
	}
	for _, d := range p.Kinds {
		kinds += d
	}
	for _, d := range p.Ranks {
		ranks += d
	}
	if at != p.To || kinds != p.To.Sub(p.From) || ranks != kinds {
		t.Fatalf("path ends at %d of %d, kinds sum to %d, ranks to %d", at, p.To, kinds, ranks)
	}
}

// TestCriticalPathOverRanks: rank 0 waits in a collective for rank 1, whose operator took long; then rank 0 computes on.
func TestCriticalPathOverRanks(t *testing.T) {
	var s model.Strings
	args := `"Collective name": "allreduce", "In msg nelems": 1024, "Group size": 2, "dtype": "Float", "Process Group Name": "0", "device": 0, "stream": 20, `
	rank := func(number int, clock, operator, start float64, after float64) *model.Trace {
		b := &slowtrace.Builder{}
		b.Add("cpu_op", "aten::mm", 1, 1, clock, clock+operator, "")
		b.Add("cuda_runtime", "cudaLaunchKernel", 1, 1, clock+operator-5, clock+operator-2, `"correlation": 1`)
		b.Add("kernel", "ncclDevKernel_AllReduce", 0, 20, clock+start, clock+200, args+`"correlation": 1`)
		if after > 0 {
			b.Add("cuda_runtime", "cudaLaunchKernel", 1, 1, clock+operator+1, clock+operator+2, `"correlation": 2`)
			b.Add("kernel", "gemm", 0, 20, clock+201, clock+after, `"device": 0, "stream": 20, "correlation": 2`)
		}
		b.File.Distribute.Rank = []byte(fmt.Sprint(number))
		return slowtrace.Build(&b.File, &s)
	}
	traces := []*model.Trace{rank(0, 0, 20, 30, 300), rank(1, 1000, 140, 150, 0)}
	p := OverRanks(traces, &s, traces[0].From, traces[0].To)
	checkRanksPath(t, p)
	want := map[Kind]model.Dur{Compute: slowtrace.Micros(99), KernelGap: slowtrace.Micros(1), Communication: slowtrace.Micros(50),
		Launch: slowtrace.Micros(15), Op: slowtrace.Micros(135)}
	for kind, d := range p.Kinds {
		if d != want[Kind(kind)] {
			t.Errorf("%s: %v, want %v", Kind(kind), d.Std(), want[Kind(kind)].Std())
		}
	}
	if p.Ranks[0] != slowtrace.Micros(150) || p.Ranks[1] != slowtrace.Micros(150) {
		t.Errorf("by rank %v", p.Ranks)
	}
}

// TestOneRankIsThePlainPath: over a single trace both walks agree.
func TestOneRankIsThePlainPath(t *testing.T) {
	slowtrace.OnReal(t, func(t *testing.T, trace *model.Trace, s *model.Strings) {
		p, q := Of(trace, s, trace.From, trace.To), OverRanks([]*model.Trace{trace}, s, trace.From, trace.To)
		checkRanksPath(t, q)
		if p.Kinds != q.Kinds || len(p.Spans) != len(q.Spans) {
			t.Errorf("%v, over ranks %v", p.Kinds, q.Kinds)
		}
	})
}

func TestCriticalPathOverEightRanks(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(slowtrace.Folder(), "megatron-tp8-a100", "megatron_kineto_*.json.gz"))
	if len(paths) < 2 {
		t.Skip("no traces of several ranks")
	}
	var s model.Strings
	var traces []*model.Trace
	for _, path := range paths {
		traces = append(traces, slowtrace.Read(t, path, &s))
	}
	p := OverRanks(traces, &s, traces[0].From, traces[0].To)
	checkRanksPath(t, p)
	t.Logf("%v by rank, %v", p.Ranks, p.Kinds)
}
