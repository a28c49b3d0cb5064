package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"strings"
	"testing"
)

// convolutionProgram runs convolutions for 60 of 90 ms of a step, by an operator of this name on inputs of these types.
func convolutionProgram(op, types string) *testkit.Program {
	p := testkit.NewProgram()
	conv := testkit.Native(60, module, loop(40), user("forward", 10, 12), torchFrame("nn/modules/conv.py", "Conv2d.forward"))
	rest := testkit.Native(30, module, loop(42), user("forward", 10, 13), torchFrame("nn/modules/linear.py", "Linear.forward"))
	p.Steps(20, model.PhaseBaseline, conv, rest)
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T}
	ev := &t.Events
	ev.OpArgs = []model.OpArgs{{Types: p.S.Strings.Intern(types)}}
	const ms = 1_000_000
	add := func(start model.Time, dur int64, name string, parent model.EventID) {
		p.Event(ev, start, model.Dur(dur*ms), name, model.KindOp, parent, int32(len(ev.OpDetails)))
		ev.OpDetails = append(ev.OpDetails, model.OpDetail{Sequence: -1})
	}
	for range 3 {
		at, first := p.T, model.EventID(ev.Len())
		p.Steps(1, model.PhaseDetail, conv, rest)
		add(at, 60, "aten::conv2d", model.NoEvent)
		add(at+ms, 58, op, first)
		add(at+60*ms, 30, "aten::linear", model.NoEvent)
	}
	t.To = p.T
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
	return p
}

func TestConvolutionsWithoutFastCode(t *testing.T) {
	res, _ := find(t, convolutionProgram("aten::_slow_conv2d_forward", `["c10::Half", "c10::Half"]`))
	f := want(t, res, finding.Precision, "", 12, 58*0.85)
	if !strings.Contains(f.Title.String(), "float16") {
		t.Errorf("title %q", f.Title)
	}
	// Steps that are longer than a trace, whose types it did not record: the program's own line tells the format.
	longSteps := func(system string) *testkit.Program {
		p := convolutionProgram("aten::_slow_conv2d_forward", "")
		p.S.Environment.OS = system
		p.S.Traces[0].To = p.S.Traces[0].From + 40e6
		p.S.Sources["/home/u/train.py"] = &model.Source{Lines: []string{"", "model = model.half()"}}
		return p
	}
	res, _ = find(t, longSteps("Linux 6.1.0 x86_64"))
	if f := want(t, res, finding.Precision, "", 2, 90*58/60.0*0.85); !strings.Contains(f.Title.String(), "float16") {
		t.Errorf("title %q", f.Title)
	}
	for name, p := range map[string]*testkit.Program{
		"fast code":                    convolutionProgram("aten::mkldnn_convolution", `["c10::BFloat16", "c10::BFloat16"]`),
		"full format":                  convolutionProgram("aten::_slow_conv2d_forward", `["float", "float"]`),
		"not recorded":                 convolutionProgram("aten::_slow_conv2d_forward", ""),
		"asked for elsewhere, perhaps": longSteps("Linux 6.1.0 aarch64"),
	} {
		if res, _ := find(t, p); res.Findings[0].Cause != finding.Compute {
			t.Errorf("%s: %+v", name, res.Findings[0])
		}
	}
}

// Products in half precision are slow on processors that have no instructions for it: their rate says so, where computing sets it.
func TestProductsWithoutFastCode(t *testing.T) {
	program := func(op, types, shapes string) *testkit.Program {
		p := convolutionProgram(op, types)
		p.S.Traces[0].Events.OpArgs[0].Shapes = p.S.Strings.Intern(shapes)
		p.S.Sources["/home/u/train.py"] = &model.Source{Lines: []string{"", "model = Model().to(torch.bfloat16)"}}
		return p
	}
	const half, layer = `["c10::BFloat16", "c10::BFloat16"]`, "[[512, 192], [192, 768]]" // 151 million operations in 58 ms
	res, _ := find(t, program("aten::mm", half, layer))
	f := want(t, res, finding.Precision, "", 2, 58-151/50.0) // the line to change, not the one that computes
	if f.Title.ID != "precision.no-fast-products" || !strings.Contains(textOf(f.Evidence, "precision.computes"), "lib.py:12") {
		t.Errorf("%q: %v", f.Title, f.Evidence)
	}
	several := program("aten::mm", half, layer)
	source := several.S.Sources["/home/u/train.py"]
	source.Lines = append(source.Lines, "x = x.to(torch.bfloat16)")
	res, _ = find(t, several)
	if f := want(t, res, finding.Precision, "", 12, 58-151/50.0); !strings.Contains(textOf(f.Evidence, "precision.asks"), "train.py:2") {
		t.Errorf("%v", f.Evidence)
	}
	if f.Step.Low < 40e6 || f.Step.High > 70e6 {
		t.Errorf("saves %+v", f.Step)
	}
	crowded, busy := program("aten::mm", half, layer), 4.0
	crowded.S.Environment.CPUs, crowded.S.Environment.OthersBusyCores = 4, &busy
	for name, p := range map[string]*testkit.Program{
		"float32":                  program("aten::mm", `["float", "float"]`, layer),
		"as fast as float32":       program("aten::mm", half, "[[4096, 1024], [1024, 1024]]"),
		"one row, read for itself": program("aten::mm", half, "[[1, 4096], [4096, 4096]]"),
		"small":                    program("aten::mm", half, "[[64, 64], [64, 64]]"),
		"no product":               program("aten::add", half, layer),
		"not recorded":             program("aten::mm", half, ""),
		"busy cores":               crowded,
	} {
		if res, _ := find(t, p); res.Findings[0].Cause == finding.Precision {
			t.Errorf("%s: %+v", name, res.Findings[0])
		}
	}
}

// A number that Python hands to an operator on float32 tensors is converted inside of it: no computing in float64.
func TestConvertingANumberIsNoComputingInDouble(t *testing.T) {
	for shapes, double := range map[string]bool{"[[], [], []]": false, "[[64, 32], [], []]": true} {
		p := convolutionProgram("aten::_to_copy", `["double", "Scalar", ""]`)
		p.S.Traces[0].Events.OpArgs[0].Shapes = p.S.Strings.Intern(shapes)
		res, _ := find(t, p)
		if named := res.Findings[0].Cause == finding.Precision; named != double {
			t.Errorf("shapes %s: %+v", shapes, res.Findings[0])
		}
	}
}

// Operators on float64 are named where they take much of the step; one number of that type beside float32 tensors is none.
func TestComputingInDouble(t *testing.T) {
	res, _ := find(t, convolutionProgram("aten::addmm", `["double", "double", "double", "Scalar"]`))
	f := want(t, res, finding.Precision, "", 12, 90*0.55)
	if !strings.Contains(f.Title.String(), "float64") || f.Confidence.Level == finding.High {
		t.Errorf("%+v", f)
	}
	if f.Step.Low <= 0 {
		t.Errorf("saves %v ms at least of what NumPy's arrays brought", f.Step.Low/1e6)
	}
	meant := convolutionProgram("aten::addmm", `["double", "double", "double", "Scalar"]`)
	meant.S.Sources["/home/u/train.py"] = &model.Source{Lines: []string{"", "torch.set_default_dtype(torch.float64)"}}
	res, _ = find(t, meant)
	if f := want(t, res, finding.Precision, "", 12, 90*0.55); f.Step.Low != 0 || f.Run.Low != 0 ||
		textOf(f.Evidence, "precision.means-double") == "" {
		t.Errorf("the program asks for float64: saves %v ms at least, %+v", f.Step.Low/1e6, f.Evidence)
	}
	res, _ = find(t, convolutionProgram("aten::_slow_conv2d_forward", `["double", "double"]`))
	if f := want(t, res, finding.Precision, "", 12, 58*0.85); f.Title.ID != "precision.no-fast-code" {
		t.Errorf("title %q", f.Title)
	}
	for name, types := range map[string]string{"float32": `["float", "float", "float"]`, "a number": `["float", "double"]`,
		"not recorded": ""} {
		if res, _ := find(t, convolutionProgram("aten::addmm", types)); res.Findings[0].Cause != finding.Compute {
			t.Errorf("%s: %+v", name, res.Findings[0])
		}
	}
}

// The fallback takes and gives back a table for each picture: its pages go with it, and are no saving of the allocator's.
func TestPagesOfConvolutionsWithoutFastCode(t *testing.T) {
	p := convolutionProgram("aten::_slow_conv2d_forward", `["double", "double"]`)
	p.P.Allocator = "glibc"
	for i := range 16 {
		n := int64(i)
		p.P.Usage = append(p.P.Usage, model.Usage{At: testkit.Epoch + model.Time(n)*100e6, Anonymous: 400<<20 + n%3*100<<20,
			MinorFaults: n * 20000, System: model.Dur(n * 60e6),
			First: &model.ThreadUse{MinorFaults: n * 20000, System: model.Dur(n * 60e6)}})
	}
	res, _ := find(t, p)
	want(t, res, finding.Precision, "", 12, 58*0.85)
	for _, f := range res.Findings {
		if f.Sub == "allocator" && f.Step.Mid > 33e6 {
			t.Errorf("%s saves %+v", f.Title, f.Step)
		}
	}
}
