package memory

import (
	"regexp"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/attention"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// oneHots is what traced steps say of one-hot vectors that a matrix is multiplied by.
type oneHots struct {
	time, all     float64          // ns of outermost operators: that make, convert and multiply them, and their backward passes; and of all
	rows, classes int64            // of the most that are made at once
	spans         []times.Interval // from the first of the operators that make them to the end of their product
}

// FindOneHots names matrices that are multiplied by one-hot vectors on the CPU: each product is one row of the matrix.
func FindOneHots(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if c.Share(c.B.Part(account.PartOps)) < finding.Floor || usesDevice(c) {
		return nil
	}
	w := oneHotsOf(c)
	if w.time <= 0 {
		return nil
	}
	t := c.B.Part(account.PartOps) * w.time / w.all
	if c.Share(t) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.MemoryBound, Sub: "one-hot", Where: finding.Nowhere(), Share: c.Share(t),
		Confidence: c.Basis(len(c.B.Samples))}, finding.Parts{account.PartOps: t})
	f.Where = oneHotsAt(c, w.spans)
	f.Step = f.By(price.OneHot).Times(c.PerStep(t))
	f.Step.High = min(f.Step.High, c.PerStep(c.B.Total))
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("memory.title-one-hot", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.one-hot", wording.Time("time", c.PerStep(t)), c.Said(), wording.Count("rows", w.rows),
		wording.Count("classes", w.classes))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-one-hot")}
	f.Caveat = []wording.Text{wording.Say("memory.caveat-one-hot")}
	return []finding.Draft{f}
}

// oneHotsAt is the line that makes them, by the samples of traced steps: the one with most of those that call what does, or else of all.
func oneHotsAt(c *facts.Facts, spans []times.Interval) finding.Where {
	var all, making []facts.Chain
	c.TracedChains(facts.Merged(spans), func(ch facts.Chain, _ model.Time) {
		n := len(ch.Frames)
		if n == 0 {
			return
		}
		all = append(all, ch)
		if makesOneHots.MatchString(c.Source(c.Text(ch.Frames[n-1].File), int(ch.Frames[n-1].Line))) {
			making = append(making, ch)
		}
	})
	if len(making) > 0 {
		all = making
	}
	if lines := facts.LineTimes(all); len(lines) > 0 {
		return c.Where(lines[0])
	}
	return finding.Nowhere()
}

// makesOneHots matches the calls that make one-hot vectors.
var makesOneHots = regexp.MustCompile(`\bone_hot\(|\.scatter_\(`)

// outerOp is an outermost operator with what it has inside.
type outerOp struct {
	id, last model.EventID
	name     string
	hot      []int64 // shape of one-hot vectors that it makes; nil none
	operands [][]int64
}

// oneHotsOf looks for operators that make one-hot vectors, and products that follow with nothing but conversions between: a product of
// other tensors of the same shape is none of them. Traces without shapes tell nothing.
func oneHotsOf(c *facts.Facts) (w oneHots) {
	o := oneHotFinder{c: c}
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		if ev != o.ev {
			o.endTrace(&w)
			o = oneHotFinder{c: c, ev: ev, passes: map[int64]bool{}}
		}
		if outer {
			o.endOp()
			o.at = outerOp{id: id, name: c.Text(ev.Name[id])}
		}
		o.at.last = id
		shapes := c.Text(ev.OpArgsOf(ev.Detail[id]).Shapes)
		if shapes == "" {
			return
		}
		o.shaped = true
		switch c.Text(ev.Name[id]) {
		case "aten::scatter_":
			if s := arguments.Shapes(shapes); oneEach(s) {
				o.at.hot = s[0]
			}
		case "aten::mm", "aten::addmm", "aten::bmm", "aten::linear", "aten::matmul":
			o.at.operands = append(o.at.operands, arguments.Shapes(shapes)...)
		}
	})
	o.endTrace(&w)
	return w
}

// oneHotFinder goes through the operators of one trace.
type oneHotFinder struct {
	c      *facts.Facts
	ev     *model.Events
	at     outerOp // the one at hand
	shaped bool
	made   []outerOp      // what makes one-hot vectors, and conversions of these
	passes map[int64]bool // numbers of the operators that have to do with one-hot vectors
	found  oneHots
}

// endTrace adds what was found in a trace to w, where it has shapes.
func (o *oneHotFinder) endTrace(w *oneHots) {
	o.endOp()
	if !o.shaped {
		return
	}
	w.time, w.all = w.time+o.found.time, w.all+o.found.all
	w.spans = append(w.spans, o.found.spans...)
	if o.found.rows*o.found.classes > w.rows*w.classes {
		w.rows, w.classes = o.found.rows, o.found.classes
	}
}

// endOp takes the operator at hand.
func (o *oneHotFinder) endOp() {
	if o.at.name == "" {
		return
	}
	took := float64(o.ev.Dur[o.at.id])
	o.found.all += took
	if number, ok := attention.Pass(o.ev, o.c.S.Strings, o.at.id); ok {
		if o.passes[number] {
			o.found.time += took
		}
		return
	}
	switch {
	case o.at.hot != nil && len(o.made) == 1 && zeros[o.made[0].name]: // by hand: zeros, then a one in each row
		o.made[0].hot = o.at.hot
		o.made = append(o.made, o.at)
	case o.at.hot != nil || zeros[o.at.name]:
		o.made = append(o.made[:0], o.at)
	case len(o.made) == 0:
	case o.made[0].hot == nil:
		o.made = o.made[:0]
	case multiplies(o.at.operands, o.made[0].hot):
		for _, op := range append(o.made, o.at) {
			o.found.time += float64(o.ev.Dur[op.id])
		}
		hot := o.made[0].hot
		attention.AddPasses(o.ev, o.made[0].id, o.at.last, o.passes)
		o.found.spans = append(o.found.spans, times.Interval{Start: o.ev.Start[o.made[0].id], End: o.ev.End(o.at.id)})
		classes := hot[len(hot)-1]
		if rows := arguments.Product(hot) / classes; rows*classes > o.found.rows*o.found.classes {
			o.found.rows, o.found.classes = rows, classes
		}
		o.made = o.made[:0]
	case conversions[o.at.name]:
		o.made = append(o.made, o.at)
	default:
		o.made = o.made[:0]
	}
}

// zeros are what a one is written into each row of.
var zeros = map[string]bool{"aten::zeros": true, "aten::zeros_like": true, "aten::new_zeros": true, "aten::full": true, "aten::zero_": true}

// conversions are what stands between one-hot vectors and their product: of them, and of the matrix.
var conversions = map[string]bool{
	"aten::to": true, "aten::_to_copy": true, "aten::type_as": true, "aten::view": true, "aten::reshape": true, "aten::flatten": true,
	"aten::unsqueeze": true, "aten::squeeze": true, "aten::t": true, "aten::transpose": true, "aten::detach": true, "aten::contiguous": true,
}

// oneEach says that a scatter writes one value into each row: its index has one column.
func oneEach(s [][]int64) bool {
	if len(s) < 3 || len(s[0]) < 2 || len(s[2]) != len(s[0]) {
		return false
	}
	last := len(s[0]) - 1
	return s[2][last] == 1 && s[0][last] > 1 && slices.Equal(s[0][:last], s[2][:last])
}

// multiplies says that one of a product's operands has so many rows of so many classes.
func multiplies(operands [][]int64, hot []int64) bool {
	classes := hot[len(hot)-1]
	return slices.ContainsFunc(operands, func(s []int64) bool {
		return len(s) >= 2 && s[len(s)-1] == classes && arguments.Product(s) == arguments.Product(hot)
	})
}
