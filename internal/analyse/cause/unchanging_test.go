package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/testkit"
)

// TestWhatNeverChangesIsNamed: each step computes the same table of the same points, on which the loss rests, and through which no gradient
// goes; or one of points that the loop moves, or of what is learned.
func TestWhatNeverChangesIsNamed(t *testing.T) {
	lines := func(table, loss string) map[int]string {
		return map[int]string{1: "import torch", 30: "def train(points, model, optimizer):",
			35: "    for step in range(1000):",
			40: "        y = model(points)", 41: "        loss.backward()", 44: "        " + table,
			45: "        loss = (" + loss + ").mean()", 46: "        moved = points + step", 80: "points = torch.randn(100, 3)", 90: "train(points, make(), None)"}
	}
	for table, named := range map[string]bool{
		"near = torch.cdist(points, points)":   true,
		"near = torch.cdist(moved, moved)":     false,
		"near = torch.cdist(y, y)":             false,
		"near = points + torch.randn(100, 3)":  false,
		"near = torch.cdist(points, points).a": true,
	} {
		res, _ := find(t, lossProgram(lines(table, "near * y"), nil, loop(44)))
		f := res.Findings[0]
		if got := f.Cause == finding.Again && f.Sub == "unchanging"; got != named {
			t.Errorf("%s: %s/%s at %d", table, f.Cause, f.Sub, f.Where.Line)
		} else if named && f.Where.Line != 44 {
			t.Errorf("%s: at %d", table, f.Where.Line)
		}
	}
	// A function that is called with the same each time.
	p := lossProgram(lines("near = table(points, 0.1)", "near * y"), map[int]string{1: "import torch", 10: "def table(of, width):",
		12: "    return torch.exp(-torch.cdist(of, of) / width)"}, loop(44), user("table", 10, 12))
	res, _ := find(t, p)
	if f := res.Findings[0]; f.Sub != "unchanging" || f.Where.Line != 12 {
		t.Errorf("%s/%s at %d", f.Cause, f.Sub, f.Where.Line)
	}
	// A gradient goes through it: what it is made of is learned.
	p = lossProgram(lines("near = torch.cdist(points, points)", "near * y"), nil, loop(44))
	p.S.Traces = nil
	trainingTrace(p, 3, testkit.Native(40, module, loop(44)), true)
	if res, _ := find(t, p); res.Findings[0].Sub == "unchanging" {
		t.Errorf("%+v", res.Findings[0])
	}
}
