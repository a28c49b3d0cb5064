package collect

import (
	"context"
	"testing"
	"time"
)

// TestSubinterpreterTime counts a thread that runs code of a second interpreter once.
func TestSubinterpreterTime(t *testing.T) {
	p := startProgram(t, newestPython(t), "../cpython/testdata/subinterpreter.py")
	p.line(t)
	inside, beside := 0, 0
	done := make(chan struct{})
	s, err := StartSampler(context.Background(), SamplerOptions{PID: p.cmd.Process.Pid, Live: func(l LiveSample) {
		switch l.Frames[0].Function {
		case "inside":
			if inside++; inside == 20 {
				close(done)
			}
		case "beside":
			beside++
		}
	}})
	if err != nil {
		t.Fatal(err)
	}
	select {
	case <-done:
	case <-time.After(time.Minute):
	}
	s.Stop()
	if inside < 20 || beside > 2 { // the first snapshots may not yet believe where the inner stack ends
		t.Errorf("%d samples inside the second interpreter, %d of the call into it", inside, beside)
	}
	list, err := Dump(p.cmd.Process.Pid, DumpOptions{})
	if err != nil {
		t.Fatal(err)
	}
	in := map[string]int{}
	for _, th := range list[0].Threads {
		for _, f := range th.Frames {
			in[f.Function] = th.Interpreter
		}
	}
	if n, ok := in["beside"]; !ok || n != 0 || in["inside"] != 1 {
		t.Errorf("interpreters of the functions: %v", in)
	}
}
