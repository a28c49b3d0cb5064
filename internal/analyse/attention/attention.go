package attention

import (
	"strings"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// Written is one attention of the forward pass: the outermost operators of a thread from the first product to the last.
type Written struct {
	First, Last model.EventID
	Softmax     model.EventID
	Elements    int64 // of the matrix of weights; 0 where the trace holds no shapes
	Masked      bool  // something else than a number was added, or places were filled, before the softmax
	Dropped     bool  // weights were dropped after it
	// Begin is the first of the layers before it, with nothing but views between.
	Begin   model.EventID
	OneHead bool // the matrix has no dimension of heads: batch, places, places
	Follows bool // only layers and views lie between the attention before and this one, as between two heads
}

// part is what an operator can be of an attention.
type part uint8

const (
	other    part = iota
	around        // changes numbers one by one, makes a mask, or is a view
	masks         // the same, of places of the matrix
	adds          // masks, where what it adds is a tensor
	drops         // leaves out weights
	projects      // is a layer that makes queries, keys or values
	softmax
	product
)

// parts are the operators that can stand between the products, without their library's name.
var parts = func() map[string]part {
	out := map[string]part{"softmax": softmax, "_softmax": softmax, "matmul": product, "bmm": product, "baddbmm": product, "einsum": product,
		"masked_fill": masks, "masked_fill_": masks, "where": masks, "add": adds, "add_": adds, "dropout": drops, "dropout_": drops,
		"native_dropout": drops, "linear": projects, "addmm": projects}
	for _, name := range strings.Fields(`mul mul_ div div_ true_divide sub sub_ rsub neg to _to_copy type_as view reshape expand expand_as
		unsqueeze squeeze transpose permute contiguous clone slice select split chunk index eq ne lt gt le ge logical_not bitwise_not
		bitwise_and __and__ tril triu ones ones_like zeros zeros_like full full_like fill_ empty tensor scalar_tensor lift_fresh detach detach_
		alias arange copy_ size t max clamp tanh flatten unflatten resolve_conj resolve_neg`) {
		out[name] = around
	}
	return out
}()

// most is how many operators may stand between two of the three that make an attention.
const most = 24

// Finder is handed a thread's outermost operators in their order. The zero value is none: see NewFinder.
type Finder struct {
	ev    *model.Events
	texts *model.Strings
	known map[model.Str]part
	open  Written
	seen  part // product or softmax; other before the first
	since int  // operators since then
	found []Written
	begin model.EventID // of the layers that may belong to what comes next; NoEvent without any
	apart bool          // something else came since the last attention
	// Likely takes a layer between softmax and product for that of the values where shapes were not recorded.
	Likely bool
}

// NewFinder looks for attention among a trace's operators.
func NewFinder(ev *model.Events, texts *model.Strings) *Finder {
	return &Finder{ev: ev, texts: texts, known: map[model.Str]part{}, begin: model.NoEvent, apart: true}
}

// Found are the attentions so far, in their order.
func (f *Finder) Found() []Written { return f.found }

// Add is the next outermost operator of the thread.
func (f *Finder) Add(id model.EventID) {
	is := f.partOf(f.ev.Name[id])
	f.since++
	if f.seen == other {
		f.leads(id, is)
	}
	switch {
	case is == product && f.seen == softmax && f.multiplies(id):
		f.open.Last = id
		f.found = append(f.found, f.open)
		f.open, f.seen, f.begin, f.apart = Written{}, other, model.NoEvent, false
	case is == product:
		f.open, f.seen, f.since = Written{First: id, Begin: id, Follows: !f.apart}, product, 0
		if f.begin != model.NoEvent {
			f.open.Begin = f.begin
		}
	case is == projects && f.seen == softmax && (f.Likely || f.open.Elements > 0): // values that are made last
	case is == projects && f.seen == other:
	case is == softmax && f.seen == product:
		f.open.Softmax, f.open.Elements = id, elements(f.shapes(id))
		f.open.OneHead = f.open.Elements > 0 && len(f.shapes(id)[0]) == 3
		f.seen, f.since = softmax, 0
	case is == other, is == projects, is == softmax, f.since > most:
		f.open, f.seen, f.begin, f.apart = Written{}, other, model.NoEvent, true
	case f.seen == product && (is == masks || is == adds && !addsNumber(f.shapes(id))):
		f.open.Masked = true
	case f.seen == softmax && is == drops && f.works(id):
		f.open.Dropped = true
	}
}

// leads looks at an operator before the first product.
func (f *Finder) leads(id model.EventID, is part) {
	switch is {
	case projects:
		if f.begin == model.NoEvent {
			f.begin = id
		}
	case around, drops, masks, product:
	default:
		f.begin, f.apart = model.NoEvent, true
	}
}

// partOf reads an operator's name. Softmaxes of other libraries that mask and scale as well are one operator.
func (f *Finder) partOf(name model.Str) part {
	is, ok := f.known[name]
	if !ok {
		text := f.texts.Text(name)
		is = parts[strings.TrimPrefix(text, "aten::")]
		if strings.HasSuffix(text, "Softmax") && !strings.Contains(text, "Log") {
			is = softmax
		}
		f.known[name] = is
	}
	return is
}

func (f *Finder) shapes(id model.EventID) [][]int64 {
	return arguments.Shapes(f.texts.Text(f.ev.OpArgsOf(f.ev.Detail[id]).Shapes))
}

// multiplies says that a product's first tensor can be the matrix of weights; shapes that are not there do not deny it.
func (f *Finder) multiplies(id model.EventID) bool {
	n := elements(f.shapes(id))
	return n == 0 || f.open.Elements == 0 || n == f.open.Elements
}

// works says that an operator called others: dropout in evaluation, or of nothing, gives back what it is called with.
func (f *Finder) works(id model.EventID) bool {
	next := id + 1
	return int(next) < f.ev.Len() && f.ev.Parent[next] == id
}

// addsNumber says that shapes are known, and that what is added has none.
func addsNumber(shapes [][]int64) bool { return len(shapes) > 1 && len(shapes[1]) == 0 }

// elements of the first tensor; 0 where they are not known.
func elements(shapes [][]int64) int64 {
	if len(shapes) == 0 || len(shapes[0]) == 0 {
		return 0
	}
	return arguments.Product(shapes[0])
}

// AddPasses adds the numbers by which backward passes of an attention's operators name them.
func (w *Written) AddPasses(ev *model.Events, to map[int64]bool) { AddPasses(ev, w.First, w.Last, to) }

// Projects says that an operator is a layer.
func (f *Finder) Projects(id model.EventID) bool { return f.partOf(f.ev.Name[id]) == projects }

// AddPasses adds the numbers by which backward passes of the operators from one to another of a thread name them.
func AddPasses(ev *model.Events, first, last model.EventID, to map[int64]bool) {
	for id := first; int(id) < ev.Len() && ev.Lane[id] == ev.Lane[first] && ev.Start[id] < ev.End(last); id++ {
		if d := ev.Detail[id]; ev.Kind[id] == model.KindOp && d >= 0 && int(d) < len(ev.OpDetails) && ev.OpDetails[d].Sequence >= 0 {
			to[ev.OpDetails[d].Sequence] = true
		}
	}
}

// Pass is the number of the operator whose backward pass an event is, or is around; ok is false for other events.
func Pass(ev *model.Events, texts *model.Strings, id model.EventID) (number int64, ok bool) {
	d := ev.Detail[id]
	if ev.Kind[id] != model.KindOp || d < 0 || int(d) >= len(ev.OpDetails) || !naming.IsBackward(texts.Text(ev.Name[id])) {
		return 0, false
	}
	return ev.OpDetails[d].Sequence, true
}
