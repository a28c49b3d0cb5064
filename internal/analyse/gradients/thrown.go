package gradients

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// Thrown is what traced steps say of gradients that are made anew in each of several backward passes.
type Thrown struct {
	Made    float64 // gradients per step that found none to be added to
	Added   float64 // gradients per step that were added to what was there
	Weights float64 // of the passes' time, 0..1, in products whose result is a weight's gradient; a convolution's pass is half of it
}

// ThrownOf finds it for the accounted process; nil where no traced step holds a backward pass, or none of them tells shapes.
func ThrownOf(s *model.Session, b *account.Breakdown) *Thrown {
	t, steps, shaped := &Thrown{}, 0, 0
	for _, st := range account.TracedSteps(s, b) {
		made, added, fresh := 0, 0, false
		sizes := map[int64]int64{}
		st.EachOp(b.Thread, func(ev *model.Events, id model.EventID, outer bool) {
			switch name := s.Strings.Text(ev.Name[id]); {
			case outer:
				fresh = false
			case fresh && (name == "aten::add_" || name == "aten::add"):
				made, added, fresh = made-1, added+1, false
			case name == naming.Accumulates: // not where torch.autograd.grad hands it back
				made, fresh = made+1, true
				if shapes := arguments.Shapes(s.Strings.Text(ev.OpArgsOf(ev.Detail[id]).Shapes)); len(shapes) > 0 && len(shapes[0]) > 1 {
					sizes[arguments.Product(shapes[0])]++
				}
			}
		})
		if made+added == 0 {
			continue
		}
		steps++
		t.Made += float64(made)
		t.Added += float64(added)
		p := unusedPass{sizes: sizes, counts: map[int64]int64{}}
		all := p.read(s, b, &st)
		if !p.shaped || all <= 0 {
			continue
		}
		shaped++
		weights := 0.0
		for _, of := range p.products {
			weights += of.weight
		}
		t.Weights += weights / all
	}
	if steps == 0 || shaped == 0 {
		return nil
	}
	t.Made, t.Added, t.Weights = t.Made/float64(steps), t.Added/float64(steps), t.Weights/float64(shaped)
	return t
}
