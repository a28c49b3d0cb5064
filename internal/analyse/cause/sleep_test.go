package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
)

// besideThread lays the samples of another thread of the process over all that were taken so far.
func besideThread(p *testkit.Program, thread int32, state model.ThreadState, flags uint8, stack model.StackID) {
	sm := &p.P.Samples
	only := *sm
	sm.Time, sm.Thread, sm.Stack, sm.State, sm.Flags = nil, nil, nil, nil, nil
	for i := range only.Time {
		for _, of := range []int32{only.Thread[i], thread} {
			sm.Time, sm.Thread = append(sm.Time, only.Time[i]), append(sm.Thread, of)
			if of == thread {
				sm.Stack, sm.State, sm.Flags = append(sm.Stack, stack), append(sm.State, state), append(sm.Flags, flags)
			} else {
				sm.Stack, sm.State, sm.Flags = append(sm.Stack, only.Stack[i]), append(sm.State, only.State[i]),
					append(sm.Flags, only.Flags[i])
			}
		}
	}
}

// asleep is an act that the kernel calls a sleep for a set time, in a line that does not say so.
func asleep(ms int) testkit.Act {
	a := testkit.Blocked(ms, module, loop(44))
	a.Flags = model.SampleInNative | model.SampleTimedSleep
	return a
}

// A step sleeps for a set time while another thread works: that thread is told, and not said to be waited for. Where nobody works the sleep
// is what the step loses.
func TestASleepIsNoWaitForSomebody(t *testing.T) {
	for _, works := range []bool{true, false} {
		p := testkit.NewProgram()
		p.Do(testkit.Python(1, user("heavy", 20, 22)))
		heavy := p.P.Samples.Stack[0]
		p.Steps(20, model.PhaseBaseline, forward, asleep(60))
		state := model.StateBlocked
		if works {
			state = model.StateCPU
		}
		besideThread(p, 201, state, 0, heavy)
		res, b := find(t, p)
		if got := b.Part(account.PartBlocked) / b.Total; got < 0.48 || got > 0.52 {
			t.Errorf("%.2f of the step waits in a call, want half", got)
		}
		if len(res.Findings) == 0 || res.Findings[0].Cause != finding.Input || res.Findings[0].Sub != "sleep" ||
			res.Findings[0].Where.Line != 44 {
			if !works {
				t.Fatalf("found %+v, want the sleep at line 44", res.Findings)
			}
		}
		for i := range res.Findings {
			if f := &res.Findings[i]; f.Where.Line == 22 {
				t.Errorf("%q is said of the thread that works", f.Title)
			}
		}
		if works && len(res.Findings) > 0 && res.Findings[0].Run.Mid > 0 {
			t.Errorf("%q promises %.0f ms of a sleep in which another thread works", res.Findings[0].Title, res.Findings[0].Run.Mid/1e6)
		}
	}
}

// A run without steps whose main thread only sleeps is accounted by the thread that works.
func TestAMainThreadThatSleepsIsNotAccounted(t *testing.T) {
	p := testkit.NewProgram()
	p.Do(testkit.Python(1, user("heavy", 20, 22)))
	heavy := p.P.Samples.Stack[0]
	p.Do(asleep(500))
	besideThread(p, 201, model.StateCPU, model.SampleHoldsGIL, heavy)
	res, b := find(t, p)
	if b.Thread != 201 || len(b.Notes) == 0 {
		t.Errorf("thread %d is accounted (%q), want the one that works, 201", b.Thread, b.Notes)
	}
	want(t, res, finding.Python, "", 22, 0)
}

// A step waits in a lock that only threads of its process can let go of: the one that works for most of the wait is waited for, though
// another process works all the while.
func TestALockOfTheProcessIsNotHeldByAnother(t *testing.T) {
	p := testkit.NewProgram()
	p.Do(testkit.Python(1, user("heavy", 20, 22)))
	heavy := p.P.Samples.Stack[0]
	waits := testkit.Blocked(60, module, loop(44), testkit.Frame{File: "/usr/lib/python3.13/threading.py", Function: "join",
		First: 1000, Line: 1010})
	waits.Flags = model.SampleInNative | model.SampleOwnLock
	p.Steps(20, model.PhaseBaseline, forward, waits)
	besideThread(p, 201, model.StateCPU, 0, heavy)
	sm := &p.P.Samples
	only := *sm
	*sm = model.Samples{Stacks: only.Stacks, Threads: only.Threads}
	for i := range only.Time {
		if only.Thread[i] == 201 && i%10 < 4 {
			continue // the thread lives for a part of the wait
		}
		sm.Time, sm.Thread, sm.Stack = append(sm.Time, only.Time[i]), append(sm.Thread, only.Thread[i]), append(sm.Stack, only.Stack[i])
		sm.State, sm.Flags = append(sm.State, only.State[i]), append(sm.Flags, only.Flags[i])
	}
	p.Add(model.RoleOther, 300).Do(testkit.Python(20*120, user("elsewhere", 30, 32)))
	res, _ := find(t, p)
	want(t, res, finding.Input, "queue", 22, 0)
}

// An event loop that waits is a server's without demand where the process listens, or where that is not known; where nobody can ask
// something of it, or its steps train, it waits for an answer, and that is no healthy rest.
func TestALoopThatNobodyCanAskWaitsForAnAnswer(t *testing.T) {
	for _, c := range []struct {
		listens model.Listening
		kind    string
		cause   string
	}{
		{model.ListensYes, "inference", finding.NoDemand},
		{model.ListeningUnknown, "inference", finding.NoDemand},
		{model.ListensNo, "inference", finding.Input},
		{model.ListensYes, "train", finding.Input},
	} {
		p := testkit.NewProgram()
		p.P.Listens = c.listens
		p.Steps(20, model.PhaseBaseline, forward, testkit.Blocked(60, loop(57),
			testkit.Frame{File: "/usr/lib/python3.13/asyncio/base_events.py", Function: "BaseEventLoop._run_once", First: 1900, Line: 1990},
			testkit.Frame{File: "/usr/lib/python3.13/selectors.py", Function: "EpollSelector.select", First: 450, Line: 460}))
		for i := range p.P.Steps {
			p.P.Steps[i].Kind = p.S.Strings.Intern(c.kind)
		}
		res, _ := find(t, p)
		if len(res.Findings) == 0 || res.Findings[0].Cause != c.cause || res.Findings[0].Healthy != (c.cause == finding.NoDemand) {
			t.Errorf("%+v: found %+v", c, res.Findings)
		}
	}
}

// What a coroutine awaits is the place, and holds up nothing: the loop itself waits inside of it. A call that sleeps in a coroutine does.
func TestWhatIsAwaitedIsThePlace(t *testing.T) {
	frame := func(file, function string) testkit.Frame {
		return testkit.Frame{File: "/usr/lib/python3.13/" + file, Function: function, First: 1, Line: 2}
	}
	loopRuns, turn := frame("asyncio/base_events.py", "BaseEventLoop.run_forever"), frame("asyncio/base_events.py", "BaseEventLoop._run_once")
	fetches := user("fetch", 20, 23)
	for id, stack := range map[string][]testkit.Frame{
		"input.fix-wait-less": {module, loopRuns, fetches, frame("asyncio/streams.py", "StreamReader.readline"), turn,
			frame("selectors.py", "EpollSelector.select")},
		"event-loop.fix": {module, loopRuns, turn, frame("asyncio/events.py", "Handle._run"), fetches, frame("queue.py", "Queue.get")},
	} {
		p := testkit.NewProgram()
		p.P.Listens = model.ListensNo
		p.Steps(20, model.PhaseBaseline, forward, testkit.Blocked(60, stack...))
		res, _ := find(t, p)
		f := want(t, res, finding.Input, "queue", 23, 0)
		if textOf(f.Fix.Advice, id) == "" {
			t.Errorf("want %s, got %s", id, wording.Sentences(f.Fix.Advice))
		}
	}
}

// A pool that each step builds anew is built once; a wait that has a time limit may end by it.
func TestAPoolThatEachStepBuilds(t *testing.T) {
	for source, id := range map[string]string{"with mp.Pool(2) as pool:": "input.fix-pool", "answer = box.take()": "input.fix-wait-less",
		"batch.append(box.get(timeout=left))": "input.fix-time-limit"} {
		p := testkit.NewProgram()
		p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: make([]string, 60)}
		p.S.Sources["/home/u/train.py"].Lines[56] = source
		p.Steps(20, model.PhaseBaseline, forward, testkit.Blocked(60, module, loop(57),
			testkit.Frame{File: "/usr/lib/python3.13/multiprocessing/popen_fork.py", Function: "Popen.wait", First: 1, Line: 2}))
		res, _ := find(t, p)
		if f := want(t, res, finding.Input, "queue", 57, 0); textOf(f.Fix.Advice, id) == "" {
			t.Errorf("%s: %s", source, wording.Sentences(f.Fix.Advice))
		}
	}
}
