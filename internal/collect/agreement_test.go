package collect

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// TestAgreement compares sampled shares with programs that time their own functions, a smaller form of bench/sampler's
// comparison: every share must lie within the 99.9 % interval of its samples, widened by what a loaded machine does.
func TestAgreement(t *testing.T) {
	python := newestPython(t)
	for _, name := range []string{"loops", "recursion", "generators", "async", "threads", "sleeping", "quick"} {
		t.Run(name, func(t *testing.T) {
			cmd := exec.Command(python, "../../bench/sampler/shares.py", name, "2.5")
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			p := startCommand(t, cmd)
			p.out.Buffer(make([]byte, 0, bufio.MaxScanTokenSize), 1<<20)
			p.line(t)
			all, cells := map[string]int{}, map[string]map[string]int{} // by lane
			s, err := StartSampler(context.Background(), SamplerOptions{PID: cmd.Process.Pid, Live: func(l LiveSample) {
				countCells(l, all, cells)
			}})
			if err != nil {
				t.Fatal(err)
			}
			from := time.Now().UnixNano()
			timer := time.NewTimer(1800 * time.Millisecond)
			<-timer.C
			s.Stop()
			to := time.Now().UnixNano()
			if p.line(t) != "done" {
				t.Fatal("the program did not end its work")
			}
			if _, err := fmt.Fprintf(stdin, "%d %d\n", from, to); err != nil {
				t.Fatal(err)
			}
			truth := map[string]map[string]float64{}
			if err := json.Unmarshal([]byte(strings.TrimPrefix(p.line(t), "shares ")), &truth); err != nil {
				t.Fatal(err)
			}
			checkCells(t, truth, all, cells)
		})
	}
}

// countCells counts a sample for the lane and the functions that are on its stack.
func countCells(l LiveSample, all map[string]int, cells map[string]map[string]int) {
	lane := ""
	for _, f := range l.Frames {
		if strings.HasPrefix(f.Function, "lane_") {
			lane = f.Function
		}
	}
	if lane == "" {
		return
	}
	if all[lane]++; cells[lane] == nil {
		cells[lane] = map[string]int{}
	}
	seen := map[string]bool{}
	for _, f := range l.Frames {
		if !seen[f.Function] {
			seen[f.Function] = true
			cells[lane][f.Function]++
		}
	}
}

func checkCells(t *testing.T, truth map[string]map[string]float64, all map[string]int, cells map[string]map[string]int) {
	t.Helper()
	for lane, list := range truth {
		n := float64(all[lane])
		if n < 50 {
			t.Errorf("%s: only %.0f samples", lane, n)
			continue
		}
		for cell, want := range list {
			got := float64(cells[lane][cell]) / n
			if limit := 3.3*math.Sqrt(want*(1-want)/n) + 0.05; math.Abs(got-want) > limit {
				t.Errorf("%s in %s: share %.3f of %.0f samples, truth %.3f ± %.3f", cell, lane, got, n, want, limit)
			}
		}
	}
}
