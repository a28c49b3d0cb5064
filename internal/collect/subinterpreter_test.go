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
	case <-time.After(20 * time.Second):
	}
	s.Stop()
	if inside < 20 || beside > 2 { // the first snapshots may not yet believe where the inner stack ends
		t.Errorf("%d samples inside the second interpreter, %d of the call into it", inside, beside)
	}
}
