package page

import (
	"slices"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// TestGIL asks for one holder at a time, for stretches that end where nobody looked, and for a row for each thread that waits.
func TestGIL(t *testing.T) {
	const ms = model.Time(1e6)
	program := testkit.NewProgram()
	sm := &program.P.Samples
	sm.AchievedHz, sm.Threads = 100, map[int32]model.Str{}
	for _, one := range []struct {
		at     model.Time
		thread int32
		state  model.ThreadState
		flags  uint8
	}{
		{0, 1, model.StateCPU, model.SampleHoldsGIL}, {0, 2, model.StateGILWait, 0},
		{10 * ms, 1, model.StateCPU, model.SampleHoldsGIL}, {10 * ms, 2, model.StateGILWait, 0}, {10*ms + 1, 3, model.StateGILWait, 0},
		{20 * ms, 1, model.StateGILWait, 0}, {20*ms + 2, 2, model.StateCPU, model.SampleHoldsGIL},
		{100 * ms, 2, model.StateCPU, 0}, {110 * ms, 2, model.StateCPU, model.SampleHoldsGIL},
	} {
		sm.Time, sm.Thread = append(sm.Time, testkit.Epoch+one.at), append(sm.Thread, one.thread)
		sm.State, sm.Flags, sm.Stack = append(sm.State, one.state), append(sm.Flags, one.flags), append(sm.Stack, model.NoStack)
	}
	tl := newTimeline(program.S)
	got := map[string][][2]model.Time{}
	for i := range tl.lanes {
		for row := range tl.lanes[i].Rows {
			for k := range tl.lanes[i].length(row) {
				b, _ := tl.lanes[i].box(row, k)
				name := program.S.Strings.Text(b.name)
				got[name] = append(got[name], [2]model.Time{b.start - testkit.Epoch, b.end - testkit.Epoch})
			}
		}
	}
	for name, want := range map[string][][2]model.Time{
		"thread 1: holds the GIL": {{0, 20 * ms}}, "thread 2: holds the GIL": {{20*ms + 2, 40*ms + 2}, {110 * ms, 120 * ms}},
		"thread 1: " + gilWait: {{20 * ms, 40 * ms}}, "thread 2: " + gilWait: {{0, 20 * ms}},
		"thread 3: " + gilWait: {{10*ms + 1, 20 * ms}},
	} {
		if !slices.Equal(got[name], want) {
			t.Errorf("%s: %v, not %v", name, got[name], want)
		}
	}
	if n := len(tl.shown); n != 2 || tl.shown[1].Rows != 2 {
		t.Errorf("%d lanes: %+v", n, tl.shown)
	}
}
