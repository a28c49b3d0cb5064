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
