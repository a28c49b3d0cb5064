package account

import (
	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/model"
	"cmp"
	"slices"
)

// StepRows is how many rows a traced step multiplied with weights in its largest product: tokens, samples or pixels.
type StepRows struct {
	Number int64 // of the step, over all kinds
	Rows   int64
}

// weighs are the operators that multiply rows with a layer's weights, and the position of the rows among their inputs.
var weighs = map[string]int{"aten::addmm": 1, "aten::_addmm_activation": 1, "aten::mm": 0, "aten::linear": 0}

// MatrixRows are the rows of the accounted kind's traced steps that recorded shapes, in their order; steps without such a product are left
// out.
func MatrixRows(s *model.Session, b *Breakdown) (out []StepRows) {
	if !b.PerStep {
		return nil
	}
	numbers := map[model.Time]int64{}
	for i := range b.Process.Steps {
		numbers[b.Process.Steps[i].Start] = b.Process.Steps[i].Number
	}
	for _, st := range TracedSteps(s, b) {
		if !st.Trace.Features.Shapes {
			continue
		}
		most := int64(0)
		st.EachOp(b.Thread, func(ev *model.Events, id model.EventID, _ bool) {
			at, ok := weighs[s.Strings.Text(ev.Name[id])]
			if !ok || ev.Detail[id] < 0 {
				return
			}
			dims := arguments.Shapes(s.Strings.Text(ev.OpArgsOf(ev.Detail[id]).Shapes))
			if len(dims) > at && len(dims[at]) >= 2 {
				most = max(most, arguments.Product(dims[at][:len(dims[at])-1]))
			}
		})
		if most > 0 {
			out = append(out, StepRows{numbers[st.Start], most})
		}
	}
	slices.SortFunc(out, func(x, y StepRows) int { return cmp.Compare(x.Number, y.Number) })
	return out
}
