package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/wording"
	"math"
	"strings"
	"testing"
)

var waitsInReduce = testkit.Blocked(60, module, loop(41), torchFrame("distributed/distributed_c10d.py", "all_reduce"))

// reducing is a job of two ranks of which each waits 60 of 100 ms in collectives in steps that are not traced. In three traced steps each
// calls them calls times; rank 1 begins them late by late ms of the 30 that they take on rank 0, and in every second step rank 0 does on
// rank 1.
func reducing(calls, late int, shape string) *testkit.Program {
	return reducingInTurns(calls, late, 0, 60, shape)
}

// reducingInTurns is that job with ranks that work longer by turns ms in turns, also in steps that are not traced: all of them are in the
// collectives for sent ms.
func reducingInTurns(calls, late, turns, sent int, shape string) *testkit.Program {
	p := testkit.NewProgram()
	programs := []*testkit.Program{p, p.Add(model.RoleRank, 200)}
	const ms = 1_000_000
	for rank, q := range programs {
		q.P.Rank, q.P.WorldSize, q.P.Role = rank, 2, model.RoleRank
		for step := range 30 {
			more, wait := 0, waitsInReduce
			wait.Ms = sent
			if step%2 == rank {
				more = turns
			} else {
				wait.Ms += turns
			}
			q.Steps(1, model.PhaseBaseline, testkit.Native(40+more, module, loop(40)), wait)
		}
		q.P.Windows = make([]model.Window, rank+1) // ranks number their windows apart
		q.P.Windows[rank].FirstStep = 30
		t := &model.Trace{Process: rank, Window: rank, Rank: rank, World: 2, From: q.T}
		ev := &t.Events
		ev.OpArgs = []model.OpArgs{{Shapes: p.S.Strings.Intern(shape), Types: p.S.Strings.Intern(`["float"]`)}}
		for step := range 3 {
			at := q.T
			q.Steps(1, model.PhaseTrace, testkit.Native(40, module, loop(40)), waitsInReduce)
			for k := range calls {
				from := at + model.Time(40*ms+k*60*ms/calls)
				to := from + model.Time(30*ms/calls)
				if (step+k)%2 == rank {
					from += model.Time(late * ms / calls)
				}
				p.Event(ev, from, to.Sub(from), "gloo:all_reduce", model.KindAnnotation, model.NoEvent, int32(len(ev.OpDetails)))
				ev.OpDetails = append(ev.OpDetails, model.OpDetail{Sequence: -1})
			}
		}
		t.To = q.T
		t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(q.P.PID + 1), FirstEvent: 0, EndEvent: model.EventID(ev.Len())}}
		p.S.Traces = append(p.S.Traces, t)
	}
	return p
}

// Large messages that all ranks send together are the network's: fewer of them save their time.
func TestLargeMessagesAreSentSeldom(t *testing.T) {
	res, _ := find(t, reducing(2, 0, "[[4000, 1000]]"))
	f := want(t, res, finding.Comm, "", 41, 0)
	if f.Fix.Advice[0].ID != "comm.fix-seldom" {
		t.Errorf("two messages of 16 MB a step are to be sent together: %s", wording.Sentences(f.Fix.Advice))
	}
	if got := f.Step.Mid / 1e6; math.Abs(got-60*3.0/4) > 0.1 || !strings.Contains(wording.Sentences(f.Caveat), "every 4th step") {
		t.Errorf("saves %.1f ms a step, and says %q, want three quarters of 60 for sending in every fourth step", got,
			wording.Sentences(f.Caveat))
	}
}

// How long ranks wait for each other is told by the samples of all of them, taken together in steps that are not traced: ranks do not begin
// to trace at the same time, and the first collectives of traced steps wait for that.
func TestRanksMeetInStepsThatAreNotTraced(t *testing.T) {
	evens := 1 - 1/math.Sqrt(4) // of the wait for late ranks that ends where they meet in every fourth step
	for _, c := range []struct {
		traced, turns, sent, cores int
		stepMs                     float64
	}{
		{29, 0, 60, 8, 60 * 3.0 / 4},
		{0, 40, 60, 8, 60*3.0/4 + 20*evens}, // with its work shared out evenly a step has 20 ms less
		{0, 40, 60, 2, 60*3.0/4 + 20*evens},
		{0, 60, 10, 8, 10*3.0/4 + 30*evens}, // little is sent
		{0, 40, 60, 1, 60 * 3.0 / 4},        // a rank that computes alone has the core that both would share
	} {
		p := reducingInTurns(2, c.traced, c.turns, c.sent, "[[4000, 1000]]")
		p.S.Environment.CPUs = c.cores
		p.S.Environment.Threads["torch.get_num_threads"] = "1"
		res, _ := find(t, p)
		f := want(t, res, finding.Comm, "", 41, 0)
		if math.Abs(f.Step.Mid/1e6-c.stepMs) > 0.5 {
			t.Errorf("%+v: saves %.1f ms a step: %+v", c, f.Step.Mid/1e6, f.Evidence)
		}
		if late := c.stepMs > float64(c.sent)*3/4; (f.Title.ID == "comm.title-late") != late {
			t.Errorf("%+v: title %q, want that it names late ranks: %v, for their waits are in the price", c, f.Title, late)
		}
	}
}

// What the function that exchanges does beside its collectives goes with them; a function that computes the step as well is no such.
func TestWorkOnWhatIsSentGoesWithSending(t *testing.T) {
	exchange := user("exchange", 60, 63)
	reduce := testkit.Blocked(60, module, loop(41), exchange, torchFrame("distributed/distributed_c10d.py", "all_reduce"))
	for _, c := range []struct {
		beside, within int // ms of 40 in which a rank does not wait: in the function, and in the calls themselves
		stepMs         float64
	}{{4, 0, 64 * 3.0 / 4}, {20, 0, 60 * 3.0 / 4}, {20, 3, 63 * 3.0 / 4}} {
		p := testkit.NewProgram()
		for rank, q := range []*testkit.Program{p, p.Add(model.RoleRank, 200)} {
			q.P.Rank, q.P.WorldSize, q.P.Role = rank, 2, model.RoleRank
			calls := testkit.Native(c.within, reduce.Stack...)
			q.Steps(30, model.PhaseBaseline, testkit.Native(40-c.beside-c.within, module, loop(40)), calls, reduce,
				testkit.Native(c.beside, module, loop(41), user("exchange", 60, 64)))
		}
		res, _ := find(t, p)
		if f := want(t, res, finding.Comm, "", 63, 0); math.Abs(f.Step.Mid/1e6-c.stepMs) > 0.5 || f.Step.High < f.Step.Mid {
			t.Errorf("%d ms beside the calls and %d within: saves %+v ns a step, want %.1f ms", c.beside, c.within, f.Step, c.stepMs)
		}
	}
}

// What is sent beside computing delays nothing where there are cores for both; where the ranks' threads have all of them, it may.
func TestSendingBesideComputingMayTakeItsCores(t *testing.T) {
	high := map[int]float64{}
	for _, cores := range []int{2, 8} {
		p := reducing(2, 0, "[[4000, 1000]]")
		p.S.Environment.CPUs = cores
		p.S.Environment.Threads["torch.get_num_threads"] = "1"
		for _, tr := range p.S.Traces {
			ev := &tr.Events
			first := model.EventID(ev.Len())
			for i := 0; i < int(first); i += 2 { // the first of a step's two calls, of 15 ms
				ev.Start, ev.Dur = append(ev.Start, ev.Start[i]-10_000_000), append(ev.Dur, 16_000_000)
				ev.Name, ev.Kind = append(ev.Name, p.S.Strings.Intern("aten::mm")), append(ev.Kind, model.KindOp)
				ev.Lane, ev.Parent = append(ev.Lane, 1), append(ev.Parent, model.NoEvent)
				ev.Link, ev.Op, ev.Detail = append(ev.Link, model.NoEvent), append(ev.Op, model.NoEvent), append(ev.Detail, -1)
			}
			tr.Lanes = append(tr.Lanes, model.Lane{Kind: model.LaneThread, Thread: 7, FirstEvent: first, EndEvent: model.EventID(ev.Len())})
		}
		res, _ := find(t, p)
		high[cores] = want(t, res, finding.Comm, "", 41, 45).Step.High / 1e6
	}
	// What few samples add to the interval widens both alike.
	if more := high[2] / high[8]; math.Abs(more-(0.97*60+6)/(0.97*60)) > 0.01 {
		t.Errorf("saves up to %.1f ms a step on two cores and %.1f on eight, want 6 of 58 ms between them", high[2], high[8])
	}
}

// Samples that several hosts take do not stand for the same moments: there the traced collectives tell who waits for whom.
func TestRanksOfSeveralHostsMeetInTheirTraces(t *testing.T) {
	p := reducing(2, 15, "[[4000, 1000]]")
	p.S.Processes[1].Host = "other"
	res, _ := find(t, p)
	sent := 60 * 2.0 / 3 // one rank waits for half of its call, the other for nothing
	if f := want(t, res, finding.Comm, "", 41, 0); math.Abs(f.Step.Mid/1e6-(sent*3/4+(60-sent)*(1-1/math.Sqrt(4)))) > 0.5 {
		t.Errorf("saves %.1f ms a step: %+v", f.Step.Mid/1e6, f.Evidence)
	}
}

// Many messages of a few kilobytes cost a call each: sent together they are one.
func TestManySmallMessagesAreSentTogether(t *testing.T) {
	for _, c := range []struct {
		turns, sent int
		stepMs      float64
	}{{0, 60, 52}, {60, 10, 23.2}} { // each call is a chance to be late, of which one has some as well
		res, _ := find(t, reducingInTurns(30, 0, c.turns, c.sent, "[[32, 32]]"))
		f := want(t, res, finding.Comm, "", 41, c.stepMs)
		if f.Fix.Advice[0].ID != "comm.fix-together" ||
			f.Evidence[len(f.Evidence)-1].String() != "30 collectives per step of 4.00 KiB on average" {
			t.Errorf("fix %q, evidence %+v, want that 30 small messages are sent together", wording.Sentences(f.Fix.Advice), f.Evidence)
		}
	}
	res, _ := find(t, reducing(4, 0, "[[32, 32]]"))
	if f := want(t, res, finding.Comm, "", 41, 45); f.Fix.Advice[0].ID != "comm.fix-seldom" {
		t.Errorf("four messages are many: %s", wording.Sentences(f.Fix.Advice))
	}
}
