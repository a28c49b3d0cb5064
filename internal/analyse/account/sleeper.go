package account

import "bottleneck/internal/model"

// Limits from which another thread is accounted than the main one.
const (
	sleeperLeast = 0.9 // of the main thread's samples that sleep for a set time
	workerLeast  = 0.5 // of the other thread's samples that run, or would if they had the interpreter's lock
	sleeperSeen  = 20  // samples of either
)

// threadSeen counts a thread's samples.
type threadSeen struct{ all, timed, works int }

// worksForSleeper finds the thread that does a process's work where its main thread only sleeps for set times, as one does that looks now
// and then whether the others are done. Of several the one that runs most; ok is false where there is none.
func worksForSleeper(p *model.Process, main int) (thread int, ok bool) {
	sm := &p.Samples
	seen := map[int]*threadSeen{}
	for i := range min(sm.Len(), len(sm.Thread), len(sm.State), len(sm.Flags)) {
		t := seen[int(sm.Thread[i])]
		if t == nil {
			t = &threadSeen{}
			seen[int(sm.Thread[i])] = t
		}
		t.all++
		if sm.Flags[i]&model.SampleTimedSleep != 0 {
			t.timed++
		} else if sm.State[i] == model.StateCPU || sm.State[i] == model.StateGILWait {
			t.works++
		}
	}
	m := seen[main]
	if m == nil || m.all < sleeperSeen || float64(m.timed) < sleeperLeast*float64(m.all) {
		return 0, false
	}
	most := 0
	for id, t := range seen {
		if id == main || t.all < sleeperSeen || float64(t.works) < workerLeast*float64(t.all) {
			continue
		}
		if t.works > most || t.works == most && id < thread {
			thread, most, ok = id, t.works, true
		}
	}
	return thread, ok
}
