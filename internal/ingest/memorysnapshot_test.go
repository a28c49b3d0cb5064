package ingest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/allocations"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// snapshotsOfPython is what Python's pickle and a few lines that add up say of the real files: levels count from the end backwards
// there, and from the beginning on here.
var snapshotsOfPython = []struct {
	name                                            string
	segments, events                                int
	reserved, active, fragmented, cached, old, peak int64
}{
	{"cs336_bcrafton.pickle", 96, 6486, 4238344192, 3072871424, 179811328, 985661440, 3064418304, 3849232640},
	{"cs336_hanmin_forward_fp32.pickle", 1423, 7600, 45730496512, 45107911168, 557573632, 65011712, 32029770756, 44087612420},
	{"cs336_magma_noframes.pickle", 216, 5163, 14180941824, 1377753600, 1029776896, 11773411328, 1373919236, 13923997700},
	{"cs336_wedsonlin_512_inference.pickle", 101, 4998, 1981808640, 1703448576, 14118912, 264241152, 1701482496, 1949343744},
}

func openSnapshot(t testing.TB, path string) *model.Session {
	t.Helper()
	s, err := Open(context.Background(), []string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	if len(s.Snapshots) != 1 {
		t.Fatalf("%d snapshots, inputs %+v", len(s.Snapshots), s.Inputs)
	}
	return s
}

func realSnapshot(tb testing.TB, name string) string {
	tb.Helper()
	path := filepath.Join(realTraces, "cuda-memory-snapshot", name)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("no real traces here: %v", err)
	}
	return path
}

func TestSnapshotsEqualPython(t *testing.T) {
	for _, want := range snapshotsOfPython {
		t.Run(want.name, func(t *testing.T) {
			s := openSnapshot(t, realSnapshot(t, want.name))
			d := &s.Snapshots[0].Devices[0]
			if len(d.Segments) != want.segments || len(d.Events) != want.events {
				t.Errorf("%d segments and %d events, want %d and %d", len(d.Segments), len(d.Events), want.segments, want.events)
			}
			u := allocations.Snapshots(s.Snapshots[0], s.Strings)[0]
			got := []int64{u.Reserved, u.Active, u.Fragmented, u.Cached, u.Before, u.Peak, u.Unexplained}
			if expect := []int64{want.reserved, want.active, want.fragmented, want.cached, want.old, want.peak,
				0}; !reflect.DeepEqual(got, expect) {
				t.Errorf("reserved, active, fragmented, cached, before, peak, unexplained:\n%d, want\n%d", got, expect)
			}
			if u.Reserved != u.Active+u.Pending+u.Fragmented+u.Cached {
				t.Errorf("%d reserved, but parts sum to %d", u.Reserved, u.Active+u.Pending+u.Fragmented+u.Cached)
			}
			for name, list := range map[string][]allocations.SnapshotHolder{"live": u.Live, "peak": u.AtPeak} {
				sum, whole := int64(0), map[string]int64{"live": u.Active, "peak": u.Peak}[name]
				for _, h := range list {
					sum += h.Bytes
				}
				if sum != whole {
					t.Errorf("%s: holders sum to %d of %d", name, sum, whole)
				}
			}
		})
	}
}

// TestSnapshotWrittenAgain: what the test's own writer makes of a real snapshot reads as the same.
func TestSnapshotWrittenAgain(t *testing.T) {
	s := openSnapshot(t, realSnapshot(t, "cs336_bcrafton.pickle"))
	var text bytes.Buffer
	if err := testkit.MemorySnapshot(&text, s.Strings, s.Snapshots[0], 1); err != nil {
		t.Fatal(err)
	}
	again := openSnapshot(t, write(t, filepath.Join(t.TempDir(), "again"), text.Bytes()))
	a, b := allocations.Snapshots(s.Snapshots[0], s.Strings), allocations.Snapshots(again.Snapshots[0], again.Strings)
	if !reflect.DeepEqual(a, b) {
		t.Errorf("%+v\nis not\n%+v", b[0], a[0])
	}
}

// planted is a snapshot of 100 bytes from before the recording, 600 allocated in train.py, 200 of them freed, and a request of
// 1000 that fails.
func planted() (*model.Strings, *model.MemorySnapshot) {
	s := &model.Strings{}
	frame := func(file, function string, line int32) model.Frame {
		return model.Frame{File: s.Intern(file), Function: s.Intern(function), Line: line}
	}
	m := &model.MemorySnapshot{Config: "max_split_size_mb:64", Stacks: model.Stacks{
		Frames: []model.Frame{frame("/work/train.py", "main", 3), frame("/x/site-packages/torch/nn/modules/linear.py", "forward", 9),
			frame("/work/train.py", "loss", 20)},
		Frame: []model.FrameID{0, 1, 2}, Parent: []model.StackID{model.NoStack, 0, 0}}}
	d := model.SnapshotDevice{
		Segments: []model.MemorySegment{{Addr: 1, Size: 1024, Large: true, Stack: model.NoStack, EndBlock: 3},
			{Addr: 5000, Size: 2048, Stack: model.NoStack, FirstBlock: 3, EndBlock: 4}},
		Blocks: []model.MemoryBlock{{Addr: 10, Size: 128, Requested: 100, State: model.BlockActive, Stack: model.NoStack},
			{Addr: 200, Size: 512, Requested: 400, State: model.BlockActive, Stack: 1}, {Addr: 800, Size: 384}, {Addr: 5000, Size: 2048}},
		Events: []model.AllocatorEvent{{Time: 1e6, Addr: 200, Size: 400, Action: model.ActionAlloc, Stack: 1},
			{Time: 2e6, Addr: 900, Size: 200, Action: model.ActionAlloc, Stack: 2},
			{Time: 3e6, Addr: 77, Size: 1000, Action: model.ActionOOM, Stack: 2},
			{Time: 4e6, Addr: 900, Size: 200, Action: model.ActionFreeRequested, Stack: 2},
			{Time: 5e6, Addr: 900, Size: 200, Action: model.ActionFree, Stack: 2}},
	}
	m.Devices = []model.SnapshotDevice{d}
	return s, m
}

func TestSnapshotOfOutOfMemory(t *testing.T) {
	texts, m := planted()
	var text bytes.Buffer
	if err := testkit.MemorySnapshot(&text, texts, m, 1); err != nil {
		t.Fatal(err)
	}
	s := openSnapshot(t, write(t, filepath.Join(t.TempDir(), "oom"), text.Bytes()))
	u := allocations.Snapshots(s.Snapshots[0], s.Strings)[0]
	if u.Before != 100 || u.Peak != 700 || u.Unexplained != 0 || u.Rounding != 28+112 || u.Cached != 2048 || u.Fragmented != 384 ||
		u.LargestGap != 2048 {
		t.Errorf("%+v", u)
	}
	if len(u.OOMs) != 1 {
		t.Fatalf("out of memory: %+v", u.OOMs)
	}
	oom := u.OOMs[0]
	if oom.Asked != 1000 || oom.DeviceFree != 77 || oom.Active != 700 || oom.Where.Where.Line != 20 {
		t.Errorf("%+v", oom)
	}
	var lines []int32
	for _, h := range oom.Holders {
		lines = append(lines, h.Where.Line)
	}
	if want := []int32{3, 20, 0}; !reflect.DeepEqual(lines, want) {
		t.Errorf("alive at the failure: lines %v, want %v: %+v", lines, want, oom.Holders)
	}
	if s.Snapshots[0].Config != "max_split_size_mb:64" {
		t.Errorf("config %q", s.Snapshots[0].Config)
	}
}

func TestSnapshotWindow(t *testing.T) {
	texts, m := planted()
	s := &model.Session{Strings: texts, Inputs: []model.Input{{Format: "memory-snapshot"}}, Snapshots: []*model.MemorySnapshot{m}}
	if err := analyse.Cut(s, analyse.Window{From: 3_500_000, To: 4_500_000}); err != nil {
		t.Fatal(err)
	}
	u := allocations.Snapshots(m, texts)[0]
	if u.Events != 1 || u.Before != 700 || u.Peak != 700 || len(u.OOMs) != 0 || len(u.AtPeak) != 3 {
		t.Errorf("%+v", u)
	}
	if err := analyse.Cut(s, analyse.Window{From: 1e12}); err == nil {
		t.Error("a window behind the end is no error")
	}
}

// TestSnapshotCut: of a file that was cut short the segments are there as soon as they were complete; what its events add up to
// is not known then.
func TestSnapshotCut(t *testing.T) {
	raw, err := os.ReadFile(realSnapshot(t, "cs336_magma_noframes.pickle"))
	if err != nil {
		t.Fatal(err)
	}
	if s, err := Open(context.Background(), []string{write(t, filepath.Join(t.TempDir(), "cut"), raw[:len(raw)/100])},
		Options{}); err == nil {
		t.Errorf("a hundredth, without all segments, is read: %+v", s.Inputs)
	}
	for part := 1; part < 10; part++ {
		s, err := Open(context.Background(), []string{write(t, filepath.Join(t.TempDir(), "cut"), raw[:len(raw)*part/10])}, Options{})
		if err != nil {
			t.Fatalf("%d tenths: %v", part, err)
		}
		u := allocations.Snapshots(s.Snapshots[0], s.Strings)[0]
		if in := s.Inputs[0]; len(in.Diagnostics) != 1 || in.Diagnostics[0].Kind != "cut-short" || u.Events != 0 ||
			u.Reserved != snapshotsOfPython[2].reserved {
			t.Errorf("%d tenths: %+v, %d reserved, %d events", part, in.Diagnostics, u.Reserved, u.Events)
		}
	}
}

// FuzzMemorySnapshot: no pickle makes the reader panic or break the model's invariants.
func FuzzMemorySnapshot(f *testing.F) {
	texts, m := planted()
	var text bytes.Buffer
	if err := testkit.MemorySnapshot(&text, texts, m, 2); err != nil {
		f.Fatal(err)
	}
	f.Add(text.Bytes())
	f.Fuzz(func(t *testing.T, text []byte) {
		r := newSnapshotReader(bytes.NewReader(text))
		m, err := r.read()
		if err != nil {
			return
		}
		s := &model.Session{Strings: &model.Strings{}, Inputs: []model.Input{{Format: "memory-snapshot", Diagnostics: r.diagnostics()}},
			Snapshots: []*model.MemorySnapshot{m}}
		r.store(s, m)
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		for _, u := range allocations.Snapshots(m, s.Strings) {
			if sum := u.Active + u.Pending + u.Fragmented + u.Cached; sum != u.Reserved {
				t.Fatalf("%d of %d", sum, u.Reserved)
			}
		}
	})
}
