package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"strings"
	"testing"
)

// The step waits for a thread by join; of the other threads one computes in turn in two functions, and one sleeps in a lock all
// the while, which is no work.
func TestAThreadThatSleepsInALockIsNotWaitedFor(t *testing.T) {
	p := testkit.NewProgram()
	lines := make([]string, 40)
	lines[11], lines[21], lines[31] = "    with lock:", "    total += i * i", "    total += i"
	p.S.Sources = map[string]*model.Source{"/home/u/lib.py": {Lines: lines}}
	sm := &p.P.Samples
	stackOf := func(frames ...testkit.Frame) model.StackID {
		p.Do(testkit.Python(1, frames...))
		return sm.Stack[sm.Len()-1]
	}
	waits, heavy, light := stackOf(user("lock_wait", 10, 12)), stackOf(user("heavy", 20, 22)), stackOf(user("light", 30, 32))
	p.Steps(20, model.PhaseBaseline, forward, testkit.Blocked(60, loop(44),
		testkit.Frame{File: "/usr/lib/python3.13/threading.py", Function: "join", First: 1000, Line: 1010}))
	only := *sm
	sm.Time, sm.Thread, sm.Stack, sm.State, sm.Flags = nil, nil, nil, nil, nil
	for i := range only.Time {
		turn := heavy
		if i%5 < 2 {
			turn = light
		}
		for thread, stack := range map[int32]model.StackID{only.Thread[i]: only.Stack[i], 201: waits, 202: turn} {
			state := model.StateBlocked
			if thread == 202 {
				state = model.StateCPU
			} else if thread != 201 {
				state = only.State[i]
			}
			sm.Time, sm.Thread, sm.Stack = append(sm.Time, only.Time[i]), append(sm.Thread, thread), append(sm.Stack, stack)
			sm.State, sm.Flags = append(sm.State, state), append(sm.Flags, only.Flags[i])
		}
	}
	found, _ := find(t, p)
	for i := range found.Findings {
		f := &found.Findings[i]
		if f.Cause != finding.Input || f.Sub != "queue" {
			continue
		}
		if f.Where.Line != 22 || textOf(f.Evidence, "input.side-works") == "" {
			t.Errorf("waits for line %d: %+v, want the thread that computes at line 22", f.Where.Line, f.Evidence)
		}
		return
	}
	t.Errorf("no finding says that the step waits: %+v", found.Findings)
}

// The step waits by join for a client that only reads a socket, while short-lived threads, one for each request as a server has
// them, compute the answers: they are what is waited for, though none lives long enough to be seen more than once.
func TestThreadsOfAMomentAreWaitedForTogether(t *testing.T) {
	p := testkit.NewProgram()
	sm := &p.P.Samples
	stackOf := func(frames ...testkit.Frame) model.StackID {
		p.Do(testkit.Python(1, frames...))
		return sm.Stack[sm.Len()-1]
	}
	reads := stackOf(user("ask", 10, 12), testkit.Frame{File: "/usr/lib/python3.13/socket.py", Function: "readinto", First: 700, Line: 719})
	handles := stackOf(user("handle", 20, 22))
	p.Steps(20, model.PhaseBaseline, forward, testkit.Blocked(60, loop(44),
		testkit.Frame{File: "/usr/lib/python3.13/threading.py", Function: "join", First: 1000, Line: 1010}))
	only := *sm
	sm.Time, sm.Thread, sm.Stack, sm.State, sm.Flags = nil, nil, nil, nil, nil
	add := func(i int, thread int32, stack model.StackID, state model.ThreadState) {
		sm.Time, sm.Thread, sm.Stack = append(sm.Time, only.Time[i]), append(sm.Thread, thread), append(sm.Stack, stack)
		sm.State, sm.Flags = append(sm.State, state), append(sm.Flags, only.Flags[i])
	}
	for i := range only.Time {
		add(i, only.Thread[i], only.Stack[i], only.State[i])
		add(i, 201, reads, model.StateBlocked)
		thread := int32(1000 + i)
		if i < 6 {
			thread = 1000 // an identifier that the system gave out again
		}
		add(i, thread, handles, model.StateCPU)
	}
	found, _ := find(t, p)
	for i := range found.Findings {
		f := &found.Findings[i]
		if f.Cause == finding.Input && f.Sub == "queue" {
			if f.Where.Line != 22 || f.Where.Process != "other threads of the same process" {
				t.Errorf("waits for %s, line %d: %+v, want the threads that compute at line 22", f.Where.Process, f.Where.Line, f.Evidence)
			}
			return
		}
	}
	t.Errorf("no finding says that the step waits: %+v", found.Findings)
}

// The server's loop waits for requests while a thread of it hangs in one: it is not said that nothing is asked of the program.
func TestARequestThatHangsIsNoLackOfDemand(t *testing.T) {
	p := testkit.NewProgram()
	sm := &p.P.Samples
	p.Do(testkit.Blocked(1, user("answer", 20, 26)))
	hangs := sm.Stack[0]
	p.Do(testkit.Blocked(300, loop(57), testkit.Frame{File: "/usr/lib/python3.13/asyncio/base_events.py",
		Function: "BaseEventLoop._run_once", First: 1900, Line: 1990},
		testkit.Frame{File: "/usr/lib/python3.13/selectors.py", Function: "EpollSelector.select", First: 450, Line: 460}))
	only := *sm
	sm.Time, sm.Thread, sm.Stack, sm.State, sm.Flags = nil, nil, nil, nil, nil
	for i := range only.Time {
		for _, thread := range []int32{only.Thread[i], 201} {
			stack := only.Stack[i]
			if thread == 201 {
				stack = hangs
			}
			sm.Time, sm.Thread, sm.Stack = append(sm.Time, only.Time[i]), append(sm.Thread, thread), append(sm.Stack, stack)
			sm.State, sm.Flags = append(sm.State, model.StateBlocked), append(sm.Flags, only.Flags[i])
		}
	}
	found, _ := find(t, p)
	if len(found.Findings) == 0 {
		t.Fatal("nothing is found")
	}
	f := &found.Findings[0]
	if f.Where.Line != 26 || f.Title.ID != "nodemand.title-asleep" ||
		!strings.Contains(f.Title.String(), "another thread of the same process sleeps") {
		t.Errorf("%q at line %d, want the thread that hangs at line 26", f.Title, f.Where.Line)
	}
}

// A program waits for its pool, whose processes compute on all cores: that code is named and not what cleans up after multiprocessing,
// which sleeps at one line all the while; and what the code cannot save is not promised. Cores that are free could run more of it.
func TestAPoolThatWorksOnAllCores(t *testing.T) {
	for cores, low := range map[int]float64{2: 0.1, 8: 0.5} {
		p := testkit.NewProgram()
		p.S.Environment.CPUs = cores
		p.Do(testkit.Blocked(2000, loop(44),
			testkit.Frame{File: "/usr/lib/python3.13/multiprocessing/pool.py", Function: "next", First: 850, Line: 861}))
		tracker := p.Add(model.RoleOther, 200)
		tracker.P.Command = []string{"python", "-c", "from multiprocessing.resource_tracker import main;main(6)"}
		tracker.Do(testkit.Blocked(2000, testkit.Frame{File: "<string>", Function: "<module>", First: 1, Line: 1}))
		for i := range 2 {
			worker := p.Add(model.RoleOther, 201+i)
			worker.P.Command = []string{"python", "-c", "from multiprocessing.spawn import spawn_main; spawn_main(pipe_handle=14)"}
			worker.Do(testkit.Native(1900, user("convolve", 10, 18)), testkit.Native(100, user("stack", 30, 32)))
		}
		res, _ := find(t, p)
		f := res.Findings[0]
		if f.Sub != "queue" || f.Where.Line != 18 || f.Where.Function != "convolve" {
			t.Errorf("%d cores: %s/%s at %+v first, want the wait for convolve", cores, f.Cause, f.Sub, f.Where)
		} else if got := f.Run.Low / 2e9; got < 0.45*low || got > 1.05*low {
			t.Errorf("%d cores: at least %.2f of the wait, want %.2f", cores, got, low)
		}
	}
}
