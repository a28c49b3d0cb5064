package tables

import (
	"testing"

	"bottleneck/internal/model"
)

// rangedTrace holds two operators with a launch each, and as many ranges as given, with one counter that is 0.
func rangedTrace(ranges int) (*model.Trace, *model.Strings) {
	s := &model.Strings{}
	t := &model.Trace{Lanes: []model.Lane{{EndEvent: 4}}, Events: model.Events{
		Start: []model.Time{0, 10, 50, 60}, Dur: []model.Dur{40, 10, 40, 10},
		Name: []model.Str{s.Intern("aten::mm"), s.Intern("cudaLaunchKernel"), s.Intern("aten::add"), s.Intern("cudaLaunchKernel")},
		Kind: []model.Kind{model.KindOp, model.KindRuntime, model.KindOp, model.KindRuntime}, Lane: make([]model.LaneID, 4),
		Parent: []model.EventID{-1, 0, -1, 2}, Op: []model.EventID{-1, 0, -1, 2}, Link: []model.EventID{-1, -1, -1, -1},
		Detail: []int32{-1, -1, -1, -1}}}
	for i := range ranges {
		t.Ranges = append(t.Ranges, model.RangeCounter{Range: int32(i), Name: s.Intern("gemm"), Key: s.Intern("ffma"),
			Value: float64(10 * (i + 1))},
			model.RangeCounter{Range: int32(i), Name: s.Intern("gemm"), Key: s.Intern("dfma")})
	}
	return t, s
}

func TestRangeCounters(t *testing.T) {
	rows := rangeRows(rangedTrace(2))
	if len(rows) != 2 || rows[0][1].Text != "aten::add" || rows[0][4].Number != 20 || rows[1][1].Text != "aten::mm" ||
		rows[1][4].Number != 10 {
		t.Errorf("%+v", rows)
	}
	rows = rangeRows(rangedTrace(3)) // one launch is missing: nobody knows whose
	if len(rows) != 1 || !rows[0][1].None || rows[0][3].Number != 3 || rows[0][4].Number != 60 || rows[0][5].Number != 20 ||
		rows[0][6].Number != 30 {
		t.Errorf("%+v", rows)
	}
}
