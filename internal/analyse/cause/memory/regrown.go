package memory

import (
	"regexp"
	"strconv"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindRegrown names tensors to which rows are appended by concatenating all that there are with the next few, again and again, while nobody
// reads them: each time all rows so far are copied. Where somebody reads them in between, as attention does its keys and values, they
// have to be whole, and this says nothing.
func FindRegrown(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	s := &regrown{made: map[string]*grown{}}
	f, t, ok := sequenceAnywhere(c, s, finding.Finding{Cause: finding.MemoryBound, Sub: "regrown"}, concatenates, price.Regrown)
	if !ok {
		return nil
	}
	f.Title = wording.Say("memory.title-regrown", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.regrown", wording.Time("time", t), c.Said(), wording.Count("rows", s.rows),
		wording.Count("more", s.more))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-regrown")}
	// A trainer that gathers answers by itself does it for a function of the program's.
	if lines := c.UserLines(metrics.MatchString); !concatenates.MatchString(f.Where.Source) && len(lines) == 1 {
		f.Where = lines[0].Where()
		f.Fix.Advice = []wording.Text{wording.Say("memory.fix-regrown-metrics")}
	}
	f.Caveat = []wording.Text{wording.Say("memory.caveat-regrown")}
	return []finding.Draft{f}
}

var (
	// concatenates matches a line that may append to a tensor.
	concatenates = regexp.MustCompile(`\b(?:cat|concat|concatenate|hstack|vstack|row_stack)\(`)
	// metrics matches a line that hands a trainer of Hugging Face's the function for which it gathers what a model answers.
	metrics = regexp.MustCompile(`\bcompute_metrics\s*=\s*\w`)
)

// views are operators that hand on a tensor's memory, or copy it by another one.
var views = regexp.MustCompile(`^aten::(?:atleast_[123]d|_?view|_unsafe_view|reshape|_reshape_alias|detach_?|alias|slice|select|narrow|` +
	`transpose|t|permute|unsqueeze|squeeze|expand|as_strided|unbind|split|chunk|to|contiguous|resolve_conj|resolve_neg|lift_fresh)$`)

// grown is a large tensor that a concatenation has made.
type grown struct {
	numbers int64
	read    bool
}

// regrown are concatenations of two tensors, the longer of which one of them has made and nobody has read.
type regrown struct {
	made       map[string]*grown // by their shapes
	rows, more int64             // of the longest, and what it gets
}

func (r *regrown) wants(string) bool { return true }

func (r *regrown) next(op *outerOp) (whole []outerOp, counts float64) {
	if op == nil {
		return nil, 0
	}
	if op.name != "aten::cat" {
		r.reads(op)
		return nil, 0
	}
	for i := range op.inside {
		in := &op.inside[i]
		if in.name != op.name || len(in.list) != 2 {
			continue
		}
		longer, shorter := in.list[0], in.list[1]
		if arguments.Product(longer) < arguments.Product(shorter) {
			longer, shorter = shorter, longer
		}
		along, ok := appended(longer, shorter, in.concrete)
		if !ok {
			continue
		}
		result := append([]int64{}, longer...)
		result[along] += shorter[along]
		before := r.made[key(longer)]
		delete(r.made, key(longer))
		if numbers := arguments.Product(result); numbers >= price.RegrownLeast {
			r.made[key(result)] = &grown{numbers: numbers}
		}
		if before == nil || before.read || longer[along] < price.RegrownTimes*shorter[along] {
			return nil, 0
		}
		if longer[along] > r.rows {
			r.rows, r.more = longer[along], shorter[along]
		}
		return []outerOp{*op}, float64(longer[along]) / float64(result[along])
	}
	return nil, 0
}

// reads notes which of the tensors an operator reads, whatever shape it sees them in.
func (r *regrown) reads(op *outerOp) {
	for i := range op.inside {
		in := &op.inside[i]
		if views.MatchString(in.name) {
			continue
		}
		for _, shapes := range [][][]int64{in.shapes, in.list} {
			for _, shape := range shapes {
				numbers := arguments.Product(shape)
				for _, g := range r.made {
					g.read = g.read || numbers > 0 && numbers%g.numbers == 0
				}
			}
		}
	}
}

// appended is the dimension along which a concatenation of tensors of these shapes goes.
func appended(longer, shorter []int64, concrete []string) (along int, ok bool) {
	if len(longer) != len(shorter) || len(concrete) < 2 {
		return 0, false
	}
	along = dimension(concrete[1], longer)
	if along < 0 || shorter[along] <= 0 {
		return 0, false
	}
	for i := range longer {
		if i != along && (longer[i] != shorter[i] || longer[i] <= 0) {
			return 0, false
		}
	}
	return along, true
}

func key(shape []int64) string {
	var text []byte
	for _, n := range shape {
		text = append(strconv.AppendInt(text, n, 10), ',')
	}
	return string(text)
}
