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

// FindSorted names tensors that are sorted as a whole, after which few places are taken: the ten best of all items.
func FindSorted(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	s := &sortedFew{}
	f, t, ok := sequenceDraft(c, s, finding.Finding{Cause: finding.MemoryBound, Sub: "sorted"}, sorts, price.Sorted)
	if !ok {
		return nil
	}
	f.Title = wording.Say("memory.title-sorted", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.sorted", wording.Time("time", t), c.Said(), wording.Count("places", s.places),
		wording.Count("taken", s.most))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-sorted")}
	f.Caveat = []wording.Text{wording.Say("memory.caveat-sorted")}
	return []finding.Draft{f}
}

// sorts matches a line that sorts a tensor.
var sorts = regexp.MustCompile(`\b(?:arg|m)?sort\(`)

// sortedFew is what sorts a tensor along a dimension, and what takes few places of that next, with nothing else that reads a tensor of the
// same shape before the next one is sorted.
type sortedFew struct {
	by           []outerOp // nil: nothing to take from
	shape        []int64
	dim          int
	taken        int64 // of the values, or of their places
	places, most int64 // of the longest row, and how many are taken there
}

var sorting = map[string]bool{"aten::sort": true, "aten::argsort": true, "aten::msort": true}

func (s *sortedFew) wants(name string) bool { return sorting[name] || s.by != nil }

func (s *sortedFew) next(op *outerOp) (whole []outerOp, counts float64) {
	if op == nil {
		return s.over()
	}
	at := slices.IndexFunc(op.inside, func(in shapedOp) bool { return in.name == op.name && len(in.shapes) > 0 })
	if at < 0 {
		return nil, 0
	}
	in := &op.inside[at]
	if sorting[op.name] {
		whole, counts = s.over()
		s.shape, s.dim, s.taken = in.shapes[0], sortedDim(in), 0
		if s.dim >= 0 && arguments.Product(s.shape) >= price.SortedLeast {
			s.by = []outerOp{*op}
		}
		return whole, counts
	}
	if !slices.ContainsFunc(in.shapes, func(one []int64) bool { return slices.Equal(one, s.shape) }) {
		return nil, 0
	}
	switch t, ok := takenBy(in); {
	case ok && t.dim == s.dim:
		s.taken = max(s.taken, t.places)
	case s.taken > 0 && !byPlaces.MatchString(op.name): // numbers of the same shape, of the next round
		return s.over()
	default: // it may read all places
		s.by = nil
	}
	return nil, 0
}

// byPlaces matches operators that read or write where a tensor of places says.
var byPlaces = regexp.MustCompile(`gather|take|scatter|index`)

// over gives what was sorted, if few places were taken of it.
func (s *sortedFew) over() (whole []outerOp, counts float64) {
	if s.by != nil && s.taken > 0 && float64(s.taken) <= price.SortedTaken*float64(s.shape[s.dim]) {
		if whole = s.by; s.shape[s.dim] > s.places {
			s.places, s.most = s.shape[s.dim], s.taken
		}
	}
	s.by = nil
	return whole, 1
}

// sortedDim is the dimension along which an operator sorts; -1 where that is not known. Whether equal numbers keep their order may stand
// before it.
func sortedDim(in *shapedOp) int {
	for _, value := range in.concrete[min(1, len(in.concrete)):] {
		if _, err := strconv.Atoi(value); err == nil {
			return dimension(value, in.shapes[0])
		}
	}
	if in.name == "aten::msort" {
		return dimension("0", in.shapes[0])
	}
	return len(in.shapes[0]) - 1
}
