package cause_test

import (
	"slices"
	"strconv"
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// drawing is an inference in 40 steps of 90 ms: a model that is given something new each time, at line 40, calls a part at its line 12 for
// 40 ms; another model is asked at line 44 for 20 ms. Both of these are given the same. The trace has an operator with this first type.
func drawing(operator, types string) *testkit.Program {
	p := testkit.NewProgram()
	call := torchFrame("nn/modules/module.py", "Module._call_impl")
	acts := []testkit.Act{
		testkit.Native(40, module, loop(40), call, user("forward", 10, 12), call, user("forward", 30, 33), call),
		testkit.Native(30, module, loop(40), call, user("forward", 10, 14), call, torchFrame("nn/modules/conv.py", "Conv2d.forward")),
		testkit.Native(20, module, loop(44), call, torchFrame("nn/modules/linear.py", "forward")),
	}
	ask := func(into *[]model.Asked, module int64, line int32, inputs string, from, to model.Time) {
		file := p.S.Strings.Intern(loop(40).File)
		if line == 12 {
			file = p.S.Strings.Intern(user("forward", 10, 12).File)
		}
		*into = append(*into, model.Asked{Time: p.T + from*1e6, End: p.T + to*1e6, Module: module, File: file, Line: line, Rows: -1,
			Fewest: -1, Inputs: p.S.Strings.Intern(inputs)})
	}
	for step := range 40 {
		ask(&p.P.Asked, 1, 40, "#"+strconv.Itoa(step)+".0 =7", 0, 70)
		ask(&p.P.Parts, 2, 12, "=7", 1, 39)
		ask(&p.P.Asked, 3, 44, "=8", 71, 89)
		p.Steps(1, model.PhaseBaseline, acts...)
	}
	tracedActs(p, acts, called{name: operator, n: 4, us: 10_000})
	ev := &p.S.Traces[0].Events
	for id := range ev.Detail {
		ev.Detail[id] = int32(len(ev.OpDetails))
		ev.OpDetails = append(ev.OpDetails, model.OpDetail{Sequence: -1, Args: uint32(len(ev.OpArgs))})
		ev.OpArgs = append(ev.OpArgs, model.OpArgs{Types: p.S.Strings.Intern(types)})
	}
	infers(p)
	return p
}

// A part that takes next to nothing does not bring in what else its line calls.
func TestLittleThatIsKnownBesideMuch(t *testing.T) {
	p := drawing("aten::conv2d", `["float"]`)
	for _, q := range p.P.Parts {
		q.Module, q.Line, q.Time = 5, 14, q.Time+39e6
		q.End = q.Time + 1e5
		p.P.Parts = append(p.P.Parts, q)
	}
	res, _ := find(t, p)
	at := slices.IndexFunc(res.Findings, func(f finding.Finding) bool { return f.Sub == "same" && f.Where.Line == 12 })
	if at < 0 || res.Findings[at].Step.Mid < 30e6 || res.Findings[at].Step.Mid > 42e6 ||
		!strings.HasPrefix(textOf(res.Findings[at].Evidence, "again.asked"), "40 calls ") {
		t.Errorf("%+v", res.Findings)
	}
}

// A part of a model that is given the same each time is named in an inference, and so is a model beside one that is given something new.
// Not where all that is asked is the same, as a benchmark asks it; where weights move, a dropout draws numbers, or something may have been
// written into what has no version.
func TestAnsweredAlready(t *testing.T) {
	each := func(list []model.Asked, change func(q *model.Asked)) {
		for i := range list {
			change(&list[i])
		}
	}
	for _, c := range []struct {
		name            string
		operator, types string
		change          func(p *testkit.Program)
		part, beside    bool
	}{
		{"a part, and a model", "aten::conv2d", `["float"]`, nil, true, true},
		{"nothing new is asked", "aten::conv2d", `["float"]`, func(p *testkit.Program) {
			each(p.P.Asked, func(q *model.Asked) { q.Inputs = p.S.Strings.Intern("=9") })
		}, false, false},
		{"weights move", "aten::conv2d", `["float"]`, func(p *testkit.Program) {
			for i := range p.P.Parts {
				p.P.Parts[i].Weights = int64(i)
			}
		}, false, true},
		{"numbers are drawn", "aten::conv2d", `["float"]`, func(p *testkit.Program) {
			each(p.P.Parts, func(q *model.Asked) { q.Random = true })
		}, false, true},
		{"its line calls others, which take longer", "aten::conv2d", `["float"]`, func(p *testkit.Program) {
			each(p.P.Parts, func(q *model.Asked) { q.End = q.Time + 1e6 })
		}, false, true},
		{"no version, and nothing is written", "aten::conv2d", `["float"]`, func(p *testkit.Program) {
			each(p.P.Parts, func(q *model.Asked) { q.LooseInts, q.Unread = true, true })
		}, true, true},
		{"no version, and other numbers are written", "aten::add_", `["float"]`, func(p *testkit.Program) {
			each(p.P.Parts, func(q *model.Asked) { q.LooseInts = true })
		}, true, true},
		{"no version, and such are written", "aten::copy_", `["long int"]`, func(p *testkit.Program) {
			each(p.P.Parts, func(q *model.Asked) { q.LooseInts = true })
		}, false, true},
		{"no version, and nobody knows what is written", "aten::conv2d", "", func(p *testkit.Program) {
			each(p.P.Parts, func(q *model.Asked) { q.LooseFloats = true })
		}, false, true},
		{"messages arrive", "c10d::broadcast_", `["float"]`, func(p *testkit.Program) {
			each(p.P.Parts, func(q *model.Asked) { q.Unread = true })
		}, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := drawing(c.operator, c.types)
			if c.change != nil {
				c.change(p)
			}
			found := map[int]finding.Finding{}
			res, _ := find(t, p)
			for _, f := range res.Findings {
				if f.Cause == finding.Again && f.Sub == "same" {
					found[f.Where.Line] = f
				}
			}
			part, beside := found[12], found[44]
			if (part.Cause != "") != c.part || (beside.Cause != "") != c.beside || len(found) > 2 {
				t.Errorf("%+v", res.Findings)
			}
			if ms := part.Step.Mid / 1e6; c.part && (ms < 34 || ms > 44) {
				t.Errorf("the part saves %v ms of 40", ms)
			}
			if ms := beside.Step.Mid / 1e6; c.beside && (ms < 16 || ms > 24) {
				t.Errorf("the model saves %v ms of 20", ms)
			}
		})
	}
}

// On a device the part's kernels go that were launched while it was looked at.
func TestAnsweredAlreadyOnADevice(t *testing.T) {
	layer := func(ms int) tracedOp { return tracedOp{ms, "aten::linear", "[[8, 100, 64], [64, 64]]", "", -1, nil} }
	p := launched(layer(40), layer(60))
	tr := p.S.Traces[0]
	file := p.S.Strings.Intern(loop(40).File)
	for i := range 8 {
		at := tr.From - model.Time(7-i)*100e6
		p.P.Asked = append(p.P.Asked, model.Asked{Time: at, End: at + 10e6, Module: 1, File: file, Line: 40, Unread: true,
			Inputs: p.S.Strings.Intern("#" + strconv.Itoa(i))})
		p.P.Parts = append(p.P.Parts, model.Asked{Time: at, End: at + 4e6 - 1, Module: 2, File: file, Line: 12, Unread: true,
			Inputs: p.S.Strings.Intern("#99")})
	}
	infers(p)
	res, _ := find(t, p)
	if f := want(t, res, finding.Again, "same", 12, 0); f.Step.Mid < 35e6 || f.Step.Mid > 45e6 {
		t.Errorf("%+v", f.Step)
	}
}
