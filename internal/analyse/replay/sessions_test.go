package replay_test

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
)

// TestSessions prints, for every session of the folder BOTTLENECK_SESSIONS (one that `bottleneck run --out` made each), the unprofiled
// step, its unmodified replay with slack, and the traced steps replayed without what tracing cost. Sessions must have been
// recorded on a quiet machine.
func TestSessions(t *testing.T) {
	dir := os.Getenv("BOTTLENECK_SESSIONS")
	if dir == "" {
		t.Skip("BOTTLENECK_SESSIONS names no folder of sessions")
	}
	paths, _ := filepath.Glob(filepath.Join(dir, "*", "manifest.json"))
	t.Logf("%-24s %6s %11s %11s %8s %8s %7s %11s %11s %8s", "session", "steps", "step ms", "replayed", "error", "slack", "traced",
		"step ms", "untraced", "error")
	for _, path := range paths {
		s, err := ingest.Open(context.Background(), []string{filepath.Dir(path)}, ingest.Options{})
		if err != nil {
			t.Error(err)
			continue
		}
		name := filepath.Base(filepath.Dir(path))
		b := account.Of(s, account.Driver(s))
		r := replay.NewSession(s, b)
		if r == nil || !r.Unprofiled() {
			t.Logf("%-24s no steps", name)
			continue
		}
		if math.Abs(r.Error()) > maxError || r.Slack() > maxSlack {
			t.Errorf("%s: error %.2f %%, slack %.2f %%", name, 100*r.Error(), 100*r.Slack())
		}
		u, ok := replay.UntracedOf(s, b)
		judged := ""
		switch {
		case !ok:
			judged = "too few traced steps"
		case !u.Decided(0.05):
			judged = "undecided: the steps differ too much"
		}
		t.Logf("%-24s %6d %11.3f %11.3f %7.2f%% %7.2f%% %7d %11.3f %11.3f %7.2f%% ± %5.2f%%  %.0f ns  %s", name, b.Steps(), b.Mean()/ms,
			b.Mean()/ms*(1+r.Error()), 100*r.Error(), 100*r.Slack(), u.Steps, u.Traced/ms, u.Replayed/ms, 100*u.Error(),
			100*u.Half/max(u.Baseline, 1), u.Cost, judged)
		if judged == "" && math.Abs(u.Error()) > 0.05 {
			t.Errorf("%s: without the tracing cost %.2f %% off", name, 100*u.Error())
		}
	}
}

// TestUntraced: steps of 100 operators that tracing lengthens by 1 µs each are replayed as long as they are without it.
func TestUntraced(t *testing.T) {
	s := &model.Session{Strings: &model.Strings{}}
	p := &model.Process{PID: 1, Role: model.RoleMain, Rank: model.NoRank, WorkerIndex: -1, MainThread: 1, Start: epoch}
	s.Processes = []*model.Process{p}
	kind := s.Strings.Intern("train")
	now := epoch
	step := func(phase model.PhaseKind, cost model.Time) {
		from := now
		tr := &model.Trace{Process: 0, From: now, Rank: model.NoRank, Lanes: []model.Lane{{Kind: model.LaneThread, Thread: 1}}}
		ev := &tr.Events
		for range 100 {
			now += 5_000 + cost
			ev.Start, ev.Dur = append(ev.Start, now), append(ev.Dur, model.Dur(15_000+cost))
			ev.Name, ev.Kind = append(ev.Name, s.Strings.Intern("aten::mm")), append(ev.Kind, model.KindOp)
			ev.Lane, ev.Parent, ev.Link = append(ev.Lane, 0), append(ev.Parent, model.NoEvent), append(ev.Link, model.NoEvent)
			ev.Op, ev.Detail = append(ev.Op, model.NoEvent), append(ev.Detail, -1)
			now += 15_000 + cost
		}
		tr.Lanes[0].EndEvent = model.EventID(ev.Len())
		p.Steps = append(p.Steps, model.Step{Number: int64(len(p.Steps)), Kind: kind, Phase: phase, Start: from, End: now, Thread: 1})
		if tr.To = now; phase == model.PhaseTrace {
			s.Traces = append(s.Traces, tr)
		}
	}
	for range 10 {
		step(model.PhaseBaseline, 0)
		step(model.PhaseTrace, 500)
	}
	u, ok := replay.UntracedOf(s, account.Of(s, p))
	if !ok || u.Steps != 10 {
		t.Fatalf("%+v, %v", u, ok)
	}
	if math.Abs(u.Error()) > 0.005 || u.Traced < 1.04*u.Baseline || !u.Decided(0.05) {
		t.Errorf("%+v, error %.2f %%", u, 100*u.Error())
	}
	for i := range p.Steps { // of uneven steps it cannot be told
		if st := &p.Steps[i]; i%4 == 0 && st.Phase == model.PhaseBaseline {
			st.End -= (st.End - st.Start) / 2
		}
	}
	if u, ok := replay.UntracedOf(s, account.Of(s, p)); !ok || u.Decided(0.05) {
		t.Errorf("of uneven steps an error of 5 %% is decided: %+v", u)
	}
}
