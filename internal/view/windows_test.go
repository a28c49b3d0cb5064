package view

import (
	"strings"
	"testing"

	"bottleneck/internal/analyse/collectives"
	"bottleneck/internal/model"
	"bottleneck/internal/report"
)

// A session has one trace for each traced stretch: a rank's collectives stand once for all of them, and those without a size
// stay apart from those with one.
func TestCollectivesOfTracedStretchesStandOnce(t *testing.T) {
	known := collectives.Communication{Rank: 1, Device: -1, Op: "all_reduce", DType: "float", Count: 3, Bytes: 3000, Dur: 1000,
		Exposed: 900, AlgBW: 3, BusBW: 4.5, LateRank: model.NoRank}
	unknown := collectives.Communication{Rank: 1, Device: -1, Op: "all_reduce", Count: 2, Dur: 5000, Exposed: 5000, LateRank: model.NoRank}
	other := unknown
	other.Rank = 0
	rows := report.SumWindows([]collectives.Communication{known, unknown, known, unknown, other})
	if len(rows) != 3 || rows[0].Rank != 0 || rows[1].Count != 4 || rows[1].Dur != 10000 {
		t.Fatalf("rows %+v, want rank 0's, then rank 1's four calls without and six with a size", rows)
	}
	if r := rows[2]; r.Count != 6 || r.Bytes != 6000 || r.Dur != 2000 || r.Exposed != 1800 || r.AlgBW != 3 || r.BusBW != 4.5 {
		t.Errorf("two stretches of %+v make %+v", known, r)
	}
}

// One long name does not take the room of the column beside it.
func TestALongNameLeavesRoomForTheFile(t *testing.T) {
	p := newPrinter(&report.Report{}, TextOptions{Width: 80})
	writeTable(p, functionColumns, []report.FuncRow{
		{SelfS: 1, Function: strings.Repeat("Outer.<locals>.", 8) + "wrapper", File: "/home/u/package/optimizer.py", Line: 135},
	})
	if text := p.out.String(); !strings.Contains(text, "locals>.wrapper") || !strings.Contains(text, "optimizer.py:135") {
		t.Errorf("the table hides the function's end or its place:\n%s", text)
	}
}
