package cause_test

import (
	"math"
	"slices"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// A text that is computed whole for each token is named beside a training, where no step stands for a token: by the source of the loop.
// Nothing is said where the loop asks for the newest token only, where the model does not attend, or where the time is not worth it.
func TestTextIsWrittenBesideATraining(t *testing.T) {
	const whole, newest = "        p = model(x[:, -size:])", "        p = model(x[:, -1:])[:, -1]"
	for _, c := range []struct {
		name, line, function string
		ms                   int
		found                bool
	}{
		{"whole", whole, "MultiheadAttention.forward", 400, true},
		{"little", whole, "MultiheadAttention.forward", 30, false},
		{"no attention", whole, "Linear.forward", 400, false},
		{"a cache", newest + "; cache.append(p)", "MultiheadAttention.forward", 400, false},
	} {
		p := testkit.NewProgram()
		p.S.Sources["/home/u/lib.py"] = &model.Source{Path: "/home/u/lib.py", Lines: []string{"def sample(model, x, n):", "    for _ in range(n):",
			c.line, "        x = torch.cat([x, p.argmax(-1)], 1)"}}
		called := torchFrame("nn/modules/module.py", "Module._call_impl")
		forward := p.S.Strings.Intern(model.KindForward)
		for range 5 {
			p.Steps(20, model.PhaseBaseline, testkit.Native(50, module, loop(40), called))
			first := len(p.P.Steps)
			p.Steps(1, model.PhaseBaseline, testkit.Native(c.ms, module, loop(44), user("sample", 1, 3), called,
				user("forward", 60, 66), called, torchFrame("nn/modules/any.py", c.function)))
			p.P.Steps[first].Kind = forward
		}
		p.Steps(5, model.PhaseBaseline, testkit.Native(50, module, loop(40), called))
		res, _ := find(t, p)
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.Again })
		if (i >= 0) != c.found {
			t.Errorf("%s: finding %d of %+v", c.name, i, res.Findings)
		}
		if i < 0 {
			continue
		}
		f, want := &res.Findings[i], 0.65*5*float64(c.ms)*1e6
		if f.Where.Line != 3 || f.Where.File != "/home/u/lib.py" || math.Abs(f.Run.Mid-want) > 1e8 {
			t.Errorf("%s: %+v saves %+v", c.name, f.Where, f.Run)
		}
	}
}

// On a device each token calls as many operators, with a cache as without one: only what the device computes becomes less.
func TestTextOnADevice(t *testing.T) {
	for works, most := range map[int]float64{20: 0.2, 80: 0.8} {
		called := torchFrame("nn/modules/module.py", "Module._call_impl")
		p := testkit.OnDevice(works, false, "ampere_sgemm_128x64_nn")
		p.S.Sources["/home/u/lib.py"] = &model.Source{Path: "/home/u/lib.py", Lines: []string{"def sample(model, x, n):", "    for _ in range(n):",
			"        p = model(x[:, -size:])", "        x = torch.cat([x, p.argmax(-1)], 1)"}}
		p.Do(testkit.Native(2000, module, loop(44), user("sample", 1, 3), called, user("forward", 60, 66), called,
			torchFrame("nn/modules/any.py", "MultiheadAttention.forward")))
		p.Steps(1, model.PhaseBaseline, testkit.Native(100, module, loop(40), called))
		res, _ := find(t, p)
		i := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == finding.Again })
		if i < 0 {
			t.Fatalf("%d ms of 100: %+v", works, res.Findings)
		}
		if got, want := res.Findings[i].Run, 0.65*2000e6*most; got.Low != 0 || math.Abs(got.Mid-want) > 0.1*want {
			t.Errorf("%d ms of 100: saves %+v, want %.0f in the middle", works, got, want)
		}
	}
}
