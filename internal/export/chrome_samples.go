package export

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"bottleneck/internal/model"
)

// samplesThread is the first of the rows of a process's sampled threads.
const samplesThread = 2_000_001_000

// heldPeriods is for how many sampling periods a stack is taken to last when no further sample of its thread comes.
const heldPeriods = 3

// openSlice is a function that runs since a time; its first line is where it stood then.
type openSlice struct {
	frame model.FrameID
	from  model.Time
}

// sliceWriter turns one thread's samples into slices: a function lasts from the first sample in which it stands at its
// depth to the first one in which it does not. A thread that waits for work has none meanwhile.
type sliceWriter struct {
	c      *chromeWriter
	s      *model.Stacks
	row    []byte
	open   []openSlice // outermost first
	last   model.Time
	period model.Dur
}

// sampleRows writes what the sampled threads of a process ran, on rows of their own beside its operators.
func (c *chromeWriter) sampleRows(p *model.Process, number []byte) {
	sm := &p.Samples
	threads := map[int32]*sliceWriter{}
	period := samplePeriod(sm)
	var frames []model.FrameID
	for i := range sm.Len() {
		if sm.State[i] == model.StateIdle {
			continue
		}
		t := threads[sm.Thread[i]]
		if t == nil {
			t = &sliceWriter{c: c, s: &sm.Stacks, period: period}
			threads[sm.Thread[i]] = t
			t.row = c.sampleRow(p, sm.Thread[i], number, len(threads)-1)
		}
		frames = framesOf(&sm.Stacks, sm.Stack[i], frames)
		slices.Reverse(frames)
		t.sample(sm.Time[i], frames)
	}
	for _, thread := range slices.SortedFunc(maps.Keys(threads), func(a, b int32) int { return cmp.Compare(a, b) }) {
		t := threads[thread]
		t.close(0, t.last+model.Time(t.period))
	}
}

// sampleRow names a row and gives what stands in each of its events.
func (c *chromeWriter) sampleRow(p *model.Process, thread int32, number []byte, n int) []byte {
	row := append([]byte(`, "pid": `), number...)
	row = strconv.AppendInt(append(row, `, "tid": `...), int64(samplesThread+n), 10)
	b := append(c.begin("M"), `, "name": "thread_name"`...)
	b = append(append(b, row...), `, "args": {`...)
	c.event(append(appendText(b, "name", "bottleneck: Python of "+threadName(c.session, p, thread)), "}}"...))
	return row
}

// sample takes the thread's stack at a time, outermost frame first.
func (t *sliceWriter) sample(at model.Time, frames []model.FrameID) {
	if at-t.last > model.Time(heldPeriods*t.period) {
		t.close(0, t.last+model.Time(t.period))
	}
	same := 0
	for same < len(frames) && same < len(t.open) && t.sameFunction(t.open[same].frame, frames[same]) {
		same++
	}
	t.close(same, at)
	for _, f := range frames[same:] {
		t.open = append(t.open, openSlice{f, at})
	}
	t.last = at
}

func (t *sliceWriter) sameFunction(a, b model.FrameID) bool {
	x, y := &t.s.Frames[a], &t.s.Frames[b]
	return x.Function == y.Function && x.File == y.File && x.First == y.First
}

// close writes the slices from a depth on. Of slices that begin and end together the outer one comes first: readers nest
// them in that order.
func (t *sliceWriter) close(depth int, at model.Time) {
	c := t.c
	for _, o := range t.open[depth:] {
		f := &t.s.Frames[o.frame]
		b := append(c.begin("X"), `, "cat": "bottleneck"`...)
		b = append(appendText(b, "name", c.texts.Text(f.Function)), t.row...)
		b = appendMicros(append(b, `, "ts": `...), int64(max(o.from, c.base)-c.base))
		b = appendMicros(append(b, `, "dur": `...), int64(max(at-max(o.from, c.base), 0)))
		b = appendText(append(b, `, "args": {`...), "file", c.texts.Text(f.File))
		c.event(append(appendInt(b, "line", int64(f.Line)), "}}"...))
	}
	t.open = t.open[:depth]
}
