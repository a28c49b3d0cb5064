package cause_test

import (
	"slices"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// padded is a training whose batches hold 8 sequences in 100 columns, of so many places on average and in the longest one, as several looks
// at batches say; op is an operator of its traced steps.
func padded(looks int, mean, longest int64, op string) *testkit.Program {
	p := testkit.NewProgram()
	p.P.Loaders = []model.Loader{{Length: 20, BatchSize: 8, File: p.S.Strings.Intern("/home/u/train.py"), Line: 31}}
	for i := range looks {
		p.P.Padding = append(p.P.Padding, model.Padding{Time: p.T + model.Time(i), Rows: 8, Width: 100, Filled: 8 * mean, Longest: longest})
	}
	forward := testkit.Native(40, module, loop(40), torchFrame("nn/modules/module.py", "Module._call_impl"))
	p.Steps(40, model.PhaseBaseline, testkit.Python(1, module, loop(39), next, fetch).In(model.SpanDataWait), forward,
		testkit.Native(60, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")))
	trainingTrace(p, 3, forward, true)
	for i, name := range p.S.Traces[0].Events.Name {
		if p.S.Strings.Text(name) == "aten::histc" {
			p.S.Traces[0].Events.Name[i] = p.S.Strings.Intern(op)
		}
	}
	return p
}

// Filling is named at the DataLoader with what leaving it out saves, unless it is little, was hardly looked at, or is skipped.
func TestFillingIsNamed(t *testing.T) {
	const some = "aten::conv2d"
	for _, c := range []struct {
		name      string
		looks     int
		mean      int64
		longest   int64
		op        string
		low, high float64 // ms that its interval shall reach to; 0: nothing is said
		advice    string
	}{
		{"to the longest of all", 8, 25, 40, some, 36, 75, "padding.fix-own"},
		{"to the longest of each batch", 8, 50, 100, some, 15, 50, "padding.fix-group"},
		{"nearly full", 8, 90, 100, some, 0, 0, ""},
		{"two looks", 2, 25, 40, some, 0, 0, ""},
		{"packed", 8, 25, 40, "aten::_pack_padded_sequence", 0, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, _ := find(t, padded(c.looks, c.mean, c.longest, c.op))
			if c.low == 0 {
				for _, f := range res.Findings {
					if f.Cause == finding.Padding {
						t.Errorf("%s, %+v", f.Title, f.Step)
					}
				}
				return
			}
			f := want(t, res, finding.Padding, "", 31, 0)
			if f.Step.Low/1e6 > c.low || f.Step.High/1e6 < c.high || f.Step.Low <= 0 {
				t.Errorf("saves %+v", f.Step)
			}
			if textOf(f.Fix.Advice, c.advice) == "" {
				t.Errorf("the advice is %v", f.Fix.Advice)
			}
		})
	}
}

// Calls are looked at beside a DataLoader that hands out no sequences, as one of texts.
func TestFillingBesideALoaderOfTexts(t *testing.T) {
	p := padded(8, 25, 40, "aten::conv2d")
	for i := range p.P.Padding {
		b := &p.P.Padding[i]
		b.Loader, b.File, b.Line = -1, p.S.Strings.Intern("/home/u/train.py"), 40
	}
	res, _ := find(t, p)
	want(t, res, finding.Padding, "", 40, 0)
}

// In an inference only what the call computes becomes less: samples in it on a CPU, kernels that it launches on a device.
func TestFillingOfPartOfAnInference(t *testing.T) {
	layer, scores := tracedOp{30, "aten::linear", "[[8, 100, 64], [64, 64]]", "", -1, nil}, tracedOp{70, "aten::bmm", "", "", -1, nil}
	for _, device := range []bool{false, true} {
		p := tracedProgram(device, []tracedOp{layer, scores})
		file := p.S.Strings.Intern("/home/u/lib.py")
		at := p.S.Traces[0].From
		for i := range 8 {
			p.P.Padding = append(p.P.Padding,
				model.Padding{Time: p.T + model.Time(i), Loader: -1, Rows: 8, Width: 100, Filled: 160, Longest: 25, File: file, Line: 12})
		}
		unit := model.Time(1e6)
		if device {
			unit = 1e5
		}
		p.P.Asked = append(p.P.Asked, model.Asked{Time: at, End: at + 30*unit, Module: 1, File: file, Line: 12})
		res, _ := find(t, p)
		part := 0.8 * 30e6
		if !device { // 60 of 100 ms lie below that line
			part = 0.8 * 60e6
		}
		if f := want(t, res, finding.Padding, "", 12, 0); f.Step.Mid < 0.8*part || f.Step.Mid > 1.1*part {
			t.Errorf("on a device %v: %+v", device, f.Step)
		}
	}
}

// On a device filling saves what the device computes for it, as far as the host is faster: as many operators are called for fewer places.
func TestFillingOnADevice(t *testing.T) {
	layer := tracedOp{50, "aten::linear", "[[8, 100, 64], [64, 64]]", "", -1, nil}
	p := launched(layer, layer)
	file := p.S.Strings.Intern("/home/u/train.py")
	for i := range 8 {
		p.P.Padding = append(p.P.Padding,
			model.Padding{Time: p.T + model.Time(i), Loader: -1, Rows: 8, Width: 100, Filled: 160, Longest: 25, File: file, Line: 40})
	}
	res, _ := find(t, p)
	f := want(t, res, finding.Padding, "", 40, 0)
	if f.Step.Low < 30e6 || f.Step.Mid < 70e6 || f.Step.Mid > 80e6 {
		t.Errorf("of 80 ms of filling, with 10 ms of calls, it saves %+v", f.Step)
	}
}

// Without a DataLoader the line that calls the model with filled batches is named; what it is called with in steps of another kind does not
// count.
func TestFillingOfCalls(t *testing.T) {
	for _, kind := range []string{"train", "validation"} {
		p := padded(0, 25, 40, "aten::conv2d")
		p.P.Loaders, p.P.Spans = nil, nil
		file := p.S.Strings.Intern("/home/u/train.py")
		for i := range 5 {
			st := &p.P.Steps[i]
			if kind == "validation" {
				st.Kind = p.S.Strings.Intern(kind)
			}
			p.P.Padding = append(p.P.Padding, model.Padding{Time: st.Start + 1, Loader: -1, File: file, Line: 40, Rows: 8, Width: 100,
				Filled: 200, Longest: 40})
		}
		res, _ := find(t, p)
		if kind == "validation" {
			for _, f := range res.Findings {
				if f.Cause == finding.Padding {
					t.Errorf("%s", f.Title)
				}
			}
			continue
		}
		f := want(t, res, finding.Padding, "", 40, 0)
		if textOf(f.Fix.Advice, "padding.fix-own-call") == "" {
			t.Errorf("the advice is %v", f.Fix.Advice)
		}
	}
}

// The accounted steps' own loader decides: that of a validation may be full.
func TestFillingOfAnotherLoader(t *testing.T) {
	p := padded(8, 25, 40, "aten::conv2d")
	p.P.Loaders = append(p.P.Loaders, model.Loader{Length: 3, BatchSize: 8})
	for i := range p.P.Padding {
		p.P.Padding[i].Loader = 1
	}
	res, _ := find(t, p)
	for _, f := range res.Findings {
		if f.Cause == finding.Padding {
			t.Errorf("%s", f.Title)
		}
	}
}

// What leaving filling out saves of a training whose gradients are denormal is not sure: these numbers are told first.
func TestFillingBesideDenormalGradients(t *testing.T) {
	for met, first := range map[float64]string{0: finding.Padding, 40: finding.Precision} {
		p := productsProgram(92, 1, 3)
		p.P.Counters = map[string]float64{"denormal_looks": 40, "denormal_met": met}
		p.P.Loaders = []model.Loader{{Length: 20, BatchSize: 8, File: p.S.Strings.Intern(module.File), Line: 31}}
		for i := range p.P.Steps {
			at := p.P.Steps[i].Start
			p.P.Spans = append(p.P.Spans, model.Span{Kind: model.SpanDataWait, Start: at, End: at + 1, Thread: p.P.PID})
			p.P.Padding = append(p.P.Padding, model.Padding{Time: at, Rows: 8, Width: 100, Filled: 8 * 25, Longest: 40})
		}
		res, _ := find(t, p)
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.Padding })
		if i < 0 || res.Findings[0].Cause != first || (res.Findings[i].Step.Low == 0) != (met > 0) {
			t.Errorf("denormal numbers in %v looks of 40: %+v", met, res.Findings)
		}
	}
}
