package export

import (
	"context"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// tailWriter counts what is written and keeps its end.
type tailWriter struct {
	count int64
	tail  []byte
}

func (w *tailWriter) Write(b []byte) (int, error) {
	w.count += int64(len(b))
	w.tail = append(w.tail, b[max(0, len(b)-64):]...)
	w.tail = w.tail[max(0, len(w.tail)-64):]
	return len(b), nil
}

// TestOutputIsNotCutAtTwoGigabytes writes more than an int32 can count: the file still has its end.
func TestOutputIsNotCutAtTwoGigabytes(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 2 GB to nowhere")
	}
	s := &model.Session{Strings: &model.Strings{}}
	trace := &model.Trace{Process: -1, Rank: model.NoRank, From: 0, To: 2100 * 10}
	name := s.Strings.Intern(strings.Repeat("x", 1<<20))
	e := &trace.Events
	for i := range 2100 {
		e.Start, e.Dur = append(e.Start, model.Time(10*i)), append(e.Dur, 5)
		e.Name, e.Kind, e.Lane = append(e.Name, name), append(e.Kind, model.KindOp), append(e.Lane, 0)
		e.Detail, e.Link, e.Op, e.Parent = append(e.Detail, -1), append(e.Link, model.NoEvent), append(e.Op, model.NoEvent),
			append(e.Parent, model.NoEvent)
	}
	trace.Lanes = []model.Lane{{Kind: model.LaneThread, EndEvent: model.EventID(e.Len())}}
	s.Traces = []*model.Trace{trace}
	var w tailWriter
	if err := writeChrome(context.Background(), s, &w, Options{Rank: model.NoRank}); err != nil {
		t.Fatal(err)
	}
	if end := strings.TrimSpace(string(w.tail)); w.count < 1<<31 || !strings.HasSuffix(end, "}") || !strings.Contains(end, "]") {
		t.Errorf("%d bytes, which end with %q", w.count, end)
	}
}
