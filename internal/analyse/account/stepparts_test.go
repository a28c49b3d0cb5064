package account

import (
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

func TestStepPartsByHand(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Add("user_annotation", "ProfilerStep#3", 1, 1, 0, 100, "")
	b.Add("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", 1, 1, 0, 20, "")
	b.Add("cpu_op", "aten::mm", 1, 1, 30, 60, "")
	b.Launch("cudaLaunchKernel", 40, 45, "kernel", "k", 7, 50, 120)
	b.Add("user_annotation", "ProfilerStep#4", 1, 1, 100, 150, "")
	trace, s := b.Trace()
	got := StepPartsOf(trace, s)
	if len(got) != 2 {
		t.Fatalf("%d steps", len(got))
	}
	want := [NumStepParts]model.Dur{StepKernel: slowtrace.Micros(70), StepRuntime: slowtrace.Micros(5),
		StepDataLoader: slowtrace.Micros(20), StepCPUOp: slowtrace.Micros(15), StepOther: slowtrace.Micros(10)}
	if got[0].Parts != want || got[0].End != got[1].Start || got[1].End.Sub(got[1].Start) != slowtrace.Micros(30) {
		t.Errorf("%+v, want %v", got, want)
	}
}

// TestHiddenCommunication: gloo's collective beside an operator is hidden as far as the operator lasts.
func TestHiddenCommunication(t *testing.T) {
	b := &slowtrace.Builder{}
	b.Add("user_annotation", "ProfilerStep#3", 1, 1, 0, 100, "")
	b.Add("cpu_op", "aten::mm", 1, 1, 10, 40, "")
	b.Add("user_annotation", "gloo:all_reduce", 1, 2, 20, 80, "")
	trace, s := b.Trace()
	parts := StepPartsOf(trace, s)
	last := parts[len(parts)-1]
	if last.Parts[StepCommunication] != slowtrace.Micros(60) || last.HiddenCommunication != slowtrace.Micros(20) {
		t.Errorf("communication %v, hidden %v", last.Parts[StepCommunication].Std(), last.HiddenCommunication.Std())
	}
}
