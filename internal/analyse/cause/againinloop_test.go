package cause_test

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
)

// inLoopSource is a model whose forward calls these lines from line 11 on, and a training that calls it.
func inLoopSource(lines ...string) map[string]*model.Source {
	train, lib := make([]string, 90), make([]string, 30)
	lib[0], lib[9] = "import torch.nn.functional as F", "def forward(self, x, target, late):"
	copy(lib[10:], lines)
	train[29], train[34] = "def train(model, data, optimizer):", "    for step in range(1000):"
	train[39], train[40] = "        loss = model(data, data, None)", "        loss.backward()"
	return map[string]*model.Source{"/home/u/train.py": {Path: "/home/u/train.py", Lines: train},
		"/home/u/lib.py": {Path: "/home/u/lib.py", Lines: lib}}
}

// Operators that a loop of a step calls in turns are named with their backward passes where the text says that what they are given has its
// value before the loop; not where a turn changes it, or where traced steps show no turns.
func TestTheSameInEachTurn(t *testing.T) {
	const shape = "[[16, 24, 512, 512], [], []]"
	turns := func(n int, shapes func(i int) string, between ...tracedOp) (ops []tracedOp) {
		for i := range n {
			ops = append(ops, tracedOp{5, "aten::softmax", shapes(i), "", int64(i), nil},
				tracedOp{1, "aten::select", shape, "", -1, nil}, tracedOp{1, "aten::sum", "[[16, 512, 512]]", "", -1, nil})
			ops = append(ops, between...)
		}
		for i := range n {
			ops = append(ops, tracedOp{6, "autograd::engine::evaluate_function: SoftmaxBackward0", "", "", int64(i), nil})
		}
		return append(ops, tracedOp{100 - 13*n, "aten::relu", "[[64, 128]]", "", -1, nil})
	}
	same := func(int) string { return shape }
	other := func(i int) string { return "[[" + strconv.Itoa(16-i) + ", 24, 512, 512], [], []]" }
	layer := tracedOp{0, "aten::linear", "[[16, 8], [8, 8], [8]]", "", -1, nil}
	const head, body = "    for c in range(24):", "        total = F.softmax(x, dim=1)[:, c].sum()"
	const all = "    all = [F.softmax(x, dim=1)[:, c].sum() for c in range(24)]"
	for name, c := range map[string]struct {
		ops   []tracedOp
		lines []string
		saves float64 // ms per step, 0: no finding
	}{
		"a loop":             {turns(6, same), []string{head, body}, 66 * 5. / 6 * 0.95},
		"three turns":        {turns(3, same), []string{head, body}, 33 * 2. / 3 * 0.95},
		"a comprehension":    {turns(6, same), []string{"", all}, 66 * 5. / 6 * 0.95},
		"two turns":          {turns(2, same), []string{head, body}, 0},
		"no loop":            {turns(6, same), []string{"    c = 0", "    total = F.softmax(x, dim=1)[:, c].sum()"}, 0},
		"of other shapes":    {turns(6, other), []string{head, body}, 0},
		"without shapes":     {turns(6, func(int) string { return "" }), []string{head, body}, 0},
		"changed in a turn":  {turns(6, same), []string{head, "        x = F.softmax(x, dim=1)"}, 0},
		"of the turn's own":  {turns(6, same), []string{head, "        total = F.softmax(x * c, dim=1).sum()"}, 0},
		"of what is drawn":   {turns(6, same), []string{head, "        total = F.softmax(torch.rand_like(x), dim=1).sum()"}, 0},
		"a layer of weights": {turns(6, same), []string{head, "        total = F.softmax(self.layer(x), dim=1).sum()"}, 0},
		"a library's":        {turns(6, same, layer), []string{head, body}, 0},
		"another operator":   {turns(6, same), []string{head, "        total = x.exp()[:, c].sum()"}, 0},
		"goes backward in each turn": {slices.Concat(turns(2, same)[:7], turns(2, same)[:7], turns(2, same)[:7]),
			[]string{head, body}, 0},
	} {
		for _, device := range []bool{false, true} {
			p := tracedProgram(device, c.ops)
			p.S.Sources = inLoopSource(c.lines...)
			res, _ := find(t, p)
			i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "in-loop" })
			if name == "a library's" && !device {
				continue // samples tell that the line calls it
			}
			if (i >= 0) != (c.saves > 0) {
				t.Errorf("%s, device %v: %+v", name, device, res.Findings)
			} else if i >= 0 {
				f := res.Findings[i]
				near := math.Abs(f.Step.Mid/1e6-c.saves) < 0.12*c.saves
				if !near || f.Where.Line != 12 || f.Step.Low <= 0 || f.Step.Low > 0.6*f.Step.Mid {
					t.Errorf("%s, device %v: saves %+v at %d, want %.1f", name, device, f.Step, f.Where.Line, c.saves)
				}
			}
		}
	}
}
