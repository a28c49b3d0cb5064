package cause_test

import (
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/analyse/cause/finding"
	devices "bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"bottleneck/internal/testkit/slowtrace"
)

// attends is what a program of attentionProgram does.
type attends struct {
	places  int // the matrix of weights has 8 times places times places numbers
	mask    bool
	dropout bool
	infers  bool
	module  bool // PyTorch's own
	once    bool // by the one call
	noShape bool
	heads   int  // one after the other, each with a layer of its own
	between bool // something else lies between two of them
}

// attentionProgram has steps of 100 ms: 20 in a layer, 30 in attention and, unless it infers, 50 backwards, of which 30 are attention's.
func attentionProgram(is attends) *testkit.Program {
	p := testkit.NewProgram()
	attend := testkit.Native(30, module, loop(40), user("attend", 10, 14))
	if is.module {
		attend = testkit.Native(30, module, loop(40), user("attend", 10, 14), torchFrame("nn/modules/module.py", "Module._call_impl"),
			torchFrame("nn/functional.py", "multi_head_attention_forward"))
	}
	linear := testkit.Native(20, module, loop(40), user("forward", 20, 22), torchFrame("nn/modules/linear.py", "forward"))
	acts := []testkit.Act{linear, attend}
	if !is.infers {
		acts = append(acts, testkit.Native(50, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")))
	}
	p.Steps(20, model.PhaseBaseline, acts...)
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T, Features: model.Features{Shapes: !is.noShape}}
	ev, now, sequence := &t.Events, p.T, int64(0)
	add := func(ms int, name, shapes string, number int64, calls bool) {
		if is.noShape {
			shapes = ""
		}
		id := model.EventID(ev.Len())
		p.Event(ev, now, model.Dur(ms)*1e6, name, model.KindOp, model.NoEvent, int32(len(ev.OpDetails)))
		if calls {
			p.Event(ev, now, model.Dur(ms)*1e6/2, "aten::bernoulli_", model.KindOp, id, -1)
		}
		ev.OpDetails = append(ev.OpDetails, model.OpDetail{Sequence: number, Args: uint32(len(ev.OpArgs))})
		ev.OpArgs = append(ev.OpArgs, model.OpArgs{Shapes: p.S.Strings.Intern(shapes)})
		now += model.Time(ms) * 1e6
	}
	forward := func(ms int, name, shapes string) { add(ms, name, shapes, sequence, false); sequence++ }
	weights := fmt.Sprintf("[8, %d, %d]", is.places, is.places)
	values := fmt.Sprintf("[8, %d, 64]", is.places)
	for range 3 {
		sequence = int64(100 * ev.Len())
		first := sequence
		p.Steps(1, model.PhaseDetail, acts...)
		forward(19, "aten::linear", "["+values+"]")
		forward(1, "aten::layer_norm", "["+values+"]")
		for range is.heads {
			forward(1, "aten::linear", "["+values+"]")
			forward(2, "aten::matmul", "["+values+"]")
			forward(1, "aten::softmax", "["+weights+"]")
			if is.between {
				forward(1, "aten::linear", "["+values+"]")
				forward(1, "aten::matmul", "["+weights+", "+values+"]")
				forward(0, "aten::layer_norm", "["+values+"]")
				continue
			}
			forward(2, "aten::matmul", "["+weights+", "+values+"]")
		}
		switch {
		case is.heads > 0:
		case is.once:
			forward(30, "aten::scaled_dot_product_attention", "["+values+"]")
		default:
			forward(10, "aten::matmul", "["+values+"]")
			if is.mask {
				forward(5, "aten::masked_fill", "["+weights+"]")
			} else {
				forward(5, "aten::div", "["+weights+"]")
			}
			forward(4, "aten::softmax", "["+weights+"]")
			add(1, "aten::dropout", "["+weights+"]", sequence, is.dropout)
			sequence++
			forward(10, "aten::matmul", "["+weights+", "+values+"]")
		}
		if !is.infers {
			add(20, "autograd::engine::evaluate_function: MmBackward0", "", first, false)
			add(20, "autograd::engine::evaluate_function: BmmBackward0", "", first+2, false)
			add(10, "autograd::engine::evaluate_function: DivBackward0", "", first+3, false)
		}
	}
	t.To = p.T
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
	return p
}

// Heads that are computed one after the other are named as a loop, whatever the size of their matrices; blocks of a model, and a few heads,
// are not.
func TestHeadsOneByOne(t *testing.T) {
	for name, c := range map[string]struct {
		is    attends
		found bool
	}{
		"five heads":               {attends{places: 32, heads: 5}, true},
		"five heads of many":       {attends{places: 512, heads: 5}, true},
		"three heads":              {attends{places: 32, heads: 3}, false},
		"five blocks":              {attends{places: 32, heads: 5, between: true}, false},
		"five heads, no shapes":    {attends{places: 32, heads: 5, noShape: true}, false},
		"heads in one computation": {attends{places: 32}, false},
	} {
		t.Run(name, func(t *testing.T) {
			res, _ := find(t, attentionProgram(c.is))
			f := res.Findings[0]
			if found := f.Cause == finding.Launch && f.Sub == "heads"; found != c.found {
				t.Fatalf("%s/%s first", f.Cause, f.Sub)
			}
			if c.found && (f.Where.Line != 14 || math.Abs(f.Step.Mid/1e6-0.37*60) > 2) {
				t.Errorf("at line %d, %+v", f.Where.Line, f.Step)
			}
		})
	}
}

// Attention that is written out stands at its lines, backwards included; the price follows what was measured of masks, dropout and
// inference.
func TestAttentionThatIsWrittenOut(t *testing.T) {
	for name, one := range map[string]struct {
		is       attends
		mid, all float64 // ms a step
		says     string
	}{
		"trains":        {attends{places: 512}, 24, 60, "scaled_dot_product_attention"},
		"masked":        {attends{places: 512, mask: true}, 24, 60, "scaled_dot_product_attention"},
		"drops":         {attends{places: 512, mask: true, dropout: true}, 9, 60, "scaled_dot_product_attention"},
		"infers":        {attends{places: 1024, infers: true}, 14.1, 30, "scaled_dot_product_attention"},
		"no shapes":     {attends{places: 512, noShape: true}, 24, 60, "scaled_dot_product_attention"},
		"PyTorch's own": {attends{places: 512, module: true}, 24, 60, "need_weights=False"},
	} {
		t.Run(name, func(t *testing.T) {
			res, _ := find(t, attentionProgram(one.is))
			f := want(t, res, finding.MemoryBound, "attention", 14, one.mid)
			if f.Step.High >= one.all*1e6 || f.Step.Low > 0.45*one.mid*1e6 || !strings.Contains(f.Fix.Advice[0].String(), one.says) {
				t.Errorf("%+v %s", f.Step, f.Fix.Advice)
			}
		})
	}
	for name, is := range map[string]attends{
		"small":                {places: 256},
		"drops without a mask": {places: 512, dropout: true},
		"by the one call":      {places: 512, once: true},
	} {
		res, _ := find(t, attentionProgram(is))
		for _, f := range res.Findings {
			if f.Sub == "attention" {
				t.Errorf("%s: %s", name, f.Title)
			}
		}
	}
	for line, changed := range map[string]string{
		"h, _ = self.attention(h, h, h)":                   "h, _ = self.attention(h, h, h, need_weights=False)",
		"x = x + self.drop(self.attn(x, x, x)[0])":         "x = x + self.drop(self.attn(x, x, x, need_weights=False)[0])",
		"h, w = self.attention(h, h, h)":                   "",
		"h, _ = self.attention(h, h, h, need_weights=yes)": "",
		"return self.attn(x, x, x)":                        "",
	} {
		p := attentionProgram(attends{places: 512, module: true})
		lines := make([]string, 14)
		lines[13] = "        " + line
		p.S.Sources["/home/u/lib.py"] = &model.Source{Path: "/home/u/lib.py", Lines: lines}
		res, _ := find(t, p)
		if got := res.Findings[0].Fix.Action; got.New != changed {
			t.Errorf("%s becomes %q", line, got.New)
		}
	}
	brief := attentionProgram(attends{places: 512, noShape: true})
	for i, d := range brief.S.Traces[0].Events.Dur {
		brief.S.Traces[0].Events.Dur[i] = d / 4
	}
	if res, _ := find(t, brief); res.Findings[0].Sub == "attention" {
		t.Error("a softmax of 1 ms is not one of a large matrix")
	}
	old := attentionProgram(attends{places: 512})
	old.S.Environment.Torch = "2.0.1"
	if res, _ := find(t, old); res.Findings[0].Sub == "attention" {
		t.Error("the one call computes the same in steps there")
	}
}

// In traces from elsewhere it is told by the order of operators; its element-wise kernels are not named twice.
func TestTracedAttentionOnRealTraces(t *testing.T) {
	for path, share := range map[string]float64{
		"tracelens-big-mi300/mi300_owlv2-large.json.gz":                 0.17,
		"segment-anything-fast/eager_False.json.gz":                     0, // 2.6 %
		"tracelens-qwen-h100-vs-mi300/h100_Qwen1.5-0.5B-Chat.json.gz":   0,
		"tracelens-vit-h100-vs-mi300/h100_nsfw_image_detection.json.gz": 0,
	} {
		var s model.Strings
		trace := slowtrace.Read(t, filepath.Join(slowtrace.Folder(), path), &s)
		if trace == nil {
			continue
		}
		w := device.NewWork(trace, &s)
		built, ok := devices.NewTraced(w.GPUs(), device.Kernels([]*model.Trace{trace}, &s), []devices.TracePart{devices.PartOf(w)})
		if !ok {
			t.Fatal(path)
		}
		named := 0.0
		for _, f := range cause.FindTraced(built, &model.Session{Strings: &s, Traces: []*model.Trace{trace}}).Findings {
			if f.Sub == "attention" {
				named += f.Share
			}
		}
		if named < share-0.01 || named > share+0.01 {
			t.Errorf("%s: %.3f", path, named)
		}
	}
}
