package agent

import (
	"runtime"
	"testing"
)

// TestHeld has a program that keeps 100 kB at each step in the room that it freed before: what is said from inside grows by as much.
func TestHeld(t *testing.T) {
	for _, generation := range generations() {
		t.Run(generation, func(t *testing.T) {
			result, dir := withAgent(t, python(t, generation), Config{StepOn: []string{"work"}}, nil, "keeps.py")
			if result.status != 0 {
				t.Fatalf("%+v", result)
			}
			rows := only(t, dir, "main").of("held")
			if len(rows) < 4 {
				t.Fatalf("%d looks in 2 s", len(rows))
			}
			first, last := rows[0], rows[len(rows)-1]
			if more := last[3].(float64) - first[3].(float64); more < 1000*float64(len(rows)-1) {
				t.Errorf("%v blocks more of Python's after %d looks", more, len(rows))
			}
			if runtime.GOOS != "linux" || last[2] == nil {
				return // glibc before 2.33 and other C libraries cannot say it
			}
			if more := last[2].(float64) - first[2].(float64); more < 100e3*20*float64(len(rows)-1) || more > 100e3*200 {
				t.Errorf("%v bytes more of the C library's after %d looks", more, len(rows))
			}
		})
	}
}
