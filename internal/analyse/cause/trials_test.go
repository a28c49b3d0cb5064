package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/testkit"
)

// A program that lets cuDNN try its algorithms spends its first step on them: named with the line that asks for it, behind what each step
// loses. Without the line, without a device and where convolutions take no time it is not said.
func TestTrialsOfAlgorithms(t *testing.T) {
	conv := []testkit.Frame{{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 90},
		torchFrame("nn/modules/conv.py", "Conv2d._conv_forward")}
	back := []testkit.Frame{conv[0], torchFrame("autograd/graph.py", "_engine_run_backward")}
	loads := []testkit.Frame{conv[0], torchFrame("nn/modules/linear.py", "Linear.forward")}
	for name, c := range map[string]struct {
		first  []testkit.Frame
		line   string
		device bool
		want   bool
	}{
		"trials":          {conv, "torch.backends.cudnn.benchmark = True", true, true},
		"backward":        {back, "cudnn.benchmark=True", true, true},
		"off":             {conv, "torch.backends.cudnn.benchmark = False", true, false},
		"a comment":       {conv, "# torch.backends.cudnn.benchmark = True", true, false},
		"no convolutions": {loads, "torch.backends.cudnn.benchmark = True", true, false},
		"no device":       {conv, "torch.backends.cudnn.benchmark = True", false, false},
	} {
		t.Run(name, func(t *testing.T) {
			first := testkit.Native(3000, c.first...)
			p := testkit.OnDevice(70, false, "ampere_sgemm_128x64_nn", first)
			if !c.device {
				p.S.Traces = nil
			}
			p.S.Sources["/home/u/train.py"].Lines[11] = c.line
			res, _ := find(t, p)
			at := -1
			for i, f := range res.Findings {
				if f.Cause == finding.Warmup && f.Sub == "algorithms" {
					at = i
				}
			}
			if (at >= 0) != c.want {
				t.Fatalf("%+v", res.Findings)
			}
			if at < 0 {
				return
			}
			f := res.Findings[at]
			if f.Where.Line != 12 || f.Run.Mid < 2.4e9 || f.Run.Mid > 2.8e9 || f.Fix.Action.Line != 12 {
				t.Errorf("%+v", f)
			}
			for _, g := range res.Findings[at+1:] {
				if !g.Healthy {
					t.Errorf("%s stands behind what a longer run repays", g.Cause)
				}
			}
		})
	}
}
