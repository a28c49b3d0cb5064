package cause_test

import (
	"math"
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

var waitsInReduce = testkit.Blocked(60, module, loop(41), torchFrame("distributed/distributed_c10d.py", "all_reduce"))

// reducing is a job of two ranks of which each waits 60 of 100 ms in collectives. In three traced steps each calls them calls times;
// rank 1 begins them late by late ms of the 30 that they take on rank 0, and in every second step rank 0 does on rank 1.
func reducing(calls, late int, shape string) *testkit.Program {
	p := testkit.NewProgram()
	programs := []*testkit.Program{p, p.Add(model.RoleRank, 200)}
	const ms = 1_000_000
	for rank, q := range programs {
		q.P.Rank, q.P.WorldSize, q.P.Role = rank, 2, model.RoleRank
		q.Steps(30, model.PhaseBaseline, testkit.Native(40, module, loop(40)), waitsInReduce)
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
				ev.Start, ev.Dur = append(ev.Start, from), append(ev.Dur, to.Sub(from))
				ev.Name, ev.Kind = append(ev.Name, p.S.Strings.Intern("gloo:all_reduce")), append(ev.Kind, model.KindAnnotation)
				ev.Lane, ev.Parent = append(ev.Lane, 0), append(ev.Parent, model.NoEvent)
				ev.Link, ev.Op, ev.Detail = append(ev.Link, model.NoEvent), append(ev.Op, model.NoEvent), append(ev.Detail, int32(len(ev.OpDetails)))
				ev.OpDetails = append(ev.OpDetails, model.OpDetail{Sequence: -1})
			}
		}
		t.To = q.T
		t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(q.P.PID + 1), FirstEvent: 0, EndEvent: model.EventID(ev.Len())}}
		p.S.Traces = append(p.S.Traces, t)
	}
	return p
}

// Large messages that all ranks send together are the network's; where the ranks are late in turns, each of them waits as long
// although little is sent.
func TestRanksThatAreLateInTurnsDoNotSend(t *testing.T) {
	res, _ := find(t, reducing(2, 0, "[[4000, 1000]]"))
	f := want(t, res, cause.Comm, "", 41, 0)
	if strings.Contains(f.Fix.Text, "together") {
		t.Errorf("two messages of 16 MB a step are to be sent together: %s", f.Fix.Text)
	}
	if got := f.Step.Mid / 1e6; math.Abs(got-60*7.0/8) > 0.1 || !strings.Contains(f.Fix.Text, "every eighth step") {
		t.Errorf("saves %.1f ms a step by %q, want seven eighths of 60 for sending in every eighth step", got, f.Fix.Text)
	}
	res, _ = find(t, reducing(2, 29, "[[4000, 1000]]"))
	for _, f := range res.Findings {
		// Hardly anything is sent; of the wait for late ranks all but 1/√8 ends where the ranks meet in every eighth step.
		if late := 60 * (1 - 1/math.Sqrt(8)); f.Cause == cause.Comm && (f.Share > 0.3 || math.Abs(f.Step.Mid/1e6-late) > 0.03*late) {
			t.Errorf("waiting for each other counts as communication: %.0f %%, %.1f ms a step", 100*f.Share, f.Step.Mid/1e6)
		}
	}
}

// Many messages of a few kilobytes cost a call each: sent together they are one.
func TestManySmallMessagesAreSentTogether(t *testing.T) {
	for _, c := range []struct {
		late   int
		stepMs float64
	}{{0, 52}, {29, 30.5}} { // each call is a chance to be late, of which one has some as well
		res, _ := find(t, reducing(30, c.late, "[[32, 32]]"))
		f := want(t, res, cause.Comm, "", 41, c.stepMs)
		if !strings.Contains(f.Fix.Text, "together") || !strings.Contains(f.Evidence[len(f.Evidence)-1].Text, "30 collectives per step of 4.1 kB") {
			t.Errorf("fix %q, evidence %+v, want that 30 small messages are sent together", f.Fix.Text, f.Evidence)
		}
	}
	res, _ := find(t, reducing(4, 0, "[[32, 32]]"))
	if f := want(t, res, cause.Comm, "", 41, 52.5); strings.Contains(f.Fix.Text, "together") {
		t.Errorf("four messages are many: %s", f.Fix.Text)
	}
}
