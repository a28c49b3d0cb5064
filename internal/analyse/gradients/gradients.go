package gradients

import (
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// gradientEvent is the name under which autograd's engine records that a pass has come to a tensor of the program's, such as a parameter.
// Within it the gradient is added to what is had (accumulates). It is not where torch.autograd.grad asked for it: that hands it back.
const gradientEvent = naming.EngineNode + ": " + naming.Accumulates

// Gradients is what the backward passes of traced steps accumulated.
type Gradients struct {
	Steps   int     // traced steps with a backward pass on the driving thread
	PerStep float64 // gradients that a step accumulates, on average
	shares  []float64
}

// GradientsOf finds them for the accounted process; nil where no traced step holds a backward pass.
func GradientsOf(s *model.Session, b *account.Breakdown) *Gradients {
	g := &Gradients{}
	total := 0
	for _, st := range account.TracedSteps(s, b) {
		type gradient struct {
			passed float64 // ns of the backward pass when it had been computed
			added  bool
		}
		gradients, all := []gradient(nil), 0.0
		st.EachOp(b.Thread, func(ev *model.Events, id model.EventID, outer bool) {
			name := s.Strings.Text(ev.Name[id])
			if n := len(gradients); !outer && n > 0 && name == naming.Accumulates {
				gradients[n-1].added = true
			}
			if !outer || !naming.IsBackward(name) {
				return
			}
			all += float64(ev.Dur[id])
			if strings.HasPrefix(name, gradientEvent) {
				gradients = append(gradients, gradient{passed: all})
			}
		})
		if slices.ContainsFunc(gradients, func(g gradient) bool { return g.added }) { // traces may lack what is within
			gradients = slices.DeleteFunc(gradients, func(g gradient) bool { return !g.added })
		}
		if all <= 0 {
			continue
		}
		g.Steps++
		total += len(gradients)
		for i := range gradients {
			if i == len(g.shares) {
				g.shares = append(g.shares, 0)
			}
			g.shares[i] += gradients[i].passed / all
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

// Unused is what the backward passes of traced steps spend on weights whose gradients nobody uses, as shares of the passes, 0..1.
type Unused struct {
	Weights float64 // products whose result is such a gradient
	Inputs  float64 // products that hand a gradient on through layers of such weights
	Others  float64 // what is no product, in the proportion of these products to all: norms, activations
	Dead    float64 // of Inputs and Others, what ends below in a layer whose own input needs no gradient: nothing learns there
	Last    bool    // all of these gradients come after all others: such layers lie below those that learn
}

// UnusedOf finds them in the traced steps that tell shapes, by the weights' numbers of elements, for an optimizer that steps once in so
// many backward passes; nil where there are none. Of products for weights of one size, of which some are used, these have their share. A
// convolution's backward pass is one operator for both products, of which each is taken for half.
func UnusedOf(s *model.Session, b *account.Breakdown, sizes map[int64]int64, passes float64) *Unused {
	u := &Unused{Last: true}
	all, products := 0.0, 0.0
	made, handed := map[int64]float64{}, map[int64]float64{} // products of each kind, by the weight's size
	for _, st := range account.TracedSteps(s, b) {
		p := unusedPass{sizes: sizes, counts: map[int64]int64{}, last: true}
		whole := p.read(s, b, &st)
		if !p.shaped || whole <= 0 {
			continue
		}
		all += whole
		products += p.all
		u.Last = u.Last && p.last
		for _, of := range p.products {
			mine := 1.0
			if n := float64(p.counts[of.size]); n > 0 {
				mine = min(1, float64(sizes[of.size])*passes/n)
			}
			u.Last = u.Last && mine == 1
			u.Weights += mine * of.weight
			u.Inputs += mine * of.input
			made[of.size] += of.made
			handed[of.size] += of.handed
		}
	}
	if all <= 0 || u.Weights <= 0 {
		return nil
	}
	for n, w := range made {
		u.Dead = max(u.Dead, 1-handed[n]/max(w, 1))
	}
	u.Weights, u.Inputs, u.Others = u.Weights/all, u.Inputs/all, max(all-products, 0)/all*(u.Weights+u.Inputs)/products
	return u
}

// unusedPass is what one traced step computes for weights of the sizes that are asked for.
type unusedPass struct {
	sizes    map[int64]int64
	counts   map[int64]int64 // gradients of weights that are accumulated, by size
	products []unusedProduct
	all      float64 // ns of products for any weights
	shaped   bool    // the trace tells shapes
	met      bool    // such a gradient
	last     bool    // no other one after it
}

// unusedProduct is an operator: its ns for a weight's gradient and for its input's, and how many of each it computes.
type unusedProduct struct {
	size                        int64
	weight, input, made, handed float64
}

// read counts what a traced step's backward passes compute, and gives their time in ns.
func (p *unusedPass) read(s *model.Session, b *account.Breakdown, st *account.TracedStep) (whole float64) {
	backward := false
	st.EachOp(b.Thread, func(ev *model.Events, id model.EventID, outer bool) {
		name := s.Strings.Text(ev.Name[id])
		if outer {
			if backward = naming.IsBackward(name); backward {
				whole += float64(ev.Dur[id])
			}
		}
		if d := ev.Detail[id]; backward && backwardOps[name] && d >= 0 && int(d) < len(ev.OpDetails) {
			args := &ev.OpArgs[ev.OpDetails[d].Args]
			p.add(name, arguments.Shapes(s.Strings.Text(args.Shapes)), s.Strings.Text(args.Concrete), float64(ev.Dur[id]))
		}
	})
	return whole
}

func (p *unusedPass) add(name string, shapes [][]int64, concrete string, dur float64) {
	p.shaped = p.shaped || len(shapes) > 0
	if name != naming.Accumulates {
		p.all += dur
	}
	switch {
	case name == naming.Accumulates && len(shapes) > 0 && len(shapes[0]) > 1:
		n := arguments.Product(shapes[0])
		p.counts[n]++
		p.last = p.last && (p.sizes[n] > 0 || !p.met)
		p.met = p.met || p.sizes[n] > 0
	case name == convolutionBackward && len(shapes) > 2:
		n := arguments.Product(shapes[2])
		asked := arguments.ConvolutionGradients(arguments.Texts(concrete))
		input, weight := asked[0], asked[1]
		switch {
		case p.sizes[n] == 0:
		case input && weight:
			p.products = append(p.products, unusedProduct{n, dur / 2, dur / 2, 1, 1})
		case weight:
			p.products = append(p.products, unusedProduct{n, dur, 0, 1, 0})
		}
	case name == "aten::mm" && len(shapes) > 1 && len(shapes[0]) == 2 && len(shapes[1]) == 2:
		left, right, n := arguments.Product(shapes[0]), arguments.Product(shapes[1]), shapes[0][0]*shapes[1][1]
		switch {
		case p.sizes[n] > 0:
			p.products = append(p.products, unusedProduct{n, dur, 0, 1, 0})
		case p.sizes[left] > 0:
			p.products = append(p.products, unusedProduct{left, 0, dur, 0, 1})
		case p.sizes[right] > 0:
			p.products = append(p.products, unusedProduct{right, 0, dur, 0, 1})
		}
	}
}

const convolutionBackward = "aten::convolution_backward"

// backwardOps are the operators by which UnusedOf tells what a backward pass computes.
var backwardOps = map[string]bool{naming.Accumulates: true, convolutionBackward: true, "aten::mm": true}

// GraphNodes is how many nodes of autograd's graph the operators of a step make, on average over traced steps of which no part goes
// backward; 0 where one does, or where none makes any. Autograd numbers its nodes, and an operator carries the number that is next.
func GraphNodes(s *model.Session, b *account.Breakdown) float64 {
	steps, nodes := 0, int64(0)
	for _, st := range account.TracedSteps(s, b) {
		least, most, backward := int64(-1), int64(-1), false
		st.EachOp(b.Thread, func(ev *model.Events, id model.EventID, _ bool) {
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
