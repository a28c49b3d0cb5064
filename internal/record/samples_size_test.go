package record

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"bottleneck/internal/model"
)

// TestSamplesSize records one busy thread at 1 kHz with jittered times and changing lines: an hour must take 20 MB at
// most, so a minute a sixtieth of it.
func TestSamplesSize(t *testing.T) {
	path := filepath.Join(t.TempDir(), SamplesName)
	f, err := CreateSampleFile(path)
	if err != nil {
		t.Fatal(err)
	}
	w := NewSampleWriter(1_700_000_000_000_000_000, 0)
	p := w.Process(SampleProcess{PID: 1}, 1000)
	rng := rand.New(rand.NewPCG(1, 2))
	at := int64(-1)
	for i := range 22 {
		at = int64(w.Stacks.Push(int32(at), w.Stacks.Frame(SampleFrame{Function: "caller", File: "/a/train.py", Line: int32(i)})))
	}
	var leaves []int32
	for i := range 40 {
		leaves = append(leaves,
			w.Stacks.Push(int32(at), w.Stacks.Frame(SampleFrame{Function: "leaf", File: "/a/train.py", Line: int32(100 + i)})))
	}
	mono := int64(0)
	for i := range 60_000 {
		mono += 500_000 + rng.Int64N(1_000_000)
		p.Add(mono, 1, leaves[int(rng.ExpFloat64()*6)%len(leaves)], model.StateCPU, model.SampleHoldsGIL)
		if i%2000 == 1999 {
			if err := f.Write(w.Cut(mono)); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d bytes a minute, %.1f MB an hour", info.Size(), float64(info.Size())*60/1e6)
	if info.Size()*60 > 20_000_000 {
		t.Errorf("%d bytes a minute", info.Size())
	}
}
