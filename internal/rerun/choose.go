package rerun

import (
	"cmp"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// Choice says which recorded operators are asked for.
type Choice struct {
	Name  string // "aten::addmm"; "" any
	Limit int    // of operators with inputs of their own, heaviest first
	// At, where it is given, says which events of a trace are at a wanted place.
	At func(t *model.Trace) func(id model.EventID) bool
}

// name matches what operators of PyTorch are called.
var name = regexp.MustCompile(`^[A-Za-z_]\w*::[A-Za-z_]\w*(\.[A-Za-z_]\w*)?$`)

// ErrNoShapes says that no trace holds the inputs of operators.
var ErrNoShapes = errors.New("no inputs of operators were recorded: record them with bottleneck run --record-shapes, " +
	"or profile(record_shapes=True)")

// NotFoundError says that no such operator was recorded.
type NotFoundError struct {
	Name  string
	Known []string // operators that were recorded
}

func (e *NotFoundError) Error() string { return fmt.Sprintf("no operator %q was recorded", e.Name) }

// Choose picks operators whose inputs were recorded. An operator that is asked for by its name is taken with all that it calls.
func Choose(s *model.Session, c Choice) ([]Op, error) {
	if err := isolable(c.Name); err != nil {
		return nil, err
	}
	groups := map[opKey]*opGroup{}
	known := map[string]bool{}
	found := false
	for _, t := range s.Traces {
		if !t.Features.Shapes {
			continue
		}
		found = true
		for i := range t.Events.Len() {
			if t.Events.Kind[i] == model.KindOp {
				known[s.Strings.Text(t.Events.Name[i])] = true
			}
		}
		gather(s, t, groups, c.wanted(s, t), kernelsOf(t))
	}
	if !found {
		return nil, ErrNoShapes
	}
	var out []Op
	for k, g := range groups {
		if op, ok := g.op(s, k); ok && name.MatchString(op.Name) && (c.Name != "" || g.hot(op)) {
			out = append(out, op)
		}
	}
	if len(out) == 0 && c.Name != "" {
		e := &NotFoundError{Name: c.Name}
		for n := range known {
			e.Known = append(e.Known, n)
		}
		slices.Sort(e.Known)
		return nil, e
	}
	slices.SortFunc(out, func(x, y Op) int {
		return cmp.Or(cmp.Compare(y.self, x.self), cmp.Compare(x.Name, y.Name), cmp.Compare(string(x.Shapes), string(y.Shapes)))
	})
	out = out[:min(len(out), c.Limit)]
	placed(s, out, &c)
	return out, nil
}

// kernelsOf is the time of the kernels that each operator launched itself; nil of a trace without device work.
func kernelsOf(t *model.Trace) map[model.EventID]model.Dur {
	if !t.Features.Device {
		return nil
	}
	out := map[model.EventID]model.Dur{}
	ev := &t.Events
	for i := range ev.Len() {
		if ev.Kind[i] == model.KindKernel && i < len(ev.Op) && ev.Op[i] != model.NoEvent {
			out[ev.Op[i]] += ev.Dur[i]
		}
	}
	return out
}

// wanted are the events of a trace that the choice is about; nil: all.
func (c *Choice) wanted(s *model.Session, t *model.Trace) func(id model.EventID) bool {
	var at func(id model.EventID) bool
	if c.At != nil {
		at = c.At(t)
	}
	if c.Name == "" {
		return at
	}
	return func(id model.EventID) bool {
		return s.Strings.Text(t.Events.Name[id]) == c.Name && (at == nil || at(id))
	}
}

// isolable is an error for operators that no record can make again.
func isolable(op string) error {
	space, _, _ := strings.Cut(op, "::")
	switch {
	case op == "" || space == "aten":
		if op != "" && !name.MatchString(op) {
			return fmt.Errorf("%q is no operator's name, which is like aten::addmm", op)
		}
		return nil
	case slices.Contains([]string{"c10d", "_c10d_functional", "c10d_functional", "nccl", "gloo", "record_param_comms"}, space):
		return fmt.Errorf("%s needs other ranks, which one process does not have: its group is not in the record", op)
	case !strings.Contains(op, "::"):
		return fmt.Errorf("%q is no operator's name, which is like aten::addmm", op)
	}
	return fmt.Errorf("%s is not PyTorch's own: what it runs is code of another library, which a record does not hold; "+
		"isolate the aten:: operators that it calls", op)
}
