package launch

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
	"bottleneck/internal/wording"
)

// AtOnce is the sub of loops whose turns could be done at once.
const AtOnce = "at-once"

// FindAtOnce names loops within a step whose turns do alike on one part of a tensor, or with one layer of many, after the other, and rest
// on nothing that a turn hands to the next: one call can do it for all. Traced steps show the turns, and the program's text says the rest.
func FindAtOnce(c *facts.Facts, l finding.Ledger) (out []finding.Draft) {
	if !c.B.PerStep || c.B.Ops == nil || c.UsesDevice() {
		return nil
	}
	t := turnReader{c: c, known: map[finding.UserLine]turnLine{}}
	t.working = c.Working(l)
	for i := range t.working {
		if of, apart := t.around(&t.working[i]); apart && !slices.Contains(t.callers, of) {
			t.callers = append(t.callers, of)
		}
	}
	if len(t.callers) == 0 {
		return nil
	}
	turns, cycles := account.InTurns(c.S, c.B, true), map[string][]*account.RepeatedOp{}
	for _, op := range turns.Ops {
		if op.Turns >= price.AtOnceTurns {
			key := cycleOf(op.Row)
			cycles[key] = append(cycles[key], op)
		}
	}
	found := map[facts.FuncKey][][]*account.RepeatedOp{} // the cycles of each function's loops
	for _, key := range slices.Sorted(maps.Keys(cycles)) {
		if !slices.ContainsFunc(cycles[key], sideBySide) {
			continue
		}
		if of, ok := t.callerOf(cycles[key]); ok {
			found[of] = append(found[of], cycles[key])
		}
	}
	for _, of := range slices.SortedFunc(maps.Keys(found), facts.FuncKey.Compare) {
		if f, ok := t.finding(of, found[of], turns); ok {
			out = append(out, f)
		}
	}
	return out
}

// cycleOf is the same for all operators of a turn, whichever one a row begins with.
func cycleOf(row []string) string {
	twice := slices.Concat(row, row)
	least := row
	for i := range row {
		if one := twice[i : i+len(row)]; slices.Compare(one, least) < 0 {
			least = one
		}
	}
	return strings.Join(least, " ")
}

// sideBySide says that an operator that is called in turns does not go on with what the turn before gave: a part of a tensor is taken in
// each, or its layer gives another width than it takes.
func sideBySide(op *account.RepeatedOp) bool {
	layers := 0
	for _, name := range op.Row {
		if takesPart.MatchString(name) {
			return true
		}
		layers += finding.Btoi(isLayer.MatchString(name))
	}
	if layers != 1 || !isLayer.MatchString(op.Name) {
		return false
	}
	shapes := arguments.Shapes(op.Shapes)
	if len(shapes) < 2 || len(shapes[0]) < 2 || len(shapes[1]) < 2 {
		return false
	}
	width := shapes[0][len(shapes[0])-1] // of aten::linear
	if op.Name != "aten::linear" {
		width = shapes[0][1]
	}
	return shapes[1][0] != width
}

var (
	takesPart = regexp.MustCompile(`^aten::(?:select|slice|index|index_select|narrow|gather)$`)
	isLayer   = regexp.MustCompile(`^aten::(?:linear|conv[123]d)$`)
)

// turnReader finds the loops in which operators are called.
type turnReader struct {
	c     *facts.Facts
	read  pysource.Reader
	known map[finding.UserLine]turnLine
	// working are the accounted samples that work, and callers the functions of the loops that they lie in.
	working []facts.Chain
	callers []facts.FuncKey
}

// turnLine is what the text says of a line: the loop it stands in, 0 for none, and whether its turns are apart.
type turnLine struct {
	head  int32
	apart bool
}

// callerOf is the function in whose loops most samples of some operators' calls lie, where the turns are apart.
func (t *turnReader) callerOf(ops []*account.RepeatedOp) (of facts.FuncKey, ok bool) {
	votes, all := map[facts.FuncKey]int{}, 0
	var spans []times.Interval
	for _, op := range ops {
		spans = append(spans, op.Spans...)
	}
	t.c.TracedChains(facts.Merged(spans), func(ch facts.Chain, _ model.Time) {
		all++
		if of, apart := t.around(&ch); apart {
			votes[of]++
		}
	})
	for key, n := range votes {
		if 2*n > all {
			return key, true
		}
	}
	if all > 0 || len(t.callers) != 1 {
		return of, false
	}
	return t.callers[0], true // short traced steps may hold no sample: there is no other such function
}

// around is the function with the innermost loop within a step around a sample, and whether the loop's turns are apart.
func (t *turnReader) around(ch *facts.Chain) (of facts.FuncKey, apart bool) {
	for i := range slices.Backward(ch.Frames) {
		if line := t.lineOf(&ch.Frames[i]); line.head > 0 {
			return facts.KeyOf(&ch.Frames[i]), line.apart
		}
	}
	return of, false
}

// within is the line of a function's loop around a sample whose turns are apart, 0 for none, and the frame's number: a turn may have loops
// of its own, also in what it calls.
func (t *turnReader) within(ch *facts.Chain, of facts.FuncKey) (head int32, frame int) {
	for i := range ch.Frames {
		if facts.KeyOf(&ch.Frames[i]) != of {
			continue
		}
		if line := t.lineOf(&ch.Frames[i]); line.apart {
			return line.head, i
		}
	}
	return 0, 0
}

// lineOf reads the text around a frame's line.
func (t *turnReader) lineOf(f *model.Frame) (line turnLine) {
	at := finding.UserLine{File: t.c.Text(f.File), Line: int(f.Line)}
	line, seen := t.known[at]
	if source := t.c.S.Sources[at.File]; !seen && source != nil {
		line.head, line.apart = t.read.LoopApart(source.Lines, f.Line, t.c.Drivers[facts.KeyOf(f)])
		t.known[at] = line
	}
	return line
}

// finding is about the loops of one function, each cycle of which is one's turn.
func (t *turnReader) finding(of facts.FuncKey, cycles [][]*account.RepeatedOp, turns *account.RepeatedOps) (f finding.Draft, ok bool) {
	c, ops := t.c, slices.Concat(cycles...)
	cost := turns.Cost(ops)
	number, called, longest := 0.0, 0.0, 0 // turns in a step, layers that these call, operators in a turn
	for _, cycle := range cycles {
		fewest, layers := turns.Calls(cycle[0]), 0
		for _, op := range cycle {
			fewest = min(fewest, turns.Calls(op)) // some are called several times in a turn
		}
		for _, name := range cycle[0].Row {
			layers += finding.Btoi(isLayer.MatchString(name))
		}
		number, called, longest = number+fewest, called+fewest*float64(layers), max(longest, len(cycle[0].Row))
	}
	heads := map[int32]float64{}
	var chains, placed []facts.Chain
	for _, ch := range t.working {
		head, frame := t.within(&ch, of)
		acts := c.C.Info(c.P.Samples.Stack[c.B.Samples[ch.Index].Index]).Acts
		if acts&(code.ActBackward|code.ActOptimizer) != 0 || head == 0 {
			continue
		}
		chains = append(chains, ch)
		heads[head] += ch.Weight
		ch.Frames = ch.Frames[:frame+1] // the place is in the loop, not in what it calls
		placed = append(placed, ch)
	}
	if cost.Time <= 0 || len(chains) < facts.MinSamples {
		return f, false
	}
	forth, seen := 0.0, 0.0
	for i := range chains {
		if c.B.Samples[chains[i].Index].Part == account.PartOps {
			forth += chains[i].Weight
		}
	}
	for _, op := range ops {
		seen += op.Time
	}
	ofOps := c.B.Part(account.PartOps) / cost.All
	if forth < price.AtOnceSeen*ofOps*seen {
		return f, false // somebody else calls these
	}
	back := max(ofOps*cost.Time-forth, 0)
	head, most := int32(0), 0.0
	for line, time := range stats.InOrder(heads) {
		if time > most {
			head, most = line, time
		}
	}
	lines := facts.LineTimes(placed)
	if len(lines) == 0 {
		return f, false
	}
	updates := doing(c, t.working, code.ActOptimizer)
	updating := t.ownUpdates(lines[0], head, called) * facts.Sum(updates)
	all := facts.Sum(chains) + back + updating
	if c.Share(all) < price.LaunchShare {
		return f, false
	}
	f = finding.NewDraft(finding.Finding{Cause: finding.Launch, Sub: AtOnce, Where: c.Where(lines[0]), Share: c.Share(all),
		Confidence: c.Basis(len(chains))}, finding.Parts{})
	c.ClaimAll(&f, chains, 1)
	claimBackward(c, t.working, &f, back)
	claimPart(c, updates, &f, updating)
	row := price.AtOnce
	if c.PerStep(all) > price.AtOnceShort*number {
		row = price.AtOnceLong
	}
	f.Step = f.By(row).Times(c.PerStep(all)).AtMost(c.B.Mean())
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("launch.title-at-once", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("launch.at-once", wording.Time("time", c.PerStep(all)), c.Said(),
		wording.Count("turns", math.Round(number)), wording.Count("line", int64(head)), wording.Count("ops", longest))}
	if updating > 0 {
		f.Evidence = append(f.Evidence, wording.Say("launch.at-once-updates", wording.Time("time", c.PerStep(updating)), c.Said()))
	}
	f.Fix.Advice = []wording.Text{wording.Say("launch.fix-at-once")}
	f.Caveat = []wording.Text{wording.Say("launch.caveat-at-once")}
	return f, true
}

// ownUpdates is the share of the optimizer's time that goes with so many layers, called in a step, whose weights become one tensor: the
// text says that each turn has its own, and the optimizers have a weight for each. Bias and weight are taken to come together.
func (t *turnReader) ownUpdates(sp facts.Spot, head int32, called float64) float64 {
	parameters, _, known := t.c.Updated()
	source := t.c.S.Sources[t.c.Text(sp.Frame.File)]
	if !known || called <= 0 || called > parameters || source == nil || int(head) > len(source.Lines) {
		return 0
	}
	if !pysource.CallsWhatTurns(source.Lines[head-1], t.c.Source(t.c.Text(sp.Frame.File), int(sp.Frame.Line))) {
		return 0
	}
	return min(2*called/parameters, 1)
}
