package collect

import (
	"context"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// TestSamplerAwaits samples programs whose event loop waits: the stacks name what is awaited, not only the line of asyncio.run.
func TestSamplerAwaits(t *testing.T) {
	all := pythons(t)
	if testing.Short() {
		all = map[string]string{"newest": newestPython(t)}
	}
	for version, python := range all {
		t.Run(version, func(t *testing.T) {
			p := startProgram(t, python, "testdata/awaiting.py")
			p.line(t)
			seen, idle := map[string]int{}, 0
			s, err := StartSampler(context.Background(), SamplerOptions{PID: p.cmd.Process.Pid, Hz: 400, Live: func(s LiveSample) {
				if s.State != model.StateIdle {
					return
				}
				idle++
				names := []string{}
				for i := range s.Frames {
					name := s.Frames[i].Function
					names = append(names, name[strings.LastIndexByte(name, '.')+1:])
				}
				for i := range names { // innermost first: the loop's turn, then what is awaited, then who began the loop
					if names[i] == "_run_once" {
						seen[strings.Join(names[i+1:], " ")]++
					}
				}
			}})
			if err != nil {
				t.Fatal(err)
			}
			p.line(t)
			s.Stop()
			count := map[string]int{}
			for stack, n := range seen {
				for _, want := range []string{"sleep fetch main run_forever", "sleep other main run_forever"} {
					if strings.HasPrefix(stack, want) {
						count[want] += n
					}
				}
			}
			if idle < 50 || len(count) != 2 {
				t.Fatalf("of %d samples: %v", idle, seen)
			}
			for want, n := range count {
				if 10*n < 3*idle {
					t.Errorf("%q in %d of %d samples, want about half: %v", want, n, idle, seen)
				}
			}
		})
	}
}
