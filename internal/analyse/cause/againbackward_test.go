package cause_test

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// backwards is a training whose steps call these operators and nodes, 10 ms each. f5 is the forward operator that makes node 5; b5 is that
// node in a pass, and b5>9 makes node 9 meanwhile, which a later pass calls as e9; sum5 is the node of a sum, split5 that of an operator
// with four outputs, and own5 the program's own. b5+ hands on to a parameter that has no gradient, and b5++ to one that has. step and
// zero_grad are an optimizer's; another word is an operator of 1 ms that no gradient goes through. A helper asks for the
// passes, from the lines 20 and 21 in turn. With a device its own thread calls the nodes.
func backwards(device bool, words string) *testkit.Program {
	const ms, engine = 1_000_000, 101
	p := testkit.NewProgram()
	calls := strings.Fields(words)
	var acts []testkit.Act
	line, long := 20, func(w string) bool { return strings.ContainsAny(w[len(w)-1:], "0123456789+") }
	for _, w := range calls {
		asks := []testkit.Frame{module, loop(40), user("residuals", 18, line), user("gradient", 10, 12), torchFrame("autograd/graph.py",
			"_engine_run_backward")}
		switch {
		case !long(w):
			acts = append(acts, testkit.Native(1, asks[:4]...))
			if w == "ones_like" {
				line = 41 - line
			}
		case w[0] == 'f':
			acts = append(acts, testkit.Native(10, module, loop(39), user("forward", 2, 4), torchFrame("nn/modules/linear.py", "forward")))
		case device:
			acts = append(acts, testkit.Blocked(10, asks...))
		default:
			acts = append(acts, testkit.Native(10, asks...))
		}
	}
	p.Steps(40, model.PhaseBaseline, acts...)
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T}
	ev := &t.Events
	op := func(start model.Time, dur model.Dur, name string, parent model.EventID, number int64, thread int32, lane model.LaneID) {
		ev.OpDetails = append(ev.OpDetails, model.OpDetail{Sequence: number, FwdThread: thread})
		ev.Lane[p.Event(ev, start, dur, name, model.KindOp, parent, int32(len(ev.OpDetails)-1))] = lane
	}
	var traced []model.Time
	for range 3 {
		traced = append(traced, p.T)
		p.Steps(1, model.PhaseTrace, acts...)
	}
	of := func(nodes bool, lane model.LaneID) (first, end model.EventID) {
		first = model.EventID(ev.Len())
		for _, at := range traced {
			for _, w := range calls {
				node := long(w) && w[0] != 'f'
				kind, rest, _ := strings.Cut(strings.TrimRight(w, "+"), ">")
				number, _ := strconv.ParseInt(strings.TrimLeft(kind, "abcdefghijklmnopqrstuvwxyz"), 10, 64)
				made, _ := strconv.ParseInt(rest, 10, 64)
				kind = strings.TrimRight(kind, "0123456789")
				dur := model.Dur(ms)
				if long(w) {
					dur *= 10
				}
				switch id := model.EventID(ev.Len()); {
				case node && nodes:
					name := map[string]string{"b": "AddmmBackward0", "e": "MmBackward0", "sum": "SumBackward0", "split": "SplitBackward0",
						"own": "MineBackward"}[kind]
					thread := int32(1)
					if device && kind == "e" {
						thread = 2
					}
					op(at, dur, "autograd::engine::evaluate_function: "+name, model.NoEvent, number, thread, lane)
					if strings.HasSuffix(w, "+") {
						ev.Dur[id] -= ms
						last := at + 9*ms
						op(last, ms, "autograd::engine::evaluate_function: torch::autograd::AccumulateGrad", model.NoEvent, -1, 0, lane)
						op(last, ms/2, "torch::autograd::AccumulateGrad", id+1, -1, 0, lane)
						op(last, ms/4, "aten::"+map[bool]string{true: "add_", false: "detach"}[strings.HasSuffix(w, "++")], id+2, -1, 0, lane)
					}
					for range 3 * finding.Btoi(kind == "split") {
						op(at, ms, "aten::zeros", id, -1, 0, lane)
					}
					if made > 0 {
						op(at+ms, ms, "aten::mm", id, made, 0, lane)
					}
				case (w == "step" || w == "zero_grad") && (!nodes || !device):
					dur *= model.Dur(1 + 2*finding.Btoi(w == "zero_grad")) // two operators after it are its own
					ev.Lane[p.Event(ev, at, dur, "Optimizer."+w+"#Adam."+w, model.KindAnnotation, model.NoEvent, -1)] = lane
					dur = ms
				case !node && !nodes || !node && !device:
					name := "aten::" + kind
					if kind == "f" {
						name = "aten::addmm"
					} else {
						number = -1
					}
					op(at, dur, name, model.NoEvent, number, 0, lane)
				}
				if device && long(w) && node == nodes {
					ev.Lane[p.Event(ev, at+2*ms, 10_000, "cudaLaunchKernel", model.KindRuntime, model.NoEvent, -1)] = lane
				}
				at += model.Time(dur)
			}
		}
		return first, model.EventID(ev.Len())
	}
	if !device {
		_, end := of(true, 0)
		t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), EndEvent: end}}
	} else {
		_, own := of(false, 0)
		_, theirs := of(true, 1)
		for id := range theirs {
			if ev.Kind[id] == model.KindRuntime {
				k := p.Event(ev, ev.Start[id]+ms, 10*ms, "gemm", model.KindKernel, model.NoEvent, -1)
				ev.Link[k], ev.Lane[k] = id, 2
			}
		}
		t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), EndEvent: own},
			{Kind: model.LaneThread, Thread: engine, FirstEvent: own, EndEvent: theirs},
			{Kind: model.LaneStream, FirstEvent: theirs, EndEvent: model.EventID(ev.Len())}}
	}
	t.To = p.T
	p.S.Traces = append(p.S.Traces, t)
	return p
}

// Passes from one output in one direction are named with what they cost, at the line that asks for them; others are not.
func TestGoingBackwardAgain(t *testing.T) {
	for _, c := range []struct {
		name, words string
		again       float64 // ms of a step
	}{
		{"three inputs", "f3 f4 f5 ones_like b5 b4 b3 ones_like b5 b4 b3 ones_like b5 b4 b3 f6 ones_like b6", 60},
		{"without anything between", "f3 f4 ones_like b4 b3 b4 b3 f6 ones_like b6", 20},
		{"sums of one output", "f3 f4 sum ones_like sum5 b4 b3 sum ones_like sum6 b4 b3 f7 ones_like b7", 20},
		{"a loss that goes backward through both graphs",
			"f3 f4 ones_like b4>20 b3>21 ones_like b4>22 b3>23 f6 ones_like b6 e23 e22 e21 e20", 40},
		{"second derivatives, each through one graph",
			"f3 f4 ones_like b4>20 b3>21 ones_like b4>22 b3>23 ones_like e21 e20 ones_like e23 e22", 20},
		{"sizes that autograd compares", "f3 f4 ones_like is_same_size b4 b3 ones_like is_same_size b4 b3", 20},
		{"layers above another input", "f3 f4 ones_like b4 b3 ones_like b4", 10},
		{"as many passes from each of two parts", "f3 f4 ones_like b4 b3 ones_like b4 b3 ones_like b4 b3" +
			strings.Repeat(" ones_like split3", 6), 40 + 40},
		{"more passes than parts", "f3" + strings.Repeat(" ones_like split3", 6), 20},
		{"a pass from each part", "f3" + strings.Repeat(" ones_like split3", 4), 0},
		{"one pass", "f3 f4 f5 ones_like b5 b4 b3", 0},
		{"another output each", "f3 f4 f5 f6 ones_like b6 b3 ones_like b5 b3 ones_like b4 b3", 0},
		{"another direction each", "f3 f4 zeros_like fill_ b4 b3 zeros_like fill_ b4 b3 mul b4 b3", 0},
		{"another forward pass each", "f3 f4 ones_like b4 b3 f5 f6 ones_like b6 b5", 0},
		{"two losses of one graph", "f3 f4 f5 f6 ones_like b6 b4 b3 ones_like b5 b4 b3", 0},
		{"the program's own function", "f3 f4 ones_like own4 b3 ones_like own4 b3", 0},
	} {
		for _, device := range []bool{false, true} {
			p := backwards(device, c.words)
			res, breakdown := find(t, p)
			i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "backward" })
			if (i >= 0) != (c.again > 0) {
				t.Errorf("%s, device %v: %+v", c.name, device, res.Findings)
				continue
			}
			if i < 0 {
				continue
			}
			f := res.Findings[i]
			want := c.again
			if waited := f.Booked[account.PartGPUCompute] > 0; waited != device {
				t.Errorf("%s, device %v: %+v of %+v", c.name, device, f.Booked, breakdown.Parts)
			}
			if math.Abs(f.Step.Mid/1e6-want) > 0.1*want || f.Step.Low <= 0 || f.Step.Low >= f.Step.Mid {
				t.Errorf("%s, device %v: saves %+v, want %v ms", c.name, device, f.Step, want)
			}
			helper := c.name == "without anything between" // one line calls it, once
			if at := f.Where.Line; helper && at != 12 || !helper && at != 20 && at != 21 {
				t.Errorf("%s, device %v: at line %d", c.name, device, at)
			}
		}
	}
}

// Losses that go backward through one part of a graph with its layers are named, with what fits: detach() where the gradients of one are
// thrown away, one pass where both are wanted.
func TestLossesThroughOneGraph(t *testing.T) {
	const gan = "f1 f2 f3 ones_like b3 b2+ b1+ "
	for _, c := range []struct {
		name, words string
		saved       float64 // ms of a step
		title       string
		advice      []string
	}{
		{"a picture that is not detached", gan + "step zero_grad f4 ones_like b4 b2+ b1+ step", 20, "again.title-thrown",
			[]string{"again.fix-detach"}},
		{"gradients that are filled with zeros", gan + "step zero_grad zero_ zero_ f4 ones_like b4 b2++ b1++ step", 20,
			"again.title-thrown", []string{"again.fix-detach"}},
		{"gradients of which nothing is known", gan + "step f4 ones_like b4 b2++ b1++ step", 20, "again.title-losses",
			[]string{"again.fix-detach", "again.fix-add-or"}},
		{"a step that ends between the two", "f4 ones_like b4 b2+ b1+ step f5 f6 f7 ones_like b7 b6+ b5+ step", 20, "again.title-thrown",
			[]string{"again.fix-detach"}},
		{"two tasks of one trunk", gan + "ones_like b4 b2++ b1++ step", 20, "again.title-losses", []string{"again.fix-add"}},
		{"three tasks of one trunk", gan + "ones_like b4 b2++ b1++ ones_like b5 b2++ b1++ step", 40, "again.title-losses",
			[]string{"again.fix-add"}},
		{"a picture that is detached", "f1 f2 f3 ones_like b3+ step zero_grad f4 ones_like b4 b2+ b1+ step", 0, "", nil},
		{"gradients that are kept for each task", gan + "clone clone ones_like b4 b2+ b1+ step", 0, "", nil},
		{"the same before a step", gan + "clone clone step ones_like b4 b2+ b1+ step", 0, "", nil},
		{"gradients that are looked at by their names", gan + "ones_like b4 b2+ b1+ step", 0, "", nil},
		{"gradients that torch.autograd.grad hands back", "f1 f2 f3 ones_like b3 b2 b1 f4 ones_like b4 b2+ b1+ step", 0, "", nil},
		{"directions of their own", "f1 f2 f3 fill_ b3 b2+ b1+ fill_ b4 b2++ b1++ step", 0, "", nil},
		{"batches whose gradients add up", "f1 f2 ones_like b2+ b1+ f3 f4 ones_like b4++ b3++ step", 0, "", nil},
		{"a penalty on gradients", "f1 f2 f3 ones_like b3>20 b2>21 b1>22 f5 ones_like b5 e22 e21 e20 b2+ b1+ ones_like b4 b2++ b1++ step",
			0, "", nil},
		{"one layer, whose weights the step may have moved", "f1 f3 ones_like b3 b1+ step zero_grad f4 ones_like b4 b1+ step", 0, "", nil},
		{"a step through the step before", "f2 f3 ones_like b3+ b2+ b1+ step", 0, "", nil},
	} {
		for _, device := range []bool{false, true} {
			p := backwards(device, c.words)
			res, breakdown := find(t, p)
			i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "losses" })
			if (i >= 0) != (c.saved > 0) {
				t.Errorf("%s, device %v: %+v", c.name, device, res.Findings)
				continue
			}
			if i < 0 {
				continue
			}
			f := res.Findings[i]
			var advice []string
			for _, said := range f.Fix.Advice {
				advice = append(advice, said.ID)
			}
			if f.Title.ID != c.title || !slices.Equal(advice, c.advice) {
				t.Errorf("%s, device %v: says %s and %v", c.name, device, f.Title.ID, advice)
			}
			if math.Abs(f.Step.Mid/1e6-c.saved) > 0.2*c.saved || f.Step.Low <= 0 || f.Step.Low >= f.Step.Mid {
				t.Errorf("%s, device %v: saves %+v, want %v ms of %+v", c.name, device, f.Step, c.saved, breakdown.Parts)
			}
			if at := f.Where.Line; (c.saved > 20) != (at == 20 || at == 21) { // one pass is the helper's own line
				t.Errorf("%s, device %v: at line %d", c.name, device, at)
			}
			p.P.Updates = []model.Updates{{Optimizer: 1, Parameters: 4, Optimizers: 1}}
			if res, _ := find(t, p); c.title == "again.title-thrown" &&
				slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "losses" }) {
				t.Errorf("%s, device %v: a single optimizer throws nothing away", c.name, device)
			}
		}
	}
}
