package memory

import (
	"regexp"
	"slices"
	"strconv"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindUnread names a layer that answers for all places of a sequence where few of its answers are read: a head over all words whose last
// place alone is used.
func FindUnread(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	u := &unread{}
	f, t, ok := sequenceAnywhere(c, u, finding.Finding{Cause: finding.Padding, Sub: "unread"}, anyLine, price.Unread)
	if !ok {
		return nil
	}
	f.Title = wording.Say("padding.title-unread", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("padding.unread", wording.Time("time", t), c.Said(),
		wording.Count("places", u.places), wording.Count("read", u.used))}
	f.Fix.Advice = []wording.Text{wording.Say("padding.fix-unread")}
	f.Caveat = []wording.Text{wording.Say("padding.caveat-unread")}
	return []finding.Draft{f}
}

var anyLine = regexp.MustCompile(`\S`)

// unread is a layer, what computes each place's answer further, and what takes few places of that next, if nothing else reads the answer
// before the layer is called again.
type unread struct {
	made         []outerOp
	first        []int64   // shape of the layer's answer
	answer       []int64   // of what it has become
	before       [][]int64 // what it was until then
	over         int       // dimensions of places in it; others are of one place's answer
	read         int64     // places that are taken of it, 0 while none were
	dim          int       // of the places
	most         int64     // numbers in the largest answer
	places, used int64     // there
}

func (u *unread) wants(name string) bool { return name == "aten::linear" || u.answer != nil }

func (u *unread) next(op *outerOp) (whole []outerOp, counts float64) {
	if op == nil {
		return u.end()
	}
	in := slices.IndexFunc(op.inside, func(in shapedOp) bool { return in.name == op.name })
	if in < 0 {
		return nil, 0
	}
	outer := &op.inside[in]
	if shapes := outer.shapes; op.name == "aten::linear" && len(shapes) > 1 && len(shapes[0]) > 2 && len(shapes[1]) == 2 {
		answer := append(slices.Clone(shapes[0][:len(shapes[0])-1]), shapes[1][0])
		if u.answer == nil || u.read == 0 || slices.Equal(answer, u.first) {
			whole, counts = u.end()
			u.made, u.first, u.answer, u.before, u.over = []outerOp{*op}, answer, answer, nil, len(answer)-1
			return whole, counts
		}
	}
	if u.answer == nil {
		return nil, 0
	}
	if slices.ContainsFunc(outer.shapes, u.wasAnswer) {
		u.made, u.answer, u.read = nil, nil, 0
		return nil, 0
	}
	if !slices.ContainsFunc(outer.shapes, u.isAnswer) {
		return nil, 0
	}
	now := u.answer
	dim, n, ok := u.takes(outer)
	switch {
	case u.read > 0 && len(u.answer) == u.over && passing.MatchString(op.name): // of numbers, of which others may have as many
	case u.read == 0 && ok && n*price.UnreadLeast <= u.answer[dim]:
		u.made, u.read, u.dim = append(u.made, *op), n, dim
	case u.read == 0 && (ok && 2*n > u.answer[dim] || u.goesOn(outer)):
		if u.made = append(u.made, *op); ok {
			u.answer = slices.Clone(u.answer)
			u.answer[dim] = n
		}
		if !slices.Equal(now, u.answer) {
			u.before = append(u.before, now)
		}
	default:
		u.made, u.answer, u.read = nil, nil, 0
	}
	return nil, 0
}

// isAnswer says that a tensor may be the answer, or a view of it.
func (u *unread) isAnswer(s []int64) bool {
	return len(s) > 1 && s[len(s)-1] == u.answer[len(u.answer)-1] && arguments.Product(s) == arguments.Product(u.answer)
}

// wasAnswer says that a tensor may be what the answer was before it became another one.
func (u *unread) wasAnswer(s []int64) bool {
	return len(s) > u.over && !slices.Equal(s, u.answer) &&
		slices.ContainsFunc(u.before, func(b []int64) bool { return slices.Equal(b, s) })
}

// goesOn says that an operator computes each place's answer further, from that place alone, and notes its shape.
func (u *unread) goesOn(in *shapedOp) bool {
	last := len(u.answer) - 1
	if !slices.Equal(in.shapes[0], u.answer) || last < u.over {
		return false
	}
	inLast := func(argument int) bool {
		return len(in.concrete) > argument && dimension(in.concrete[argument], u.answer) == last
	}
	switch in.name {
	case "aten::to", "aten::contiguous", "aten::clone":
		return true
	case "aten::log_softmax", "aten::softmax":
		return inLast(1)
	case "aten::gather":
		if inLast(1) && len(in.shapes) > 2 && len(in.shapes[2]) == len(u.answer) {
			u.answer = in.shapes[2]
			return true
		}
	case "aten::squeeze":
		if inLast(1) && u.answer[last] == 1 {
			u.answer = u.answer[:last]
			return true
		}
	}
	return false
}

// takes says how many of a dimension's places an operator takes of the answer.
func (u *unread) takes(in *shapedOp) (dim int, n int64, ok bool) {
	t, ok := takenBy(in)
	if !ok || !slices.Equal(in.shapes[0], u.answer) || t.dim >= u.over {
		return 0, 0, false
	}
	if in.name == "aten::select" {
		return t.dim, t.places, t.dim > 0
	}
	return t.dim, t.places, t.span > 0 && (t.dim > 0 || t.span == u.answer[t.dim])
}

// taken are the places that a slice or a selection takes of a dimension, and from the first to the last how many it passes.
type taken struct {
	dim          int
	places, span int64
}

// takenBy reads the arguments of `slice` and `select`; ok is false of other operators and where these were not recorded.
func takenBy(in *shapedOp) (t taken, ok bool) {
	value := func(i int, missing int64) int64 {
		if i >= len(in.concrete) || in.concrete[i] == "" {
			return missing
		}
		v, err := strconv.ParseInt(in.concrete[i], 10, 64)
		if err != nil {
			return missing
		}
		return v
	}
	if in.name != "aten::select" && in.name != "aten::slice" || len(in.shapes) == 0 || len(in.concrete) < 2 {
		return t, false
	}
	shape := in.shapes[0]
	if t.dim = int(value(1, 0)); t.dim < 0 {
		t.dim += len(shape)
	}
	if t.dim < 0 || t.dim >= len(shape) {
		return t, false
	}
	if in.name == "aten::select" {
		t.places, t.span = 1, 1
		return t, true
	}
	size := shape[t.dim]
	from, to, step := value(2, 0), value(3, size), max(value(4, 1), 1)
	if from < 0 {
		from += size
	}
	if to < 0 {
		to += size
	}
	from, to = min(max(from, 0), size), min(max(to, 0), size)
	t.span = to - from
	t.places = max(t.span+step-1, 0) / step
	return t, true
}

// end gives the layer and what took places of its answer, where few were read.
func (u *unread) end() (whole []outerOp, counts float64) {
	if u.read > 0 {
		whole = u.made
		size := u.answer[u.dim]
		counts = 1 - float64(u.read)/float64(size)
		if n := arguments.Product(u.first); n > u.most {
			u.most, u.places, u.used = n, size, u.read
		}
	}
	u.made, u.answer, u.read = nil, nil, 0
	return whole, counts
}
