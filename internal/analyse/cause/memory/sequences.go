package memory

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/attention"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// outerOp is an outermost operator of a forward pass.
type outerOp struct {
	id, last model.EventID // the last operator inside
	name     string
	inside   []shapedOp // those whose shapes are wanted, itself included
}

// shapedOp is an operator's name with its inputs as they were recorded: shapes, and values that are no tensors.
type shapedOp struct {
	name            string
	shapes, strides [][]int64
	list            [][]int64 // of the tensors in the list that is its first input
	concrete        []string
}

// dimension is the number of a tensor's dimension, as an operator's argument names it: from the end where it is negative; -1 where it names
// none.
func dimension(argument string, shape []int64) int {
	dim, err := strconv.Atoi(strings.Trim(argument, "[] "))
	if dim < 0 {
		dim += len(shape)
	}
	if err != nil || dim < 0 || dim >= len(shape) {
		return -1
	}
	return dim
}

// lengthsAlong are the lengths of the dimensions in a list of them; nil where it names any that the tensor has not.
func lengthsAlong(list string, shape []int64) (lengths []int64) {
	for _, argument := range strings.Split(list, ",") {
		dim := dimension(argument, shape)
		if dim < 0 {
			return nil
		}
		lengths = append(lengths, shape[dim])
	}
	return lengths
}

// sequence recognises outermost operators that follow one another.
type sequence interface {
	// wants says of an operator's name whether next looks at its shapes.
	wants(name string) bool
	// next takes the next operator, nil at a trace's end, and gives a sequence that is now known to be complete, and the share that counts.
	// At the end it is asked until it gives none.
	next(op *outerOp) (whole []outerOp, counts float64)
}

// passer is a sequence that knows its operators' backward passes by their names as well.
type passer interface{ passes(name string) bool }

// sequences is what traced steps say of operators that a sequence recognises.
type sequences struct {
	time, all float64          // ns of outermost operators: of these and their backward passes; and of all
	spans     []times.Interval // from the first operator of each to the end of its last
	// computed and computes are the ns that devices compute for these and for all that traced steps launch.
	computed, computes float64
}

// sequencesOf looks for them in the traces of the accounted steps that recorded shapes.
func sequencesOf(c *facts.Facts, s sequence) (found sequences) {
	t, parts := sequenceTrace{c: c, of: s}, false
	end := func() {
		t.endOp()
		for whole, counts := s.next(nil); len(whole) > 0; whole, counts = s.next(nil) {
			t.take(whole, counts)
		}
		for _, number := range slices.Sorted(maps.Keys(t.passes)) {
			t.found.time += t.passes[number] * t.took[number]
		}
		if t.shaped {
			if !c.B.PerStep || parts {
				t.wholeRounds()
			}
			t.onDevices()
			found.time, found.all, found.spans = found.time+t.found.time, found.all+t.found.all, append(found.spans, t.found.spans...)
			found.computed, found.computes = found.computed+t.found.computed, found.computes+t.found.computes
		}
	}
	_, parts = account.EachSeenOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		if ev != t.ev {
			end()
			t = sequenceTrace{c: c, of: s, ev: ev, passes: map[int64]float64{}, took: map[int64]float64{},
				counted: map[model.EventID]float64{}}
		}
		name := c.Text(ev.Name[id])
		if outer {
			t.endOp()
			t.at = outerOp{id: id, name: name}
		}
		t.at.last = id
		args := ev.OpArgsOf(ev.Detail[id])
		if args.Shapes == 0 {
			return
		}
		t.shaped = true
		if s.wants(name) {
			shapes := c.Text(args.Shapes)
			t.at.inside = append(t.at.inside, shapedOp{name, arguments.Shapes(shapes), arguments.Shapes(c.Text(args.Strides)),
				arguments.ListShapes(shapes), arguments.Texts(c.Text(args.Concrete))})
		}
	})
	end()
	return found
}

// sequenceTrace goes through the operators of one trace.
type sequenceTrace struct {
	c      *facts.Facts
	of     sequence
	ev     *model.Events
	at     outerOp // the one at hand
	shaped bool
	passes map[int64]float64 // numbers of the operators of sequences, with the shares that count
	took   map[int64]float64 // ns of backward passes, by these numbers: some sequences are known to be complete after their passes
	found  sequences
	// counted are the outermost operators of sequences, with the shares that count.
	counted map[model.EventID]float64
	outer   []model.EventID // outermost operators
	wholes  []float64       // ns of each sequence, as of found's spans
}

// wholeRounds leaves out of a trace that begins and ends anywhere what comes before the first of several sequences, and from the last one
// on: there some may be cut off.
func (t *sequenceTrace) wholeRounds() {
	n := len(t.found.spans)
	if n < 2 {
		return
	}
	first, last := t.found.spans[0].Start, t.found.spans[n-1].Start
	all := 0.0
	for _, id := range t.outer {
		if at := t.ev.Start[id]; first <= at && at < last {
			all += float64(t.ev.Dur[id])
		}
	}
	if all > 0 {
		t.found.time, t.found.all = min(t.found.time-t.wholes[n-1], all), all
	}
}

// onDevices adds what devices compute for the trace's operators. Kernels belong to what launches them, on whatever thread.
func (t *sequenceTrace) onDevices() {
	steps := slices.DeleteFunc(account.TracedSteps(t.c.S, t.c.B), func(st account.TracedStep) bool { return &st.Trace.Events != t.ev })
	classes, upTo := naming.NewKernelClasses(t.c.S.Strings), make([]float64, t.ev.Len()+1) // upTo: ns that the rows before each one launch
	for _, st := range steps {
		st.EachKernel(classes, func(ev *model.Events, id, call model.EventID) { upTo[call+1] += float64(ev.Dur[id]) })
	}
	for i := range t.ev.Len() {
		upTo[i+1] += upTo[i]
	}
	t.found.computes = upTo[t.ev.Len()]
	launched := func(id model.EventID) float64 {
		end := id + 1
		for int(end) < t.ev.Len() && t.ev.Lane[end] == t.ev.Lane[id] && t.ev.Start[end] < t.ev.End(id) {
			end++
		}
		return upTo[end] - upTo[id]
	}
	for _, id := range slices.Sorted(maps.Keys(t.counted)) {
		t.found.computed += t.counted[id] * launched(id)
	}
	for _, st := range steps {
		st.EachPass(t.c.S.Strings, func(ev *model.Events, id model.EventID) {
			number, _ := attention.Pass(ev, t.c.S.Strings, id)
			if p, named := t.of.(passer); !named || p.passes(t.c.Text(ev.Name[id])) {
				t.found.computed += t.passes[number] * launched(id)
			}
		})
	}
}

// endOp takes the operator at hand.
func (t *sequenceTrace) endOp() {
	if t.at.name == "" {
		return
	}
	took := float64(t.ev.Dur[t.at.id])
	t.found.all += took
	t.outer = append(t.outer, t.at.id)
	if number, ok := attention.Pass(t.ev, t.c.S.Strings, t.at.id); ok {
		if p, named := t.of.(passer); !named || p.passes(t.at.name) {
			t.took[number] += took
		}
		return
	}
	t.take(t.of.next(&t.at))
}

// take adds a sequence of which a share counts.
func (t *sequenceTrace) take(whole []outerOp, counts float64) {
	if len(whole) == 0 || t.ev == nil {
		return
	}
	t.wholes = append(t.wholes, 0)
	for i := range whole {
		took := counts * float64(t.ev.Dur[whole[i].id])
		t.found.time += took
		t.wholes[len(t.wholes)-1] += took
		t.counted[whole[i].id] = counts
	}
	first, last := whole[0].id, whole[len(whole)-1]
	t.found.spans = append(t.found.spans, times.Interval{Start: t.ev.Start[first], End: t.ev.End(last.id)})
	numbers := map[int64]bool{}
	attention.AddPasses(t.ev, first, last.last, numbers)
	for n := range numbers {
		t.passes[n] = counts
	}
}

// sequenceDraft begins a finding about operators that a sequence recognises, with their time in ns per step and what a row saves of it; ok
// is false where it is not worth a word. Its place is the line that takes most, of those that match where there is one.
func sequenceDraft(c *facts.Facts, s sequence, f finding.Finding, at *regexp.Regexp, row price.Row) (d finding.Draft, t float64, ok bool) {
	if c.Share(c.B.Part(account.PartOps)) < finding.Floor || c.UsesDevice() {
		return d, 0, false
	}
	found := sequencesOf(c, s)
	if found.time <= 0 {
		return d, 0, false
	}
	if t = c.B.Part(account.PartOps) * found.time / found.all; c.Share(t) < finding.Floor {
		return d, 0, false
	}
	f.Where, _ = lineOf(c, found.spans, at.MatchString)
	f.Share, f.Confidence = c.Share(t), c.Basis(len(c.B.Samples))
	d = finding.NewDraft(f, finding.Parts{account.PartOps: t})
	t = c.PerStep(t)
	d.Step = d.By(row).Times(t)
	d.Step.High = min(d.Step.High, c.PerStep(c.B.Total))
	d.Run = c.OverRun(d.Step)
	return d, t, true
}

// sequenceAnywhere is sequenceDraft for what costs the same where a device computes it.
func sequenceAnywhere(c *facts.Facts, s sequence, f finding.Finding, at *regexp.Regexp, row price.Row) (d finding.Draft, t float64,
	ok bool) {
	if !c.OnDevice() {
		return sequenceDraft(c, s, f, at, row)
	}
	found := sequencesOf(c, s)
	if found.time <= 0 || found.computes <= 0 {
		return d, 0, false
	}
	computed := min(found.computed/found.computes, 1)
	all, parts := c.Fewer(found.time/found.all, computed)
	if c.Share(all) < finding.Floor {
		return d, 0, false
	}
	where, meant := lineOf(c, found.spans, at.MatchString)
	f.Where, f.Share, f.Confidence = where, c.Share(all), c.Basis(len(c.B.Samples))
	if lines := c.UserLines(func(text string) bool { return at.MatchString(text) && !facts.Defines(text) }); len(lines) == 1 ||
		!meant && together(lines) {
		f.Where = lines[0].Where() // the thread that launches is through with it in no time: few samples lie there
	}
	d, t = finding.NewDraft(f, parts), c.PerStep(all)
	d.Step = d.By(row).Times(t)
	// Tracing may have made the host the slower of the two.
	d.Step.High = min(max(d.Step.High, min(row.High, 1)*c.B.Mean()*c.B.Device.Computes*computed), c.B.Mean())
	d.Run = c.OverRun(d.Step)
	return d, t, true
}

// oneFunction is a number of lines that one function may have.
const oneFunction = 12

// together says that lines lie so close to each other that one place stands for them.
func together(lines []finding.UserLine) bool {
	n := len(lines)
	return n > 0 && lines[0].File == lines[n-1].File && lines[n-1].Line-lines[0].Line < oneFunction
}

// lineOf is the user's line with most samples of traced steps in such stretches, of those whose source is meant where there is one, and
// whether there is.
func lineOf(c *facts.Facts, spans []times.Interval, meant func(source string) bool) (at finding.Where, isMeant bool) {
	var all, chosen []facts.Chain
	c.TracedChains(facts.Merged(spans), func(ch facts.Chain, _ model.Time) {
		n := len(ch.Frames)
		if n == 0 {
			return
		}
		all = append(all, ch)
		if meant(c.Source(c.Text(ch.Frames[n-1].File), int(ch.Frames[n-1].Line))) {
			chosen = append(chosen, ch)
		}
	})
	if len(chosen) > 0 {
		all = chosen
	}
	if lines := facts.LineTimes(all); len(lines) > 0 {
		return c.Where(lines[0]), len(chosen) > 0
	}
	return finding.Nowhere(), false
}
