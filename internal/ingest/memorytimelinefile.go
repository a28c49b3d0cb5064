package ingest

import (
	"cmp"
	"fmt"
	"io"
	"slices"

	"bottleneck/internal/model"
)

// Columns of a memory timeline: sizes[i] begins with a 0, and the categories follow in torch's order (pytorch/pytorch,
// torch/profiler/_memory_profiler.py).
var memoryCategories = [model.MemoryCategories]string{"parameters", "optimizer state", "inputs", "temporaries", "activations", "gradients",
	"autograd's own", "unknown"}

// timelineSums follows the bytes of each category.
type timelineSums struct {
	level, atPeak, most, end [model.MemoryCategories]int64
	first, last, peakAt      int64 // in ns; 0 and -1 are before the recording
	peak, now                int64
	points                   int64
}

// at takes the levels from an instant on.
func (t *timelineSums) at(ns int64, level [model.MemoryCategories]int64) {
	t.now = 0
	for i, n := range level {
		t.now += n
		t.most[i] = max(t.most[i], n)
	}
	if ns > 0 {
		if t.first == 0 {
			t.first = ns
		}
		t.last = max(t.last, ns)
	}
	if t.now > t.peak {
		t.peak, t.peakAt, t.atPeak = t.now, ns, level
	}
	t.end = level
	t.points++
}

// readMemoryTimeline reads what export_memory_timeline writes: [times, sizes], or raw rows of [time, action, bytes, category].
func readMemoryTimeline(o *opening, src source, r io.Reader) (func() error, error) {
	in := newJSONStream(r)
	sums, err := timelineOf(in)
	var damage []model.Diagnostic
	switch {
	case err != nil && sums.points < 2:
		return nil, &UnusableError{Path: src.path, Reason: "a memory timeline that cannot be read: " + err.Error(), err: err}
	case err != nil:
		damage = append(damage, model.Diagnostic{Kind: "truncated", Count: 1, FirstOffset: in.InputOffset(),
			Text: "damaged, only what comes before is used: " + err.Error()})
	}
	return addTable(o, src, sums.table(), sums.points, damage...), nil
}

// maxTimelinePoints bounds the times that are held until their sizes come.
const maxTimelinePoints = 1 << 24

// timelineOf tells the two forms apart by their first rows: the times of one are longer than a row of the other, and the sizes
// are lists.
func timelineOf(in *jsonStream) (*timelineSums, error) {
	t := &timelineSums{}
	var times []int64
	err := in.array(func(i int) error {
		if i == 1 && len(times) != 4 || i == 1 && times[1] > 4 {
			return t.sizes(in, times)
		}
		var row []int64
		if i == 0 {
			return in.array(func(int) error {
				var v int64
				err := in.value(&v)
				if times = append(times, v); len(times) > maxTimelinePoints {
					return fmt.Errorf("more than %d points", maxTimelinePoints)
				}
				return err
			})
		}
		if i == 1 {
			if err := t.raw(times); err != nil {
				return err
			}
		}
		if err := in.value(&row); err != nil {
			return err
		}
		return t.raw(row)
	})
	return t, err
}

// sizes reads the levels of the times, which are microseconds.
func (t *timelineSums) sizes(in *jsonStream, times []int64) error {
	return in.array(func(i int) error {
		var row []int64
		if err := in.value(&row); err != nil {
			return err
		}
		if len(row) != model.MemoryCategories+1 || i >= len(times) {
			return fmt.Errorf("point %d has %d sizes of %d times", i, len(row), len(times))
		}
		for _, n := range row {
			if n < -maxSnapshotBytes || n > maxSnapshotBytes {
				return fmt.Errorf("point %d has %d bytes", i, n)
			}
		}
		at := int64(0)
		if times[i] > 0 && times[i] < latest/1000 {
			at = times[i] * 1000
		}
		t.at(at, [model.MemoryCategories]int64(row[1:]))
		return nil
	})
}

// raw takes one action. A version that is counted up is two of them: what one category loses, another gains.
func (t *timelineSums) raw(row []int64) error {
	if len(row) != 4 || row[1] < 1 || row[1] > 4 || row[3] < 0 || row[3] >= model.MemoryCategories || row[2] > maxSnapshotBytes ||
		row[2] < -maxSnapshotBytes {
		return fmt.Errorf("row %d is %v", t.points, row)
	}
	level := t.level
	switch row[1] {
	case 1, 2, 3:
		level[row[3]] += row[2]
	case 4:
		level[row[3]] -= max(row[2], -row[2])
	}
	t.level = level
	t.at(max(row[0], 0), level)
	return nil
}

func (t *timelineSums) table() *model.FileTable {
	out := &model.FileTable{Name: "memory-timeline", Title: "Memory by what it was for",
		Columns: []model.FileColumn{{Name: "category"}, {Name: "at the peak", Unit: model.FileBytes},
			{Name: "share", Unit: model.FileShare}, {Name: "own peak", Unit: model.FileBytes}, {Name: "at the end", Unit: model.FileBytes}}}
	order := []int{0, 1, 2, 3, 4, 5, 6, 7}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(t.atPeak[b], t.atPeak[a]) })
	for _, i := range order {
		if t.most[i] == 0 && t.end[i] == 0 {
			continue
		}
		out.Rows = append(out.Rows, []model.FileCell{fileText(memoryCategories[i]), fileCount(t.atPeak[i]),
			fileNumber(float64(t.atPeak[i]) / float64(max(t.peak, 1))), fileCount(t.most[i]), fileCount(t.end[i])})
	}
	when := "before the recording"
	if t.peakAt > 0 {
		when = fmt.Sprintf("%.1f ms into it", float64(t.peakAt-t.first)/1e6)
	}
	out.Sentence = fmt.Sprintf("the peak was %.2f GiB, %s; %.0f %% of it %s. A memory timeline holds no times of work, and prices no fix.",
		float64(t.peak)/(1<<30), when, 100*float64(t.atPeak[order[0]])/float64(max(t.peak, 1)), memoryCategories[order[0]])
	return out
}
