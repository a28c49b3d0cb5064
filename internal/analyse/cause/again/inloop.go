package again

import (
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// FindInLoop names operators that a loop within a step calls at each turn with tensors that do not change in it: traced steps show the
// turns, and the program's text says that what they work on has its value before the loop.
func FindInLoop(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if !c.B.PerStep {
		return nil
	}
	turns := account.InTurns(c.S, c.B, false)
	t := turnLines{c: c, turns: turns}
	found := map[facts.PlaceKey][]*account.RepeatedOp{}
	lines := map[facts.PlaceKey]*turnLine{}
	var places []facts.PlaceKey
	for _, op := range turns.Ops {
		line := t.lineOf(op)
		if line == nil {
			continue
		}
		at := line.place
		if lines[at] == nil {
			lines[at], places = line, append(places, at)
		}
		found[at] = append(found[at], op)
	}
	var out []finding.Draft
	for _, at := range places {
		if f := inLoop(c, lines[at], turns.Cost(found[at]), found[at]); f != nil {
			out = append(out, *f)
		}
	}
	return out
}

// inLoop is the finding about the operators of one line; nil where they take too little.
func inLoop(c *facts.Facts, line *turnLine, cost account.RepeatedCost, ops []*account.RepeatedOp) *finding.Draft {
	if cost.Time <= 0 {
		return nil
	}
	if c.OnDevice() && cost.Kernels <= 0 {
		return nil
	}
	all, parts := c.Fewer(cost.Time/cost.All, cost.Kernels/max(cost.AllKernels, 1))
	if c.Share(all) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Again, Sub: "in-loop", Where: line.where, Share: c.Share(all),
		Confidence: c.Basis(len(c.B.Samples))}, parts)
	f.Step = f.By(price.InLoop).Times(c.PerStep(all)).AtMost(c.B.Mean())
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("again.title-in-loop", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{
		wording.Say("again.in-loop", wording.Count("turns", int64(ops[0].Turns)), wording.Named("op", ops[0].Name),
			c.Said(), wording.Count("line", int64(line.loop))),
		wording.Say("again.in-loop-time", wording.Time("time", c.PerStep(all)), c.Said()),
	}
	f.Fix.Advice = []wording.Text{wording.Say("again.fix-in-loop")}
	f.Caveat = []wording.Text{wording.Say("again.caveat-in-loop")}
	return &f
}

// turnLine is a line that calls operators in turns, and the line of the loop.
type turnLine struct {
	place facts.PlaceKey
	where finding.Where
	loop  int32
}

// turnLines finds the lines that call operators in turns.
type turnLines struct {
	c     *facts.Facts
	turns *account.RepeatedOps
	read  pysource.Reader
	calls []calledLine  // of all of the user's lines that call something; nil before they were asked for
	all   []facts.Chain // of all accounted samples, likewise
}

// calledLine is a line of the user's with the names of what it calls.
type calledLine struct {
	line  finding.UserLine
	names []string
}

// onlyCall is the only line of the program that calls a function with such a name; ok is false where none or several do.
func (t *turnLines) onlyCall(is func(name string) bool) (only finding.UserLine, ok bool) {
	if t.calls == nil {
		for _, line := range t.c.UserLines(func(string) bool { return true }) {
			if names := t.read.CallsAt([]string{line.Text}, 1); len(names) > 0 {
				t.calls = append(t.calls, calledLine{line, names})
			}
		}
	}
	n := 0
	for i := range t.calls {
		if slices.ContainsFunc(t.calls[i].names, is) {
			only = t.calls[i].line
			n++
		}
	}
	return only, n == 1
}

// callNames are functions that call operators of other names.
var callNames = map[string][]string{
	"to":                  {"to", "float", "half", "double", "bfloat16", "long", "int", "bool", "type_as"},
	"linalg_vector_norm":  {"norm", "vector_norm", "normalize"},
	"clamp_min":           {"clamp_min", "clamp", "normalize"},
	"expand_as":           {"expand_as", "normalize"},
	"div":                 {"div", "normalize"},
	"mm":                  {"mm", "matmul"},
	"upsample_bilinear2d": {"interpolate"},
	"upsample_nearest2d":  {"interpolate"},
	"grid_sampler":        {"grid_sample"},
	"special_erf":         {"erf"},
	"special_expit":       {"sigmoid"},
	"linalg_inv":          {"inv", "inverse"},
	"linalg_solve":        {"solve"},
	"linalg_matrix_exp":   {"matrix_exp"},
	"fft_fft":             {"fft"},
	"fft_rfft":            {"rfft"},
	"fft_ifft":            {"ifft"},
	"fft_irfft":           {"irfft"},
	"fft_fft2":            {"fft2"},
	"fft_rfft2":           {"rfft2"},
}

// callsOp chooses the functions that a program may call for an operator.
func callsOp(op string) func(name string) bool {
	op = strings.TrimLeft(strings.TrimPrefix(op, aten), "_")
	names := callNames[op]
	if names == nil {
		names = []string{op}
	}
	return func(name string) bool { return slices.Contains(names, name) }
}

// lineOf is the line that calls an operator in turns, nil where that is not known or its text leaves a doubt.
func (t *turnLines) lineOf(op *account.RepeatedOp) *turnLine {
	var chains []facts.Chain
	t.c.TracedChains(facts.Merged(op.Spans), func(ch facts.Chain, _ model.Time) {
		if len(ch.Frames) > 0 {
			chains = append(chains, ch)
		}
	})
	if len(chains) < facts.BesideTraced {
		return t.byText(op)
	}
	at := map[facts.PlaceKey]int{}
	for i := range chains {
		at[lastOf(&chains[i])]++
	}
	var line *turnLine
	for i := range chains {
		key := lastOf(&chains[i])
		if float64(at[key]) < price.AskedLine*float64(len(chains)) {
			continue
		}
		if line = t.same(&chains[i], op); line == nil {
			return nil
		}
	}
	return line
}

// byText looks for the line where few samples lie in the operator, as a thread that only launches it is through with it in no time: the
// only one of the program that calls it, and what the loop's text calls besides lies between two turns.
func (t *turnLines) byText(op *account.RepeatedOp) *turnLine {
	is := callsOp(op.Name)
	only, ok := t.onlyCall(is)
	if !ok {
		return nil
	}
	if t.all == nil {
		t.all = facts.ChainsOf(t.c.C, &t.c.P.Samples, t.c.B.Samples, func(int, *account.Attributed) bool { return true })
	}
	var chains []facts.Chain
	for _, ch := range t.all {
		if n := len(ch.Frames); n > 0 && int(ch.Frames[n-1].Line) == only.Line && t.c.Text(ch.Frames[n-1].File) == only.File {
			chains = append(chains, ch)
		}
	}
	var line *turnLine
	for i := range chains {
		if line = t.same(&chains[i], op); line == nil {
			return nil
		}
	}
	source := t.c.S.Sources[only.File].Lines
	stack := []pysource.At{{Source: source, Name: t.read.FunctionAt(source, int32(only.Line)), Line: int32(only.Line)}}
	if !t.fits(stack[0], op) {
		return nil
	}
	if len(chains) > 0 {
		return line
	}
	for range mostCallers {
		if line = t.sameText(stack, t.driver(only.File, stack[0].Name), op); line != nil {
			line.where = only.Where()
			line.place = facts.PlaceKey{Line: int32(only.Line)}
			return line
		}
		caller, ok := t.read.CallerOf(stack[0])
		if !ok {
			return nil
		}
		stack = slices.Insert(stack, 0, caller)
	}
	return nil
}

// layers match operators of modules.
var layers = regexp.MustCompile(`^aten::(?:linear|addmm|conv|\w*_norm$|dropout|native_|embedding|scaled_dot|lstm|gru|\w*_loss)`)

// fits says that an operator's row can be of a line: what the line's loop is known to call lies in the row, and no layers do where it calls
// none. Libraries call operators in turns as well.
func (t *turnLines) fits(at pysource.At, op *account.RepeatedOp) bool {
	inTurn, pureOnly := t.read.CallsInTurn(at, callsOp(op.Name))
	for _, name := range inTurn {
		if own := aten + name; t.turns.Names[own] && !slices.Contains(op.Row, own) {
			return false
		}
	}
	return !pureOnly || !slices.ContainsFunc(op.Row, func(name string) bool {
		return layers.MatchString(name) && !slices.ContainsFunc(inTurn, callsOp(name))
	})
}

// aten begins the names of PyTorch's operators.
const aten = "aten::"

// mostCallers bounds how many functions around a line are looked at.
const mostCallers = 4

// driver is 0 where a function of a file drives the steps, else -1: an index among the lines of a stack that begins with it.
func (t *turnLines) driver(file, name string) int {
	for key := range t.c.Drivers {
		own := t.c.Text(key.Name)
		if t.c.Text(key.File) == file && own[strings.LastIndexByte(own, '.')+1:] == name {
			return 0
		}
	}
	return -1
}

// same is the line where a stack ends, if its text says that it calls an operator with the same in each turn of a loop.
func (t *turnLines) same(ch *facts.Chain, op *account.RepeatedOp) *turnLine {
	var stack []pysource.At
	step := -1
	for i := range ch.Frames {
		f := &ch.Frames[i]
		src, name := t.c.S.Sources[t.c.Text(f.File)], t.c.Text(f.Function)
		if src == nil {
			return nil
		}
		name = name[strings.LastIndexByte(name, '.')+1:]
		if strings.HasSuffix(name, "comp>") || name == "<genexpr>" {
			continue // up to Python 3.11 a function of its own, in a line of the one around it
		}
		stack = append(stack, pysource.At{Source: src.Lines, Name: name, Line: f.Line})
		if t.c.Drivers[facts.KeyOf(f)] {
			step = len(stack) - 1
		}
	}
	line := t.sameText(stack, step, op)
	if line == nil {
		return nil
	}
	last := ch.Frames[len(ch.Frames)-1]
	line.where, line.place = t.c.Where(facts.Spot{Frame: last}), lastOf(ch)
	return line
}

// sameText is the loop around a stack's last line, if the text says that the line calls an operator with the same at each of its turns.
func (t *turnLines) sameText(stack []pysource.At, step int, op *account.RepeatedOp) *turnLine {
	loop, ok := t.read.SameInTurns(stack, step, callsOp(op.Name))
	if !ok {
		loop, ok = t.read.SameInTurns(stack, step, nil)
	}
	if !ok {
		return nil
	}
	return &turnLine{loop: loop.Line}
}
