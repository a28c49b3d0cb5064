package page

import (
	"fmt"
	"math"
	"path/filepath"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
)

// check states what every tile keeps.
func (tile *Tile) check(t *testing.T, tl *Timeline) {
	t.Helper()
	ends := map[[2]int]float64{}
	lane := 0
	for i := range tile.Lane {
		if tile.Lane[i] < lane || tile.Lane[i] >= len(tl.Lanes) || tile.Row[i] < 0 || tile.Row[i] >= tl.Lanes[tile.Lane[i]].Rows {
			t.Fatalf("box %d stands in lane %d, row %d", i, tile.Lane[i], tile.Row[i])
		}
		lane = tile.Lane[i]
		key := [2]int{tile.Lane[i], tile.Row[i]}
		if tile.Start[i] < ends[key]-1e-3 {
			t.Fatalf("box %d overlaps the one before it", i)
		}
		ends[key] = tile.Start[i] + tile.Us[i]
		if tile.Busy[i] > tile.Us[i]+1e-3 || tile.Count[i] < 1 || tile.Count[i] == 1 && tile.Busy[i] != tile.Us[i] ||
			tile.Complete && tile.Count[i] != 1 {
			t.Fatalf("box %d of %d events is %g long and %g busy", i, tile.Count[i], tile.Us[i], tile.Busy[i])
		}
	}
}

// TestTilesReachEveryEvent goes down the tiles of real traces: at every level the tiles together hold all events and all of their time,
// and at the bottom each event is a box of its own.
func TestTilesReachEveryEvent(t *testing.T) {
	for _, file := range []string{"segment-anything-fast/amg_example_trace.json.gz",
		"sidnb13-transformer-h100/dcb0aa1a78e7_4399.1752181589621105859.pt.trace.json.gz"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := open(t, "../../../shared/traces/"+file, "")
			tl := newTimeline(s)
			part := tl.part(&report.Report{})
			top := tl.tile(0, 0)
			events, busy := 0, 0.0
			for i := range top.Lane {
				events, busy = events+top.Count[i], busy+top.Busy[i]
			}
			if int64(events) != tl.events {
				t.Errorf("the first tile holds %d of %d events", events, tl.events)
			}
			type event struct {
				lane, row int
				start     float64
			}
			reached, all := map[event]bool{}, 0.0
			var down func(level, index int)
			down = func(level, index int) {
				tile := tl.tile(level, index)
				tile.check(t, part)
				if !tile.Complete && level+1 < part.Levels {
					down(level+1, 2*index)
					down(level+1, 2*index+1)
					return
				}
				for i := range tile.Lane {
					key := event{tile.Lane[i], tile.Row[i], tile.Start[i]}
					if !reached[key] {
						all += tile.Busy[i]
					}
					reached[key] = true
				}
			}
			down(0, 0)
			if want := distinct(tl); len(reached) < want*999/1000 || math.Abs(all-busy) > busy*1e-3 {
				t.Errorf("zooming reaches %d of %d events and %g of %g µs", len(reached), want, all, busy)
			}
		})
	}
}

// distinct counts events that differ in lane, row or start.
func distinct(tl *timeline) int {
	n := 0
	for i := range tl.lanes {
		for row := range tl.lanes[i].Rows {
			last := model.Time(math.MinInt64)
			for k := range tl.lanes[i].length(row) {
				if b, _ := tl.lanes[i].box(row, k); b.start != last {
					n, last = n+1, b.start
				}
			}
		}
	}
	return n
}

// TestFileTiles asks that a file's tiles are the first levels without a hole, and that a small trace is there whole.
func TestFileTiles(t *testing.T) {
	trace := testkit.NewTrace()
	for i := range 3000 {
		trace.Op(fmt.Sprint("op ", i%7), 1, int64(i)*1000, 900)
	}
	tl := newTimeline(open(t, "", trace.String()))
	have := map[string]bool{}
	for _, name := range tl.fileTiles() {
		have[name] = true
	}
	boxes := 0
	var down func(level, index int)
	down = func(level, index int) {
		if !have[tileName(level, index)] {
			t.Fatalf("tile %d/%d is missing", level, index)
		}
		if tile := tl.tile(level, index); tile.Complete {
			boxes += len(tile.Lane)
		} else {
			down(level+1, 2*index)
			down(level+1, 2*index+1)
		}
	}
	down(0, 0)
	if boxes < 3000 {
		t.Errorf("%d of 3000 events can be reached", boxes)
	}
}

func TestFind(t *testing.T) {
	trace := testkit.NewTrace().Op("aten::add", 1, 0, 5000).Op("aten::mul", 1, 10_000, 7000).Op("aten::add_", 1, 20_000, 1000)
	tl := newTimeline(open(t, "", trace.String()))
	if f := tl.find("ATEN::ADD"); f.Count != 2 || f.TotalUs != 6 || len(f.Longest) != 2 || f.Longest[0].Name != "aten::add" {
		t.Errorf("found %+v", f)
	}
	if f := tl.find(""); f.Count != 0 {
		t.Errorf("nothing finds %d", f.Count)
	}
}

func TestTileNumbers(t *testing.T) {
	for name, want := range map[string]bool{"0/0": true, "3/7": true, "3/8": false, "-1/0": false, "x": false, "1": false, "60/1": false,
		"1/0/0": false, "../1": false} {
		if _, _, ok := tileNumber(name); ok != want {
			t.Errorf("%q: %v", name, ok)
		}
	}
}
