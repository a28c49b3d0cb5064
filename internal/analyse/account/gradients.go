package account

import (
	"strings"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// gradientEvent is the name under which autograd's engine records that a parameter's gradient is added to what is had.
const gradientEvent = naming.EngineNode + ": torch::autograd::AccumulateGrad"

// Gradients is what the backward passes of traced steps accumulated.
type Gradients struct {
	Steps   int     // traced steps with a backward pass on the driving thread
	PerStep float64 // gradients that a step accumulates, on average
	shares  []float64
}

// GradientsOf finds them for the accounted process; nil where no traced step holds a backward pass.
func GradientsOf(s *model.Session, b *Breakdown) *Gradients {
	g := &Gradients{}
	total := 0
	for _, st := range TracedSteps(s, b) {
		passed, all := []float64(nil), 0.0 // ns of the backward pass when each gradient had been accumulated, and of all of it
		st.eachOp(b.Thread, func(ev *model.Events, id model.EventID, outer bool) {
			name := s.Strings.Text(ev.Name[id])
			if !outer || !naming.IsBackward(name) {
				return
			}
			all += float64(ev.Dur[id])
			if strings.HasPrefix(name, gradientEvent) {
				passed = append(passed, all)
			}
		})
		if all <= 0 {
			continue
		}
		g.Steps++
		total += len(passed)
		for i, t := range passed {
			if i == len(g.shares) {
				g.shares = append(g.shares, 0)
			}
			g.shares[i] += t / all
		}
	}
	if g.Steps == 0 {
		return nil
	}
	g.PerStep = float64(total) / float64(g.Steps)
	for i := range g.shares {
		g.shares[i] /= float64(g.Steps)
	}
	return g
}

// Until is the share of a backward pass, 0..1, that has passed when its n-th gradient has been accumulated: the engine goes from the loss
// to the input, so that the last layers' come first.
func (g *Gradients) Until(n int) float64 {
	if n <= 0 || len(g.shares) == 0 {
		return 0
	}
	return min(g.shares[min(n, len(g.shares))-1], 1)
}

// GraphNodes is how many nodes of autograd's graph the operators of a step make, on average over traced steps of which no part goes
// backward; 0 where one does, or where none makes any. Autograd numbers its nodes, and an operator carries the number that is next.
func GraphNodes(s *model.Session, b *Breakdown) float64 {
	steps, nodes := 0, int64(0)
	for _, st := range TracedSteps(s, b) {
		least, most, backward := int64(-1), int64(-1), false
		st.eachOp(b.Thread, func(ev *model.Events, id model.EventID, _ bool) {
			backward = backward || naming.IsBackward(s.Strings.Text(ev.Name[id]))
			d := ev.Detail[id]
			if d < 0 || int(d) >= len(ev.OpDetails) || ev.OpDetails[d].Sequence < 0 || ev.OpDetails[d].FwdThread != 0 {
				return
			}
			if least < 0 {
				least = ev.OpDetails[d].Sequence
			}
			most = max(most, ev.OpDetails[d].Sequence)
		})
		if backward {
			return 0
		}
		steps++
		nodes += max(most-least, 0)
	}
	return float64(nodes) / float64(max(steps, 1))
}
