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
			if free, told := last[4].(float64); !told || free <= 0 {
				t.Errorf("%v bytes of the C library's are free", last[4])
			}
		})
	}
}

// TestPages has a program whose C library gives 16 MB back and takes them anew in each step: the first hundred steps say what the kernel
// gave, and their memory does not grow by it.
func TestPages(t *testing.T) {
	for _, generation := range generations() {
		t.Run(generation, func(t *testing.T) {
			result, dir := withAgent(t, python(t, generation), Config{StepOn: []string{"work"}}, nil, "givesback.py")
			if result.status != 0 {
				t.Fatalf("%+v", result)
			}
			rows := only(t, dir, "main").of("pages")
			if runtime.GOOS != "linux" {
				if len(rows) > 0 {
					t.Errorf("%d rows where the kernel cannot be asked", len(rows))
				}
				return
			}
			if len(rows) != 100 {
				t.Fatalf("%d rows of 120 steps", len(rows))
			}
			for column, bounds := range map[int][2]float64{2: {3900 * 50, 4400 * 50}, 3: {-500, 500}} {
				if more := rows[99][column].(float64) - rows[49][column].(float64); more < bounds[0] || more > bounds[1] {
					t.Errorf("column %d is %v more after 50 steps, want %v", column, more, bounds)
				}
			}
		})
	}
}
