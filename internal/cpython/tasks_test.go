package cpython_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"bottleneck/internal/cpython"
)

// TestTasks reads what each task of a program awaits, down to the innermost coroutine.
func TestTasks(t *testing.T) {
	file := "testdata/tasks.py"
	m := marks(t, file)
	for version, python := range interpreters(t) {
		t.Run(version, func(t *testing.T) {
			cmd := start(t, python, file)
			r := readerOf(t, cmd)
			var s cpython.Snapshot
			want := []string{
				fmt.Sprintf("the sleeper: sleeper:%d middle:%d innermost:%d sleep", m["MIDDLE"], m["INNERMOST"], m["SLEEP"]),
				fmt.Sprintf(": waiter:%d awaits task the sleeper", m["TASK"]),
				fmt.Sprintf(": consume:%d produce:%d sleep", m["CONSUME"], m["PRODUCE"]),
				fmt.Sprintf(": main:%d awaits task Task-", m["MAIN"]),
			}
			for deadline := time.Now().Add(time.Minute); ; {
				if err := r.Take(&s); err != nil {
					t.Fatal(err)
				}
				tasks, err := r.Tasks()
				if err != nil {
					t.Fatal(err)
				}
				var got []string
				for _, task := range tasks {
					got = append(got, taskText(task))
				}
				missing := ""
				for _, w := range want {
					if !strings.Contains(strings.Join(got, "\n"), w) {
						missing += "\n" + w
					}
				}
				if missing == "" && len(got) == len(want) {
					break
				}
				if time.Now().After(deadline) {
					t.Fatalf("%d tasks\n%s\nmissing:%s", len(got), strings.Join(got, "\n"), missing)
				}
			}
			// What the main task awaits, through the tasks that it awaits; the second look finds the task where the first one found it.
			awaits := fmt.Sprintf(": main:%d waiter:%d sleeper:%d middle:%d innermost:%d sleep awaits ", m["MAIN"], m["TASK"], m["MIDDLE"],
				m["INNERMOST"], m["SLEEP"])
			for range 2 {
				frames, ok := r.Awaited(len(want))
				if got := taskText(cpython.Task{Frames: frames}); !ok || got != awaits {
					t.Errorf("the main task awaits %q (%v), want %q", got, ok, awaits)
				}
			}
			if _, ok := readerOf(t, cmd).Awaited(len(want) - 1); ok {
				t.Error("more tasks than may be looked at were looked at")
			}
		})
	}
}

func taskText(task cpython.Task) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s:", task.Name)
	for i := len(task.Frames) - 1; i >= 0; i-- {
		f := task.Frames[i]
		if f.Code.Function == "sleep" {
			fmt.Fprint(&b, " sleep")
			continue
		}
		fmt.Fprintf(&b, " %s:%d", f.Code.Function, f.Line())
	}
	return b.String() + " awaits " + task.Waits
}
