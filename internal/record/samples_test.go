package record

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"sort"
	"testing"

	"bottleneck/internal/model"
)

// fill writes two chunks of two processes and returns the samples per process as "time thread stack…" rows.
func fill(t *testing.T, path string) map[int][]int64 {
	t.Helper()
	w := NewSampleWriter(1_700_000_000_000_000_000, 5_000_000_000)
	f, err := CreateSampleFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a := w.Process(SampleProcess{Host: "h", PID: 7, PPID: 1, StartTicks: 99, Role: model.RoleRank, Rank: 3, LocalRank: 1,
		WorldSize: 4, WorkerIndex: -1, Args: []string{"python", "träin.py"}, Executable: "/usr/bin/python3", Python: "3.11.7"}, 100)
	b := w.Process(SampleProcess{PID: 8, Role: model.RoleWorker, Rank: model.NoRank, WorkerIndex: 2}, 100)
	main := w.Stacks.Push(-1, w.Stacks.Frame(SampleFrame{Function: "main", File: "a.py", First: 1, Line: 9}))
	leaf := w.Stacks.Push(main, w.Stacks.Frame(SampleFrame{Function: "f", File: "b.py", First: 4, Line: 5, Native: true}))
	a.NameThread(70, "MainThread")
	want := map[int][]int64{}
	mono := int64(5_000_000_000)
	for chunk := 0; chunk < 2; chunk++ {
		for i := 0; i < 10; i++ {
			mono += 10_000_000
			a.Add(mono, 70, []int32{main, leaf}[i%2], model.StateCPU, model.SampleHoldsGIL)
			b.Add(mono, 80, leaf, model.StateBlocked, 0)
			want[7] = append(want[7], mono-5_000_000_000)
			want[8] = append(want[8], mono-5_000_000_000)
		}
		a.Counts.Snapshots, a.Counts.Late, a.Counts.Failed = 10, 1, 2
		if err := f.Write(w.Cut(mono)); err != nil {
			t.Fatal(err)
		}
	}
	return want
}

// TestSamplesRoundTrip writes and reads samples, single ones and runs of sleep.
func TestSamplesRoundTrip(t *testing.T) {
	path := filepath.Join(t.TempDir(), SamplesName)
	want := fill(t, path)
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	got := map[int][]int64{}
	stored := map[int]int{}
	var counts SampleCounts
	err = ReadSamples(f, func(b *SampleBatch) error {
		stored[b.Process.PID] += len(b.Samples)
		for _, s := range b.Samples {
			s.EachTime(func(ns int64) { got[b.Process.PID] = append(got[b.Process.PID], ns-1_700_000_000_000_000_000) })
		}
		if b.Process.PID == 7 {
			counts.Add(b.Counts)
			checkBatch(t, b)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for pid := range got {
		sort.Slice(got[pid], func(i, j int) bool { return got[pid][i] < got[pid][j] })
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("times\n got %v\nwant %v", got, want)
	}
	if stored[8] != 2 {
		t.Errorf("an unchanged sleeping thread took %d entries in 2 chunks", stored[8])
	}
	if counts.Snapshots != 20 || counts.Late != 2 || counts.Failed != 4 || counts.AskedHz != 100 {
		t.Errorf("counts %+v", counts)
	}
}

func checkBatch(t *testing.T, b *SampleBatch) {
	t.Helper()
	p := b.Process
	if p.Host != "h" || p.Rank != 3 || p.LocalRank != 1 || p.WorldSize != 4 || p.WorkerIndex != -1 || p.StartTicks != 99 ||
		p.Python != "3.11.7" || !reflect.DeepEqual(p.Args, []string{"python", "träin.py"}) {
		t.Errorf("process %+v", p)
	}
	for _, s := range b.Samples {
		locs := b.Stacks[s.Stack]
		in := b.Locations[locs[0]]
		if s.Name != "MainThread" || s.State != model.StateCPU || s.Flags != model.SampleHoldsGIL {
			t.Errorf("sample %+v", s)
		}
		switch len(locs) {
		case 1:
			if in != (SampleFrame{Function: "main", File: "a.py", First: 1, Line: 9}) {
				t.Errorf("frame %+v", in)
			}
		case 2:
			if in != (SampleFrame{Function: "f", File: "b.py", First: 4, Line: 5, Native: true}) {
				t.Errorf("frame %+v", in)
			}
		}
	}
}

// TestSamplesDamaged cuts a file at every byte: what is whole before the cut is read, the rest is named as damage.
func TestSamplesDamaged(t *testing.T) {
	path := filepath.Join(t.TempDir(), SamplesName)
	fill(t, path)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	first := 4 + int(whole[0]) + int(whole[1])<<8
	for n := range whole {
		batches := 0
		err := ReadSamples(bytes.NewReader(whole[:n]), func(*SampleBatch) error { batches++; return nil })
		if clean := n == 0 || n == first; clean != (err == nil) || !clean && !errors.Is(err, ErrSamplesDamaged) {
			t.Fatalf("cut at %d of %d: %v", n, len(whole), err)
		}
		if want := 2 * min(1, n/first); batches != want {
			t.Fatalf("cut at %d: %d batches, want %d", n, batches, want)
		}
	}
}

// FuzzSamples feeds messages of any content: no panic, no memory beyond the caps.
func FuzzSamples(f *testing.F) {
	w := NewSampleWriter(1e18, 0)
	p := w.Process(SampleProcess{PID: 1}, 100)
	p.Add(1, 1, w.Stacks.Push(-1, w.Stacks.Frame(SampleFrame{Function: "f"})), model.StateIdle, 0)
	f.Add(w.Cut(10).encode(nil))
	f.Fuzz(func(t *testing.T, raw []byte) {
		_ = decodeSamples(raw, int64(len(raw)), func(b *SampleBatch) error {
			for i := range b.Samples {
				s := &b.Samples[i]
				for _, l := range b.Stacks[s.Stack] {
					_ = l
				}
				if s.N < 1<<16 {
					s.EachTime(func(int64) {})
				}
			}
			return nil
		})
	})
}

// TestEmptyChunksAreDamage reads a hole in a file: zeros are no chunks, however many there are.
func TestEmptyChunksAreDamage(t *testing.T) {
	in := &Counter{R: bytes.NewReader(make([]byte, 1<<20))}
	err := ReadSamples(in, func(*SampleBatch) error { t.Error("a batch of nothing"); return nil })
	if !errors.Is(err, ErrSamplesDamaged) || in.N != 4 {
		t.Errorf("read %d bytes, %v", in.N, err)
	}
}
