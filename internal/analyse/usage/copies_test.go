package usage

import (
	"testing"

	"bottleneck/internal/model"
)

// Pages that workers shared and came to own are copies; what they took themselves is not.
func TestCopiesOf(t *testing.T) {
	index := 0
	worker := func(ppid int, private, anonymous [2]int64) *model.Process {
		index++
		w := &model.Process{Role: model.RoleWorker, PPID: ppid, WorkerIndex: index % 3}
		for i := range private {
			at := model.Time(int64(1+9*i) * second)
			w.Owned = append(w.Owned, model.Owned{At: at, Private: private[i] << 20})
			w.Usage = append(w.Usage, model.Usage{At: at, Anonymous: anonymous[i] << 20})
		}
		return w
	}
	parent := &model.Process{PID: 7, Role: model.RoleMain}
	for name, c := range map[string]struct {
		workers []*model.Process
		want    Copies
		ok      bool
	}{
		"two workers that copy": {[]*model.Process{worker(7, [2]int64{20, 220}, [2]int64{600, 610}), worker(7, [2]int64{20, 120},
			[2]int64{600, 600})}, Copies{Bytes: 290 << 20, Workers: 2, Span: model.Dur(9 * second)}, true},
		"workers of two epochs": {[]*model.Process{worker(7, [2]int64{20, 220}, [2]int64{600, 600}), worker(7, [2]int64{20, 120},
			[2]int64{600, 600}), worker(7, [2]int64{20, 120}, [2]int64{600, 600}), worker(7, [2]int64{20, 230}, [2]int64{600, 600})},
			Copies{Bytes: 410 << 20, Workers: 3, Span: model.Dur(9 * second)}, true},
		"work of their own":       {[]*model.Process{worker(7, [2]int64{20, 220}, [2]int64{600, 800})}, Copies{}, false},
		"little":                  {[]*model.Process{worker(7, [2]int64{20, 60}, [2]int64{600, 600})}, Copies{40 << 20, 1, model.Dur(9 * second)}, false},
		"workers of another rank": {[]*model.Process{worker(8, [2]int64{20, 220}, [2]int64{600, 600})}, Copies{}, false},
		"nothing":                 {nil, Copies{}, false},
	} {
		got, ok := CopiesOf(&model.Session{Processes: append(c.workers, parent)}, parent)
		if got != c.want || ok != c.ok {
			t.Errorf("%s: %+v %v, want %+v %v", name, got, ok, c.want, c.ok)
		}
	}
}
