package collectives

import (
	"fmt"
	"math"
	"testing"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// rankTrace has all-reduces of 4 MB over two ranks, each given as start and end in µs of this rank's clock.
func rankTrace(s *model.Strings, rank int, clock float64, spans ...[2]float64) *model.Trace {
	b := &slowtrace.Builder{}
	args := `"Collective name": "allreduce", "In msg nelems": 1048576, "Out msg nelems": 1048576, "Group size": 2, "dtype": "Float", "Process Group Name": "0", "Process Group Ranks": "[0, 1]"`
	b.Add("kernel", "gemm", 0, 7, clock, clock+60, `"stream": 7`)
	for _, span := range spans {
		b.Add("kernel", "ncclDevKernel_AllReduce_Sum_f32_RING_LL", 0, 20, clock+span[0], clock+span[1], `"stream": 20, `+args)
	}
	b.File.Distribute.Rank = []byte(fmt.Sprint(rank))
	return slowtrace.Build(&b.File, s)
}

// TestWaitIsSplitFromTransfer: rank 1 arrives 30 and 10 µs late, its clock is 1000 µs ahead; transfers take 50 µs.
func TestWaitIsSplitFromTransfer(t *testing.T) {
	var s model.Strings
	traces := []*model.Trace{
		rankTrace(&s, 0, 0, [2]float64{20, 100}, [2]float64{200, 260}, [2]float64{300, 350}),
		rankTrace(&s, 1, 1000, [2]float64{50, 100}, [2]float64{210, 260}, [2]float64{300, 350}),
	}
	clocks := Clocks(traces, &s)
	if len(clocks) != 2 || clocks[1].Offset != slowtrace.Micros(1000) || clocks[1].Error != 0 || clocks[1].Matched != 3 {
		t.Errorf("clocks %+v", clocks)
	}
	got := Communications(traces, &s)
	if len(got) != 2 {
		t.Fatalf("%d rows: %+v", len(got), got)
	}
	first, second := got[0], got[1]
	if first.Dur != slowtrace.Micros(190) || first.Wait != slowtrace.Micros(40) || first.Transfer != slowtrace.Micros(150) ||
		first.LateRank != 1 || first.Matched != 3 {
		t.Errorf("rank 0: %+v", first)
	}
	if first.LateDid != "computing on the device" {
		t.Errorf("rank 1 did %q", first.LateDid)
	}
	if second.Wait != 0 || second.Transfer != slowtrace.Micros(150) || second.Rank != 1 {
		t.Errorf("rank 1: %+v", second)
	}
	if first.Exposed != slowtrace.Micros(190-40) || first.Bytes != 3*4<<20 {
		t.Errorf("exposed %v, bytes %d", first.Exposed, first.Bytes)
	}
	want := 3 * 4.0 * (1 << 20) / 150e3
	if math.Abs(first.AlgBW-want) > 1e-9 || math.Abs(first.BusBW-want) > 1e-9 {
		t.Errorf("bandwidth %v, %v; want %v (for two ranks both are equal)", first.AlgBW, first.BusBW, want)
	}
}

func TestBusFactors(t *testing.T) {
	for _, c := range []struct {
		op     string
		factor float64
		output bool
	}{{"allreduce", 1.75, false}, {"_allgather_base", 0.875, true}, {"_reduce_scatter_base", 0.875, false}, {"broadcast", 1, false},
		{"all_to_all", 0.875, false}, {"send", 1, false}} {
		if f, out := busFactor(c.op, 8); f != c.factor || out != c.output {
			t.Errorf("%s: %v %v", c.op, f, out)
		}
	}
}

// TestOneRankKnowsNoWait: with a single trace nothing is said of waiting.
func TestOneRankKnowsNoWait(t *testing.T) {
	var s model.Strings
	got := Communications([]*model.Trace{rankTrace(&s, 0, 0, [2]float64{0, 100})}, &s)
	if len(got) != 1 || got[0].Matched != 0 || got[0].Wait != 0 || got[0].LateRank != model.NoRank {
		t.Errorf("%+v", got)
	}
}

// TestCollectivesClose: per rank the rows sum to the collectives' kernels, and waiting and transfer to the matched time.
func TestCollectivesClose(t *testing.T) {
	slowtrace.OnReal(t, func(t *testing.T, trace *model.Trace, s *model.Strings) {
		var want, got model.Dur
		kinds := naming.NewKernelClasses(s)
		for i := range trace.Events.Len() {
			if trace.Events.Kind[i] == model.KindKernel && kinds.Of(&trace.Events, model.EventID(i)) == naming.ClassCommunication {
				want += trace.Events.Dur[i]
			}
		}
		for _, c := range Communications([]*model.Trace{trace, trace}, s) {
			got += c.Dur
			if c.Matched == c.Count && (c.Wait != 0 || c.Transfer != c.Dur) {
				t.Errorf("a rank waits for itself: %+v", c)
			}
			if c.Exposed < 0 || c.Exposed > c.Dur {
				t.Errorf("%+v", c)
			}
		}
		if got != 2*want {
			t.Errorf("rows sum to %d, kernels to %d", got, 2*want)
		}
	})
}

// TestCollectivesOnThreads: gloo works on CPU threads; rank 1 was in a slow operator.
func TestCollectivesOnThreads(t *testing.T) {
	var s model.Strings
	rank := func(number int, start float64) *model.Trace {
		b := &slowtrace.Builder{}
		b.Add("cpu_op", "aten::mm", 1, 1, 0, start-5, "")
		b.Add("cpu_op", "c10d::allreduce_", 1, 1, start-4, 120, "")
		b.Add("user_annotation", "gloo:all_reduce", 1, 2, start, 120, `"Input Dims": [[1000, 250]], "Input type": ["float"]`)
		b.Add("cpu_op", "aten::add", 1, 1, 120, 130, "")
		b.File.Distribute.Rank, b.File.Distribute.World = []byte(fmt.Sprint(number)), []byte("2")
		return slowtrace.Build(&b.File, &s)
	}
	got := Communications([]*model.Trace{rank(0, 20), rank(1, 100)}, &s)
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	c := got[0]
	if c.Device != -1 || c.Op != "all_reduce" || c.Ranks != 2 || c.Bytes != 1e6 || c.Dur != slowtrace.Micros(100) ||
		c.Exposed != slowtrace.Micros(100) || c.Wait != slowtrace.Micros(80) || c.Transfer != slowtrace.Micros(20) || c.LateRank != 1 ||
		c.LateDid != "aten::mm" || c.BusBW != 50 {
		t.Errorf("%+v", c)
	}
}
