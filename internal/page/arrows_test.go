package page

import (
	"compress/gzip"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"bottleneck/internal/testkit"
)

// TestArrows asks that a launch and its kernel lead to each other, each to the row that the other stands in.
func TestArrows(t *testing.T) {
	tl := newTimeline(open(t, "", testkit.NewTrace().Op("op", 1, 0, 30_000).Launch("kernel", 1, 5_000, 5_000, 50_000, 40_000, 7).String()))
	tile := tl.tile(0, 0)
	if len(tile.Arrows) != 2 {
		t.Fatalf("%d arrows", len(tile.Arrows))
	}
	for _, a := range tile.Arrows {
		lane, row := tl.shown[a.Lane].Kind, 0
		want := toWork
		if tl.shown[tile.Lane[a.Box]].Kind == "stream" {
			want, row = toLaunch, 1 // below the operator
		}
		if a.To != want || (lane == "stream") != (want == toWork) || a.Row != row {
			t.Errorf("an arrow from a %s: %+v", tl.shown[tile.Lane[a.Box]].Kind, a)
		}
	}
}

// flow is an end of an arrow as a trace file writes it.
type flow struct {
	Cat, Ph string
	ID      int64
	TS      float64
}

// fileArrows reads a file's own arrows of a kind: the times of both ends, in ns from the earliest of its events.
func fileArrows(t *testing.T, path, category string) [][2]float64 {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Skip(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		TraceEvents []flow `json:"traceEvents"`
	}
	if err := json.NewDecoder(z).Decode(&file); err != nil {
		t.Fatal(err)
	}
	begins := map[int64]float64{}
	for _, e := range file.TraceEvents {
		if e.Cat == category && e.Ph == "s" {
			begins[e.ID] = e.TS
		}
	}
	var out [][2]float64
	for _, e := range file.TraceEvents {
		if at, ok := begins[e.ID]; ok && e.Cat == category && e.Ph == "f" {
			out = append(out, [2]float64{at, e.TS})
		}
	}
	slices.SortFunc(out, func(a, b [2]float64) int { return slices.Compare(a[:], b[:]) })
	return out
}

// TestBackwardArrows compares the arrows from forward to backward with those that torch wrote into the same file.
func TestBackwardArrows(t *testing.T) {
	for _, file := range []string{"hta-nccl-a100/nccl_data.json.gz", "hta-ns-resolution/rank-0.Apr_03_18_51_38.1102.pt.trace.json.gz",
		"tracelens-rocm-ddp/resnet_act_checkpoint_rank0of8_mi300.json.gz", "tracelens-small/normalization_layers_mi300.json.gz",
		"luatil-compile-rtx3060/trace_04_compiled.json.gz"} {
		t.Run(filepath.Dir(file), func(t *testing.T) {
			path := "../../../shared/traces/" + file
			want := fileArrows(t, path, "fwdbwd")
			tl := newTimeline(open(t, path, ""))
			got := [][2]float64{}
			for key, pair := range tl.pairs() {
				if pair.to == toBackward {
					ev := &key.trace.Events
					got = append(got, [2]float64{float64(ev.Start[key.event]), float64(ev.Start[pair.event])})
				}
			}
			slices.SortFunc(got, func(a, b [2]float64) int { return slices.Compare(a[:], b[:]) })
			if len(want) == 0 || len(got) != len(want) {
				t.Fatalf("%d arrows, the file has %d", len(got), len(want))
			}
			for i := range want {
				for end := range 2 { // from the first arrow on, since the session's clock has an origin of its own
					if is, should := (got[i][end]-got[0][0])/1e3, want[i][end]-want[0][0]; math.Abs(is-should) > 0.5 {
						t.Fatalf("arrow %d of %d: end %d is at %g µs, in the file at %g", i, len(want), end, is, should)
					}
				}
			}
		})
	}
}
