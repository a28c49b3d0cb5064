package memory

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// FindUnmade names what an inference on a device computes anew in each step from a tensor that no step makes, as where the vectors of an
// index are brought to length one for each question.
func FindUnmade(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if !c.OnDevice() || account.UntrackedWork(c.S, c.B) != nil {
		return nil // a batch in this machine's memory comes from anywhere; weights change in a training
	}
	table := unmadeTable(c)
	if table == nil {
		return nil
	}
	u := &fromTable{table: table}
	f, t, ok := sequenceAnywhere(c, u, finding.Finding{Cause: finding.Again, Sub: "unmade"}, dividesTable, price.Unmade)
	if !ok {
		return nil
	}
	f.Title = wording.Say("again.title-unmade", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("again.unmade", wording.Time("time", t), c.Said(), wording.Named("shape", shapeText(table)))}
	f.Fix.Advice = []wording.Text{wording.Say("again.fix-unchanging")}
	f.Caveat = []wording.Text{wording.Say("again.caveat-unmade")}
	return []finding.Draft{f}
}

// dividesTable matches a line that may compute lengths of vectors.
var dividesTable = regexp.MustCompile(`\bnormalize\(|linalg\.(?:vector_)?norm\(|\.norm\((?:p=|dim=|-|\d)|\.pow\(2\)|\*\* ?2\b|\bsquare\(`)

func shapeText(shape []int64) string {
	return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(shape), "[]")), " × ")
}

// unmadeTable is the largest tensor of the traced steps that recorded shapes, where no operator of a step can have made it: its number of
// rows is in none before the first that reads it, and all that read it compute number by number, reduce it, look at it otherwise or
// multiply it. It is nil where that holds for no tensor, or not in each step.
func unmadeTable(c *facts.Facts) (table []int64) {
	steps, at := account.TracedSteps(c.S, c.B), -1
	var step tableStep
	bad := false
	end := func() {
		switch {
		case step.largest == nil:
		case step.made || table != nil && !slices.Equal(table, step.largest):
			bad = true
		default:
			table = step.largest
		}
		step = tableStep{}
	}
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		args := ev.OpArgsOf(ev.Detail[id])
		if !outer || args.Shapes == 0 {
			return
		}
		i := slices.IndexFunc(steps, func(st account.TracedStep) bool {
			return &st.Trace.Events == ev && st.Start <= ev.Start[id] && ev.Start[id] < st.End
		})
		if i != at {
			end()
			at = i
		}
		step.next(c.Text(ev.Name[id]), arguments.Shapes(c.Text(args.Shapes)), c.Text(args.Concrete))
	})
	end()
	if bad {
		return nil
	}
	return table
}

// tableStep goes through the outermost operators of a step.
type tableStep struct {
	largest []int64
	made    bool            // as far as is known
	met     map[int64]bool  // sizes of dimensions
	told    strings.Builder // arguments that are no tensors
}

func (s *tableStep) next(name string, shapes [][]int64, concrete string) {
	if s.met == nil {
		s.met = map[int64]bool{}
	}
	for _, shape := range shapes {
		if len(shape) > 1 && shape[0] >= price.UnmadeRows && arguments.Product(shape) >= price.UnmadeLeast &&
			(s.largest == nil || arguments.Product(shape) > arguments.Product(s.largest)) {
			s.largest = shape
			s.made = s.met[shape[0]] || strings.Contains(s.told.String(), fmt.Sprint(shape[0]))
		}
	}
	for _, shape := range shapes {
		s.made = s.made || slices.Equal(shape, s.largest) && s.largest != nil && !readsOnly(name)
		for _, n := range shape {
			s.met[n] = true
		}
	}
	s.told.WriteString(concrete)
}

// readsOnly says that an operator with such a name computes number by number, reduces, multiplies or looks at what it is given otherwise,
// and writes nothing into it.
func readsOnly(name string) bool {
	return looks.MatchString(name) || computesAlone(name) || naming.OpKindOf(name).Dense() && !strings.HasSuffix(name, "_")
}

func computesAlone(name string) bool {
	kind := naming.OpKindOf(name)
	return !strings.HasSuffix(name, "_") && (kind == naming.OpElementwise || kind == naming.OpReduction)
}

// looks are operators that give another view of a tensor.
var looks = regexp.MustCompile(`^aten::(?:t|numpy_T|transpose|permute|view|reshape|unsqueeze|squeeze|flatten|expand|expand_as|detach|alias|size|` +
	`result_type)$`)

// fromTable are the operators that read nothing but such a tensor, and what was computed of it before.
type fromTable struct {
	table []int64
	open  []outerOp
	over  bool // something else has read what was computed
}

func (u *fromTable) wants(string) bool { return true }

func (u *fromTable) next(op *outerOp) (whole []outerOp, counts float64) {
	if op == nil {
		whole, u.open = u.open, nil
		return whole, 1
	}
	of := false // its rows
	alone := computesAlone(op.name) || looks.MatchString(op.name)
	if len(op.inside) > 0 {
		for _, s := range op.inside[0].shapes {
			of = of || slices.Contains(s, u.table[0])
			alone = alone && (len(s) == 0 || u.holds(s))
		}
	}
	switch {
	case !of:
		u.over = false
	case u.over || !alone:
		u.over = true
		whole, u.open = u.open, nil
	case len(u.open) > 0 || slices.ContainsFunc(op.inside[0].shapes, func(s []int64) bool { return slices.Equal(s, u.table) }):
		u.open = append(u.open, *op)
	}
	return whole, 1
}

// holds says that a tensor of that shape may be the table, or what is computed of its rows.
func (u *fromTable) holds(shape []int64) bool {
	return !slices.ContainsFunc(shape, func(n int64) bool { return n != 1 && !slices.Contains(u.table, n) })
}
