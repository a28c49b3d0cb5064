package account

import (
	"testing"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// TestWithoutLock tells Python from operators where no thread holds a lock: by whether it has let go of the interpreter.
func TestWithoutLock(t *testing.T) {
	frame := testkit.Frame{File: "/home/u/train.py", Function: "train", First: 1, Line: 3}
	attached := testkit.Act{Ms: 1, State: model.StateCPU, Flags: model.SampleAttached, Stack: []testkit.Frame{frame}}
	asleep := attached // for threads of operators, and such
	asleep.State = model.StateBlocked
	p := testkit.NewProgram()
	p.Do(attached)
	p.Do(testkit.Native(1, frame))
	p.Do(testkit.Python(1, frame))
	p.Do(asleep)
	classes := code.NewFrameClasses(p.S, p.P)
	for i, want := range []PartID{PartPython, PartOps, PartPython, PartOps} {
		if got := partOfSample(p.P, classes, i); got != want {
			t.Errorf("sample %d is part %v, want %v", i, got, want)
		}
	}
}

// TestWhatATraceDidNotSee: without steps, windows stand for the run's operators only where its operators lie between them. A program that
// was traced while it copied its model, and ended in its first step, says nothing of what that step waits for.
func TestWhatATraceDidNotSee(t *testing.T) {
	line := testkit.Frame{File: "/home/u/train.py", Function: "step", First: 1, Line: 60}
	for later, stands := range map[int]bool{300: true, 40_000: false} {
		p := testkit.OnDevice(70, false, "ampere_sgemm_128x64_nn")
		p.P.Steps, p.S.Traces[0].From = nil, testkit.Epoch
		p.Do(testkit.Native(later, line))
		b := Of(p.S, p.P)
		if b.PerStep || b.Part(PartOps) == 0 {
			t.Fatalf("%+v", b.Parts)
		}
		if got := b.Ops != nil && b.Part(PartGPUCompute) > 0; got != stands {
			t.Errorf("%d ms later: %+v", later, b.Parts)
		}
	}
}
