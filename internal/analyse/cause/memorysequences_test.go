package cause_test

import (
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// tracedOp is an operator of a made trace with what it has inside; its shapes may be followed by "|" and strides.
type tracedOp struct {
	ms                     int
	name, shapes, concrete string
	sequence               int64
	inside                 []tracedOp
}

// hots is a program with steps of 100 ms, whose trace with shapes has these operators.
func hots(ops ...tracedOp) *testkit.Program { return tracedProgram(false, ops) }

// launched is the same, where each outermost operator is a launch of as long a kernel and the host is through with it in a tenth of that.
func launched(ops ...tracedOp) *testkit.Program { return tracedProgram(true, ops) }

func tracedProgram(device bool, ops []tracedOp) *testkit.Program {
	p := testkit.NewProgram()
	acts := []testkit.Act{
		testkit.Native(60, module, loop(40), user("forward", 10, 12), torchFrame("nn/modules/module.py", "Module._call_impl"),
			torchFrame("nn/modules/linear.py", "forward")),
		testkit.Native(40, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")),
	}
	p.Steps(20, model.PhaseBaseline, acts...)
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T, Features: model.Features{Shapes: true}}
	ev, unit := &t.Events, model.Dur(1e6)
	if device {
		unit = 1e5
	}
	type launch struct {
		call model.EventID
		ms   int
	}
	var launches []launch
	var add func(at model.Time, op tracedOp, parent model.EventID)
	add = func(at model.Time, op tracedOp, parent model.EventID) {
		id := p.Event(ev, at, model.Dur(op.ms)*unit, op.name, model.KindOp, parent, int32(len(ev.OpDetails)))
		shapes, strides, _ := strings.Cut(op.shapes, "|")
		ev.OpDetails = append(ev.OpDetails, model.OpDetail{Sequence: op.sequence, Args: uint32(len(ev.OpArgs))})
		ev.OpArgs = append(ev.OpArgs, model.OpArgs{Shapes: p.S.Strings.Intern(shapes), Strides: p.S.Strings.Intern(strides),
			Concrete: p.S.Strings.Intern(op.concrete)})
		for _, in := range op.inside {
			add(at, in, id)
		}
		if device && parent == model.NoEvent && op.ms > 0 {
			launches = append(launches, launch{p.Event(ev, at, 9000, "cudaLaunchKernel", model.KindRuntime, id, -1), op.ms})
		}
	}
	now, began := p.T, p.T
	p.Steps(1, model.PhaseDetail, acts...)
	for _, op := range ops {
		add(now, op, model.NoEvent)
		now += model.Time(op.ms) * model.Time(unit)
	}
	t.To = p.T
	thread := model.EventID(ev.Len())
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: thread}}
	for _, l := range launches {
		id := p.Event(ev, began, model.Dur(l.ms)*1e6, "kernel", model.KindKernel, model.NoEvent, -1)
		ev.Lane[id], ev.Link[id], ev.Op[id], ev.Link[l.call] = 1, l.call, ev.Parent[l.call], id
		began += model.Time(l.ms) * 1e6
	}
	if device {
		t.Features.Device = true
		t.Header.Devices = []model.GPU{{Index: 0, Name: "NVIDIA A100-SXM4-40GB", ComputeMajor: 8, SMs: 108}}
		t.Lanes = append(t.Lanes, model.Lane{Kind: model.LaneStream, Stream: 7, FirstEvent: thread, EndEvent: model.EventID(ev.Len())})
	}
	p.S.Traces = append(p.S.Traces, t)
	p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: make([]string, 60)}
	p.S.Sources["/home/u/train.py"].Lines[11] = "hot = F.one_hot(words, 20000).float()"
	return p
}

// Squared distances of all pairs are named where a difference that is spread both ways is squared and summed along its last dimension.
func TestPairsByBroadcasting(t *testing.T) {
	table := "[[512, 512, 8], []]"
	sub := func(shapes string) tracedOp { return tracedOp{10, "aten::sub", shapes, "", 7, nil} }
	spread := sub("[[512, 1, 8], [1, 512, 8], []]")
	square, sum := tracedOp{10, "aten::pow", table, "", 8, nil}, tracedOp{10, "aten::sum", table, "", 9, nil}
	passes := tracedOp{30, "autograd::engine::evaluate_function: PowBackward0", "", "", 8, nil}
	byItself := tracedOp{10, "aten::mul", "[[512, 512, 8], [512, 512, 8]]", "", 8, nil}
	rest := tracedOp{40, "aten::mm", "[[512, 64], [64, 64]]", "", -1, nil}
	for name, c := range map[string]struct {
		ops  []tracedOp
		want bool
	}{
		"a square and a sum": {[]tracedOp{spread, square, sum, passes, rest}, true},
		"by a product":       {[]tracedOp{spread, byItself, sum, passes, rest}, true},
		"a norm":             {[]tracedOp{spread, {20, "aten::linalg_vector_norm", table, "", 8, nil}, passes, rest}, true},
		"of other numbers":   {[]tracedOp{spread, {10, "aten::mul", "[[512, 512, 8], [8]]", "", 8, nil}, sum, passes, rest}, false},
		"spread one way":     {[]tracedOp{sub("[[512, 512, 8], [512, 1, 8], []]"), square, sum, passes, rest}, false},
		"small":              {[]tracedOp{sub("[[64, 1, 8], [1, 64, 8], []]"), square, sum, passes, rest}, false},
		"a sum of less":      {[]tracedOp{spread, square, {10, "aten::sum", "[[512, 8]]", "", 9, nil}, passes, rest}, false},
		"something between":  {[]tracedOp{spread, rest, square, sum, passes}, false},
	} {
		res, _ := find(t, hots(c.ops...))
		if c.want {
			want(t, res, finding.MemoryBound, "pairs", 12, 45)
		} else if len(res.Findings) > 0 && res.Findings[0].Sub == "pairs" {
			t.Errorf("%s: %s", name, res.Findings[0].Title)
		}
	}
}

// Tensors that are copied as a whole are named where few of their rows are taken afterwards; not where all are, by and by, nor where
// anything else reads them or the copy is small or the last one.
func TestCopiesOfWhichFewRowsAreTaken(t *testing.T) {
	whole := func(shape string) tracedOp {
		return tracedOp{20, "aten::to", "[" + shape + ", []]", "", -1,
			[]tracedOp{{18, "aten::copy_", "[" + shape + ", " + shape + ", []]", "", -1, nil}}}
	}
	index := func(result string) tracedOp {
		return tracedOp{4, "aten::index", "[[13600, 44], []]", "", -1,
			[]tracedOp{{1, "aten::as_strided", "[[13600, 44], [], [], []]", `["", "` + result + `", "[0, 1]", ""]`, -1, nil}}}
	}
	large := whole("[13600, 44]")
	selected := tracedOp{4, "aten::index_select", "[[13600, 44], [], [192]]", `["", "0", ""]`, -1, nil}
	sums := tracedOp{4, "aten::sum", "[[13600, 44]]", "", -1, nil}
	detached := tracedOp{1, "aten::detach_", "[[13600, 44]]", "", -1, nil}
	rest := tracedOp{30, "aten::mm", "[[64, 64], [64, 64]]", "", -1, nil}
	few := index("[192, 44]")
	ordered := tracedOp{24, "aten::index", "[[13600, 44], []]", "", -1,
		[]tracedOp{{1, "aten::as_strided", "[[13600, 44], [], [], []]", `["", "[13600, 44]", "[0, 1]", ""]`, -1, nil}}}
	slice := func(from, to string) tracedOp {
		return tracedOp{1, "aten::slice", "[[13600, 44], [], [], [], []]", `["", "0", "` + from + `", "` + to + `", "1"]`, -1, nil}
	}
	stacked := tracedOp{24, "aten::stack", "[[[50, 44], [50, 44]" + strings.Repeat(", [50, 44]", 98) + "], []]", `["", "0"]`, -1, nil}
	byColumn := tracedOp{1, "aten::slice", "[[13600, 44]]", `["", "1", "0", "4", "1"]`, -1, nil}
	ofStack := tracedOp{1, "aten::slice", "[[100, 50, 44], [], [], [], []]", `["", "0", "-8", "9223372036854775807", "1"]`, -1, nil}
	for name, c := range map[string]struct {
		ops  []tracedOp
		want bool
	}{
		"by index":           {[]tracedOp{large, detached, few, rest, large, few}, true},
		"by index_select":    {[]tracedOp{large, selected, rest, large, selected}, true},
		"in an order":        {[]tracedOp{ordered, slice("256", "512"), rest, ordered, slice("512", "768")}, true},
		"half by half":       {[]tracedOp{ordered, slice("0", "6800"), slice("6800", "13600"), rest, ordered}, false},
		"the latest":         {[]tracedOp{stacked, ofStack, rest, stacked, ofStack}, true},
		"an epoch's order":   {[]tracedOp{ordered, slice("0", "256"), rest, slice("256", "512"), rest}, false},
		"along the columns":  {[]tracedOp{ordered, byColumn, rest, ordered}, false},
		"two halves":         {[]tracedOp{large, index("[6800, 44]"), index("[6800, 44]"), rest, large, index("[13600, 44]")}, false},
		"read by others":     {[]tracedOp{large, few, sums, large, few, sums}, false},
		"nothing is taken":   {[]tracedOp{large, rest, large, rest}, false},
		"small":              {[]tracedOp{whole("[136, 44]"), {4, "aten::index_select", "[[136, 44], [], [9]]", `["", "0"]`, -1, nil}, rest}, false},
		"along another side": {[]tracedOp{large, {4, "aten::index_select", "[[13600, 44], [], [2]]", `["", "1"]`, -1, nil}, rest}, false},
		"the last one":       {[]tracedOp{rest, large, few, rest}, false},
		"it grows":           {[]tracedOp{large, few, rest, whole("[13632, 44]"), rest}, true},
		"of unknown size":    {[]tracedOp{large, {4, "aten::index", "[[13600, 44], []]", "", -1, nil}, rest}, false},
		"nothing was copied": {[]tracedOp{{20, "aten::to", "[[13600, 44], []]", "", -1, nil}, few, rest, few}, false},
	} {
		res, _ := find(t, hots(c.ops...))
		if named := len(res.Findings) > 0 && res.Findings[0].Sub == "few-rows"; named != c.want {
			t.Errorf("%s: %+v", name, res.Findings)
		}
	}
}

// Rows that operators compute each by itself are named where few of them are taken next, on a device by what it computes for them; not
// where all are taken or read, where an operator between mixes rows, and where they are few.
func TestRowsThatAreComputedForFew(t *testing.T) {
	layer := tracedOp{20, "aten::linear", "[[40000, 64], [96, 64], [96]]", "", 7, nil}
	gelu := tracedOp{20, "aten::gelu", "[[40000, 96], []]", "", 8, nil}
	passes := tracedOp{30, "autograd::engine::evaluate_function: AddmmBackward0", "", "", 7, nil}
	take := func(shape, n string) tracedOp {
		return tracedOp{2, "aten::index_select", "[" + shape + ", [], [" + n + "]]", `["", "0", ""]`, 9, nil}
	}
	few := take("[40000, 96]", "512")
	rest := tracedOp{28, "aten::mm", "[[64, 64], [64, 64]]", "", -1, nil}
	weights := tracedOp{2, "aten::embedding", "[[40000, 128], [512]]", "", -1, nil}
	sums := tracedOp{2, "aten::sum", "[[40000, 96], []]", "", -1, nil}
	other := tracedOp{5, "aten::linear", "[[2048, 64], [96, 64]]", "", -1, nil}
	small := tracedOp{20, "aten::linear", "[[400, 64], [96, 64]]", "", 7, nil}
	mixes := tracedOp{5, "aten::mm", "[[40000, 40000], [40000, 96]]", "", -1, nil}
	heads := tracedOp{1, "aten::view", "[[40000, 96], []]", "", -1, nil}
	attention := tracedOp{5, "aten::bmm", "[[400, 100, 96], [400, 96, 100]]", "", -1, nil}
	for name, c := range map[string]struct {
		ops  []tracedOp
		want bool
	}{
		"a catalogue":          {[]tracedOp{layer, gelu, few, weights, rest, passes}, true},
		"two towers":           {[]tracedOp{other, layer, gelu, few, rest, passes}, true},
		"a table of counts":    {[]tracedOp{layer, gelu, few, take("[40000]", "512"), rest, passes}, true},
		"views of the same":    {[]tracedOp{layer, heads, gelu, few, rest, passes}, true},
		"most are taken":       {[]tracedOp{layer, gelu, take("[40000, 96]", "30000"), rest, passes}, false},
		"all by and by":        {[]tracedOp{layer, gelu, take("[40000, 96]", "8000"), take("[40000, 96]", "8000"), rest, passes}, false},
		"all are read as well": {[]tracedOp{layer, gelu, few, sums, rest, passes}, false},
		"neighbours are added": {[]tracedOp{layer, gelu, mixes, few, rest, passes}, false},
		"attention between":    {[]tracedOp{layer, heads, attention, few, rest, passes}, false},
		"nothing is taken":     {[]tracedOp{layer, gelu, rest, passes}, false},
		"few are computed":     {[]tracedOp{small, take("[400, 96]", "5"), rest, passes}, false},
	} {
		for _, p := range []*testkit.Program{hots(c.ops...), launched(c.ops...)} {
			res, _ := find(t, p)
			if named := len(res.Findings) > 0 && res.Findings[0].Sub == "computed-rows"; named != c.want {
				t.Errorf("%s: %+v", name, res.Findings)
			} else if named && (res.Findings[0].Step.Mid < 60e6 || res.Findings[0].Step.Mid > 85e6) {
				t.Errorf("%s saves %+v", name, res.Findings[0].Step)
			}
		}
	}
}

// Keys and values that are copied for each head of queries are named on a device, where attention can share them; not copies that something
// else reads, nor those that are no repetition.
func TestHeadsThatShareKeys(t *testing.T) {
	expand := tracedOp{0, "aten::expand", "[[8, 4, 1, 512, 64], [], []]", "", -1, nil}
	copied := func(strides string) tracedOp {
		shape := "[8, 4, 4, 512, 64]"
		return tracedOp{20, "aten::reshape", "[" + shape + ", []]", "", -1,
			[]tracedOp{{19, "aten::clone", "[" + shape + ", []]|[" + strides + ", []]", "", -1, nil}}}
	}
	twice := copied("[131072, 32768, 0, 64, 1]")
	attends := func(keys string) tracedOp {
		return tracedOp{10, "aten::scaled_dot_product_attention", "[[8, 16, 1, 64], " + keys + ", " + keys + ", []]", "", -1, nil}
	}
	shared, rest := attends("[8, 16, 512, 64]"), tracedOp{50, "aten::mm", "[[64, 64], [64, 64]]", "", -1, nil}
	for name, c := range map[string]struct {
		ops  []tracedOp
		want bool
	}{
		"grouped queries":      {[]tracedOp{expand, twice, expand, twice, shared, rest}, true},
		"no repetition":        {[]tracedOp{copied("[524288, 32768, 131072, 64, 1]"), shared, rest}, false},
		"of other keys":        {[]tracedOp{expand, twice, attends("[8, 16, 128, 64]"), rest}, false},
		"read by something":    {[]tracedOp{expand, twice, rest}, false},
		"without their places": {[]tracedOp{expand, copied("[]"), shared, rest}, false},
	} {
		p := launched(c.ops...)
		p.S.Environment.Torch = "2.11.0"
		res, _ := find(t, p)
		if named := len(res.Findings) > 0 && res.Findings[0].Sub == "heads"; named != c.want {
			t.Errorf("%s: %+v", name, res.Findings)
		} else if named && (res.Findings[0].Step.Mid < 30e6 || res.Findings[0].Step.Mid > 45e6) {
			t.Errorf("%s saves %+v", name, res.Findings[0].Step)
		}
		p = launched(c.ops...)
		p.S.Environment.Torch = "2.4.1"
		if res, _ := find(t, p); len(res.Findings) > 0 && res.Findings[0].Sub == "heads" {
			t.Errorf("%s: named for a PyTorch that cannot share them", name)
		}
	}
}

// Products and cosines of all pairs that are written by broadcasting are named, on a device as well; not where the product is used
// otherwise.
func TestProductsOfAllPairs(t *testing.T) {
	spread, table := "[[512, 1, 8], [1, 512, 8]]", "[[512, 512, 8], [], []]"
	product := tracedOp{30, "aten::mul", spread, "", 7, nil}
	sum := tracedOp{10, "aten::sum", table, `["", "[-1]", "False", ""]`, 8, nil}
	cosines := func(dim string) tracedOp {
		return tracedOp{40, "aten::cosine_similarity", "[[512, 1, 8], [1, 512, 8], [], []]", `["", "", "` + dim + `", "1e-8"]`, 7, nil}
	}
	alike := tracedOp{40, "aten::cosine_similarity", "[[512, 8], [512, 8], [], []]", `["", "", "-1"]`, 7, nil}
	passes := tracedOp{30, "autograd::engine::evaluate_function: MulBackward0", "", "", 7, nil}
	rest := tracedOp{30, "aten::mm", "[[512, 64], [64, 64]]", "", -1, nil}
	for name, c := range map[string]struct {
		ops  []tracedOp
		want bool
	}{
		"a product and a sum": {[]tracedOp{product, sum, passes, rest}, true},
		"cosines":             {[]tracedOp{cosines("-1"), passes, rest}, true},
		"along other numbers": {[]tracedOp{cosines("1"), passes, rest}, false},
		"row by row":          {[]tracedOp{alike, passes, rest}, false},
		"spread one way":      {[]tracedOp{{30, "aten::mul", "[[512, 512, 8], [512, 1, 8]]", "", 7, nil}, sum, passes, rest}, false},
		"one with many": {[]tracedOp{{40, "aten::cosine_similarity", "[[1, 256], [4096, 256], [], []]",
			`["", "", "1", "1e-8"]`, 7, nil}, passes, rest}, true},
		"one with few": {[]tracedOp{{40, "aten::cosine_similarity", "[[1, 256], [8, 256], [], []]",
			`["", "", "1", "1e-8"]`, 7, nil}, passes, rest}, false},
		"another sum":       {[]tracedOp{product, {10, "aten::sum", table, `["", "[0]", "False", ""]`, 8, nil}, passes, rest}, false},
		"something between": {[]tracedOp{product, rest, sum, passes}, false},
	} {
		for _, p := range []*testkit.Program{hots(c.ops...), launched(c.ops...)} {
			res, _ := find(t, p)
			if named := len(res.Findings) > 0 && res.Findings[0].Sub == "products"; named != c.want {
				t.Errorf("%s: %+v", name, res.Findings)
			}
		}
	}
}

// Tables of all pairs of which only the diagonal is used are named from the product on, with what is computed of them and their backward
// passes; not where something else reads them, nor what a product of tables needs of another one.
func TestDiagonalsOfTables(t *testing.T) {
	product := tracedOp{40, "aten::matmul", "[[512, 64], [64, 512]]", "", 7, []tracedOp{
		{40, "aten::mm", "[[512, 64], [64, 512]]", "", 7, []tracedOp{{0, "aten::resolve_conj", "[[512, 512]]", "", -1, nil}}}}}
	half := product
	half.ms = 20
	minus := tracedOp{20, "aten::sub", "[[512, 512], [512, 512], []]", "", 8, nil}
	diagonal := tracedOp{1, "aten::diagonal", "[[512, 512], [], [], []]", "", 9, nil}
	passes := tracedOp{10, "autograd::engine::evaluate_function: MmBackward0", "", "", 7, nil}
	rest := tracedOp{28, "aten::mm", "[[64, 64], [64, 64]]", "", -1, nil}
	reads := func(name string) tracedOp { return tracedOp{2, name, "[[512, 512], []]", "", -1, nil} }
	square := tracedOp{40, "aten::mm", "[[512, 512], [512, 512]]", "", -1, nil}
	trace := tracedOp{1, "aten::trace", "[[512, 512]]", "", -1, nil}
	batches := tracedOp{60, "aten::bmm", "[[4, 512, 64], [4, 64, 512]]", "", 7, nil}
	ofBatches := tracedOp{1, "aten::diagonal", "[[4, 512, 512], [], [], []]", "", 9, nil}
	small := tracedOp{60, "aten::mm", "[[100, 64], [64, 100]]", "", 7, nil}
	for name, c := range map[string]struct {
		ops       []tracedOp
		low, high float64 // ms
	}{
		"variances":                     {[]tracedOp{product, minus, diagonal, rest, passes}, 60, 80},
		"and a next step":               {[]tracedOp{product, minus, diagonal, passes, product, minus, diagonal, passes, rest}, 60, 95},
		"less another product":          {[]tracedOp{half, minus, half, minus, diagonal, passes}, 85, 100},
		"of several":                    {[]tracedOp{batches, ofBatches, rest, passes}, 60, 80},
		"a trace of a product":          {[]tracedOp{square, trace, rest}, 45, 70},
		"of products one after another": {[]tracedOp{square, square, trace}, 42, 60},
		"with its other numbers":        {[]tracedOp{product, diagonal, reads("aten::logsumexp"), rest, passes}, 0, 0},
		"with softmax before":           {[]tracedOp{product, reads("aten::_softmax"), diagonal, rest, passes}, 0, 0},
		"sums of exponents":             {[]tracedOp{product, reads("aten::logsumexp"), diagonal, rest, passes}, 0, 0},
		"a part of it":                  {[]tracedOp{product, reads("aten::slice"), diagonal, rest, passes}, 0, 0},
		"distances by Gram's matrix":    {[]tracedOp{product, diagonal, minus, rest, passes}, 0, 0},
		"a factor of a covariance":      {[]tracedOp{product, reads("aten::linalg_cholesky_ex"), diagonal, rest, passes}, 0, 0},
		"few rows":                      {[]tracedOp{small, {1, "aten::diagonal", "[[100, 100]]", "", 9, nil}, rest}, 0, 0},
		"no diagonal":                   {[]tracedOp{product, minus, rest, passes}, 0, 0},
	} {
		for _, p := range []*testkit.Program{hots(c.ops...), launched(c.ops...)} {
			res, _ := find(t, p)
			named := len(res.Findings) > 0 && res.Findings[0].Sub == "diagonal"
			if named != (c.high > 0) {
				t.Errorf("%s: %+v", name, res.Findings)
			} else if ms := res.Findings[0].Step.Mid / 1e6; named && (ms < c.low || ms > c.high) {
				t.Errorf("%s saves %v ms", name, ms)
			}
		}
	}
}

// Products with a matrix of which the first calls of a model showed that nearly all of it is zero are named with their backward passes; so
// is its dropout; not those with another one, nor what is added to a product.
func TestMatricesOfZeros(t *testing.T) {
	product := func(name, shapes string) tracedOp { return tracedOp{50, name, shapes, "", 7, nil} }
	passes := tracedOp{30, "autograd::engine::evaluate_function: MmBackward0", "", "", 7, nil}
	rest := tracedOp{20, "aten::relu", "[[64, 128]]", "", -1, nil}
	for name, c := range map[string]struct {
		op    tracedOp
		calls int
		want  bool
	}{
		"a graph":           {product("aten::mm", "[[5000, 5000], [5000, 64]]"), 3, true},
		"behind":            {product("aten::addmm", "[[64], [64, 5000], [5000, 5000], [], []]"), 9, true},
		"two calls":         {product("aten::mm", "[[5000, 5000], [5000, 64]]"), 2, false},
		"another matrix":    {product("aten::mm", "[[5000, 400], [400, 64]]"), 9, false},
		"what is added":     {product("aten::addmm", "[[5000, 5000], [5000, 9], [9, 5000], [], []]"), 9, false},
		"no matrix is zero": {product("aten::mm", "[[0, 0], [0, 64]]"), 0, false},
		"its dropout":       {product("aten::dropout", "[[5000, 5000], [], []]"), 3, true},
		"another's dropout": {product("aten::dropout", "[[5000, 64], [], []]"), 3, false},
	} {
		p := hots(c.op, passes, rest)
		for range c.calls {
			p.P.Asked = append(p.P.Asked, model.Asked{Module: 1, Zeros: [2]int64{5000, 5000}})
		}
		p.P.Asked = append(p.P.Asked, model.Asked{Module: 1})
		res, _ := find(t, p)
		found := len(res.Findings) > 0 && res.Findings[0].Cause == finding.MemoryBound && res.Findings[0].Sub == "zeros"
		if found != c.want || found && (textOf(res.Findings[0].Fix.Advice, "memory.fix-zeros-dropped") != "") != (name == "its dropout") {
			t.Errorf("%s: %+v", name, res.Findings)
		}
	}
}

// Two products in a row are named where the other order takes far fewer multiplications, whichever operand the first one gives, also with a
// number between them; not where anything else stands there, or where the order is right.
func TestOrderOfProducts(t *testing.T) {
	op := func(name, shapes string) tracedOp {
		return tracedOp{20, "aten::einsum", "", "", 7, []tracedOp{{18, name, shapes, "", 7, nil}}}
	}
	scores, values := op("aten::bmm", "[[8, 1024, 16], [8, 16, 1024]]"), op("aten::bmm", "[[8, 1024, 1024], [8, 1024, 16]]")
	view := tracedOp{0, "aten::permute", "[[8, 1024, 1024], []]", "", 7, nil}
	scale := tracedOp{1, "aten::mul", "[[8, 1024, 1024], []]", "", 7, nil}
	mask := tracedOp{1, "aten::mul", "[[8, 1024, 1024], [1024, 1024]]", "", 7, nil}
	softmax := tracedOp{1, "aten::softmax", "[[8, 1024, 1024], [], []]", "", 7, nil}
	passes := tracedOp{30, "autograd::engine::evaluate_function: BmmBackward0", "", "", 7, nil}
	rest := tracedOp{20, "aten::relu", "[[64, 128]]", "", -1, nil}
	weights, rows := op("aten::mm", "[[512, 4], [4, 512]]"), op("aten::mm", "[[32, 512], [512, 512]]")
	both := tracedOp{40, "aten::_scaled_dot_product_attention_math", "", "", 7, []tracedOp{scores.inside[0], values.inside[0]}}
	for name, c := range map[string]struct {
		ops  []tracedOp
		want bool
	}{
		"attention without softmax": {[]tracedOp{scores, view, values, passes, rest}, true},
		"with a number between":     {[]tracedOp{scores, scale, values, passes, rest}, true},
		"the second operand":        {[]tracedOp{weights, view, rows, passes, rest}, true},
		"a softmax":                 {[]tracedOp{scores, softmax, values, passes, rest}, false},
		"a mask":                    {[]tracedOp{scores, mask, values, passes, rest}, false},
		"in one operator":           {[]tracedOp{both, passes, rest}, false},
		"in the right order":        {[]tracedOp{values, scores, passes, rest}, false},
		"apart":                     {[]tracedOp{scores, rest, values, passes}, false},
	} {
		res, _ := find(t, hots(c.ops...))
		found := len(res.Findings) > 0 && res.Findings[0].Cause == finding.MemoryBound && res.Findings[0].Sub == "order"
		if found != c.want {
			t.Errorf("%s: %+v", name, res.Findings)
		}
	}
}

// A matrix that is multiplied by one-hot vectors is named, with the backward pass of the product; one-hot labels beside scores of the same
// shape are none.
func TestOneHotVectors(t *testing.T) {
	scatter := tracedOp{2, "aten::scatter_", "[[64, 20000], [], [64, 1], []]", "", -1, nil}
	oneHot := tracedOp{10, "aten::one_hot", "[[64], []]", "", -1, []tracedOp{scatter}}
	convert := tracedOp{5, "aten::to", "[[64, 20000], [], [], [], []]", "", -1, nil}
	product := func(shapes string) tracedOp {
		return tracedOp{20, "aten::linear", shapes, "", -1, []tracedOp{{18, "aten::mm", shapes, "", 7, nil}}}
	}
	first := product("[[64, 20000], [20000, 128]]")
	other := product("[[64, 128], [128, 20000]]")
	passes := tracedOp{30, "autograd::engine::evaluate_function: MmBackward0", "", "", 7, nil}
	rest := tracedOp{35, "aten::relu", "[[64, 128]]", "", -1, nil}
	weighed := tracedOp{5, "aten::mul", "[[64, 20000], [64, 20000]]", "", -1, nil}
	several := tracedOp{2, "aten::scatter_", "[[64, 20000], [], [64, 9], []]", "", -1, nil}
	byHand := tracedOp{10, "aten::zeros", "[[]]", "", -1, nil}
	for name, c := range map[string]struct {
		ops   []tracedOp
		saves float64 // ms per step, 0: no finding
	}{
		"a layer":        {[]tracedOp{oneHot, convert, first, passes, rest}, 65},
		"by hand":        {[]tracedOp{byHand, scatter, first, passes, rest}, 62 * 100. / 97},
		"labels":         {[]tracedOp{other, oneHot, convert, weighed, passes, rest}, 0},
		"something else": {[]tracedOp{oneHot, convert, rest, first, passes}, 0},
		"many a row":     {[]tracedOp{byHand, several, first, passes, rest}, 0},
	} {
		res, _ := find(t, hots(c.ops...))
		if c.saves > 0 {
			f := want(t, res, finding.MemoryBound, "one-hot", 12, c.saves)
			if f.Step.Low <= 0 {
				t.Errorf("%s: %+v", name, f.Step)
			}
		} else if len(res.Findings) > 0 && res.Findings[0].Sub == "one-hot" {
			t.Errorf("%s: %s", name, res.Findings[0].Title)
		}
	}
}

// A layer's answers are named where the next operator takes few of its places, and nothing else reads them before it is called again.
func TestAnswersThatNothingReads(t *testing.T) {
	layer := tracedOp{50, "aten::linear", "[[8, 64, 32], [9000, 32], [9000]]", "[]", 7, nil}
	other := tracedOp{10, "aten::linear", "[[8, 64, 32], [64, 32], [64]]", "[]", 3, nil}
	taken := func(name, concrete string) tracedOp {
		return tracedOp{1, name, "[[8, 64, 9000], [], []]", concrete, 8, nil}
	}
	last := taken("aten::select", `["", "1", "-1"]`)
	passes := tracedOp{30, "autograd::engine::evaluate_function: AddmmBackward0", "", "", 7, nil}
	reads := tracedOp{5, "aten::view", "[[8, 64, 9000], []]", "[]", 9, nil}
	four := taken("aten::slice", `["", "1", "-4", "9223372036854775807", "1"]`)
	all := taken("aten::slice", `["", "0", "0", "9223372036854775807", "1"]`)
	butLast := taken("aten::slice", `["", "1", "0", "-1", "1"]`)
	softmax := tracedOp{10, "aten::log_softmax", "[[8, 63, 9000], [], []]", `["", "-1", ""]`, 8, nil}
	across := tracedOp{10, "aten::log_softmax", "[[8, 63, 9000], [], []]", `["", "1", ""]`, 8, nil}
	chosen := tracedOp{2, "aten::gather", "[[8, 63, 9000], [], [8, 63, 1], []]", `["", "-1", "", "False"]`, 9, nil}
	squeezed := tracedOp{0, "aten::squeeze", "[[8, 63, 1], []]", `["", "-1"]`, 10, nil}
	end := tracedOp{0, "aten::slice", "[[8, 63], [], [], [], []]", `["", "1", "55", "9223372036854775807", "1"]`, 11, nil}
	words := tracedOp{0, "aten::unsqueeze", "[[8, 63], []]", "[]", 12, nil}
	entropy := tracedOp{5, "aten::sum", "[[8, 63, 9000], [], [], []]", `["", "[-1]", "False", ""]`, 12, nil}
	for name, c := range map[string]struct {
		ops   []tracedOp
		saves float64 // ms per step, 0: no finding
	}{
		"the last place":     {[]tracedOp{other, layer, last, passes}, 81 * 63. / 64 * 100 / 91},
		"after a whole one":  {[]tracedOp{other, layer, all, last, passes}, 82 * 63. / 64 * 100 / 92},
		"a slice of the end": {[]tracedOp{other, layer, four, passes}, 81 * 60. / 64 * 100 / 91},
		"of words' chances":  {[]tracedOp{other, layer, butLast, softmax, chosen, squeezed, end, words, passes}, 93 * 55. / 63 * 100 / 103},
		"whose sum is read":  {[]tracedOp{other, layer, butLast, softmax, chosen, squeezed, entropy, end, passes}, 0},
		"over places":        {[]tracedOp{other, layer, butLast, across, end, passes}, 0},
		"most of them":       {[]tracedOp{other, layer, taken("aten::slice", `["", "1", "1", "9223372036854775807", "1"]`), passes}, 0},
		"one of the batch":   {[]tracedOp{other, layer, taken("aten::select", `["", "0", "0"]`), passes}, 0},
		"a loss reads all":   {[]tracedOp{other, layer, last, reads, passes}, 0},
		"read before":        {[]tracedOp{other, layer, reads, last, passes}, 0},
		"each in turn":       {[]tracedOp{other, layer, last, last, passes}, 0},
	} {
		res, _ := find(t, hots(c.ops...))
		if c.saves > 0 {
			want(t, res, finding.Padding, "unread", 12, c.saves)
		} else if len(res.Findings) > 0 && res.Findings[0].Sub == "unread" {
			t.Errorf("%s: %s", name, res.Findings[0].Title)
		}
	}
}

// TestFiltersOfManyTaps: convolutions along a signal with a filter of many taps are named with their backward passes; not short ones, those
// of many channels, and those that go on by several places at once, as of a spectrogram.
func TestFiltersOfManyTaps(t *testing.T) {
	along := func(input, window, stride string) tracedOp {
		return tracedOp{50, "aten::convolution", "[" + input + ", " + window + ", [], [], [], [], [], [], []]",
			`["", "", "", "[` + stride + `]", "[0]", "[1]", "False", "[0]", "1"]`, 7, nil}
	}
	passes := tracedOp{30, "autograd::engine::evaluate_function: ConvolutionBackward0", "", "", 7, nil}
	rest := tracedOp{20, "aten::mm", "[[512, 64], [64, 64]]", "", -1, nil}
	for name, c := range map[string]struct {
		op   tracedOp
		want bool
	}{
		"a room":         {along("[16, 1, 16000]", "[1, 1, 4000]", "1"), true},
		"a short filter": {along("[16, 1, 16000]", "[1, 1, 80]", "1"), false},
		"a spectrogram":  {along("[16, 1, 16000]", "[1026, 1, 1024]", "256"), false},
		"every fourth":   {along("[16, 1, 16000]", "[1, 1, 4000]", "4"), false},
		"learnt filters": {along("[16, 1, 16000]", "[80, 1, 251]", "1"), false},
	} {
		res, _ := find(t, hots(c.op, passes, rest))
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "long-filter" })
		if (i >= 0) != c.want {
			t.Errorf("%s: %+v", name, res.Findings)
		} else if i >= 0 && (res.Findings[i].Step.Mid < 60e6 || res.Findings[i].Step.Mid > 80e6) {
			t.Errorf("%s: saves %+v of 80 ms", name, res.Findings[i].Step)
		}
	}
}

// TestTablesOfWindows: a table of all windows of pictures and its product with weights that are the same at each place are named with their
// backward passes; not where each place has weights of its own, or where something else reads the table.
func TestTablesOfWindows(t *testing.T) {
	table := tracedOp{30, "aten::im2col", "[[32, 32, 48, 48], [], [], [], []]", `["", "[3, 3]", "[1, 1]", "[1, 1]", "[1, 1]"]`, 7, nil}
	product := tracedOp{20, "aten::matmul", "[[32, 288], [32, 288, 2304]]", "", 8, nil}
	each := tracedOp{20, "aten::matmul", "[[32, 2304, 1, 288], [32, 2304, 288, 4]]", "", 8, nil}
	passes := tracedOp{30, "autograd::engine::evaluate_function: Im2ColBackward0", "", "", 7, nil}
	rest := tracedOp{20, "aten::mm", "[[512, 64], [64, 64]]", "", -1, nil}
	for name, c := range map[string]struct {
		ops  []tracedOp
		want bool
	}{
		"a convolution":     {[]tracedOp{table, product, passes, rest}, true},
		"a view between":    {[]tracedOp{table, {0, "aten::transpose", "[[32, 288, 2304]]", "", -1, nil}, product, passes, rest}, true},
		"weights of places": {[]tracedOp{table, each, passes, rest}, false},
		"a median":          {[]tracedOp{table, {20, "aten::median", "[[32, 288, 2304]]", "", 8, nil}, passes, rest}, false},
		"read before":       {[]tracedOp{table, rest, product, passes}, false},
	} {
		res, _ := find(t, hots(c.ops...))
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "unfolded" })
		if (i >= 0) != c.want {
			t.Errorf("%s: %+v", name, res.Findings)
		} else if i >= 0 && (res.Findings[i].Step.Mid < 40e6 || res.Findings[i].Step.Mid > 80e6) {
			t.Errorf("%s: saves %+v of 80 ms", name, res.Findings[i].Step)
		}
	}
}
