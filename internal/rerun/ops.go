package rerun

import (
	"cmp"
	"encoding/json"
	"math"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// Op is a recorded operator with its inputs.
type Op struct {
	Name     string          `json:"name"`
	Shapes   json.RawMessage `json:"shapes"`
	Strides  json.RawMessage `json:"strides"`
	Types    json.RawMessage `json:"types"`
	Concrete json.RawMessage `json:"concrete"`
	// Inside are the operators directly inside, where they tell of inputs that PyTorch does not record.
	Inside []Inner `json:"inside,omitempty"`
	// RecordedUs is its median duration as recorded, PerStep how often it runs in a step.
	RecordedUs float64 `json:"recorded_us"`
	PerStep    float64 `json:"-"`
	Device     string  `json:"-"` // "cuda" where RecordedUs is the time of the kernels that it launched
	// LowUs and HighUs are the 95 % interval of RecordedUs, which is that of so many Calls; 0 unknown.
	LowUs  float64 `json:"-"`
	HighUs float64 `json:"-"`
	Calls  int     `json:"-"`
	Place  *Place  `json:"-"` // where one of its calls ran; nil unknown
	self   int64
	key    opKey
}

// Inner is an operator directly inside a recorded one, with its inputs.
type Inner struct {
	Name     string          `json:"name"`
	Shapes   json.RawMessage `json:"shapes"`
	Types    json.RawMessage `json:"types"`
	Concrete json.RawMessage `json:"concrete"`
}

// minRecorded is the shortest operator worth repeating, ns: below it the time is dispatch, which a lone repetition does not show.
const minRecorded = 20_000

// byList are the operators that take a list of indices, some of which may be missing: PyTorch records nothing of such lists, but
// the operators inside take each index.
var byList = []string{"aten::index", "aten::_index_put_impl_", "aten::_unsafe_index"}

// maxInside bounds how many operators inside one are looked at.
const maxInside = 24

// opKey tells operators with the same inputs.
type opKey struct {
	name, shapes, strides, types, concrete model.Str
	inside                                 string // of what is inside: the ids of its texts
}

// opGroup is the calls of one operator with the same inputs.
type opGroup struct {
	durs   []model.Dur
	self   int64
	device bool
	inside []Inner
}

// HotOps picks up to limit operators of the traces that hold shapes, most own time first. Operators on devices are left out: their
// time on the host is not what they cost.
func HotOps(s *model.Session, limit int) []Op {
	groups := map[opKey]*opGroup{}
	steps := 0
	for _, t := range s.Traces {
		if t.Features.Shapes && !t.Features.Device {
			steps += stepsOf(s, t)
			gather(s, t, groups, nil, nil)
		}
	}
	var out []Op
	for k, g := range groups {
		if op, ok := g.op(s, k); ok && g.hot(op) {
			op.PerStep = float64(len(g.durs)) / float64(max(steps, 1))
			out = append(out, op)
		}
	}
	slices.SortFunc(out, func(x, y Op) int {
		return cmp.Or(cmp.Compare(y.self, x.self), cmp.Compare(x.Name, y.Name), cmp.Compare(string(x.Shapes), string(y.Shapes)))
	})
	return out[:min(len(out), limit)]
}

// gather adds a trace's operators to the groups; wanted, where it is given, says which. kernels, where they are given, are the times of
// operators on a device.
func gather(s *model.Session, t *model.Trace, groups map[opKey]*opGroup, wanted func(id model.EventID) bool,
	kernels map[model.EventID]model.Dur) {
	self := ownTimes(t)
	ev := &t.Events
	inside := insideOf(s, t)
	for i := range ev.Len() {
		k, ok := keyOf(s, ev, model.EventID(i), inside)
		if !ok || wanted != nil && !wanted(model.EventID(i)) || kernels != nil && kernels[model.EventID(i)] == 0 {
			continue
		}
		g := groups[k]
		if g == nil {
			g = &opGroup{inside: innerOf(s, ev, inside[model.EventID(i)])}
			groups[k] = g
		}
		if kernels != nil {
			g.device = true
			g.durs, g.self = append(g.durs, kernels[model.EventID(i)]), g.self+int64(kernels[model.EventID(i)])
			continue
		}
		g.durs = append(g.durs, ev.Dur[i])
		g.self += self[i]
	}
}

// keyOf tells what an operator of PyTorch was called with; ok is false where that was not recorded.
func keyOf(s *model.Session, ev *model.Events, id model.EventID, inside map[model.EventID][]model.EventID) (k opKey, ok bool) {
	if ev.Kind[id] != model.KindOp || ev.Detail[id] < 0 || !strings.HasPrefix(s.Strings.Text(ev.Name[id]), "aten::") {
		return k, false
	}
	d := ev.OpArgsOf(ev.Detail[id])
	if d.Shapes == 0 || d.Types == 0 || d.Unended {
		return k, false
	}
	return opKey{ev.Name[id], d.Shapes, d.Strides, d.Types, d.Concrete, insideKey(ev, inside[id])}, true
}

func innerOf(s *model.Session, ev *model.Events, calls []model.EventID) (out []Inner) {
	for _, id := range calls {
		c := ev.OpArgsOf(ev.Detail[id])
		out = append(out, Inner{s.Strings.Text(ev.Name[id]), list(s, c.Shapes), list(s, c.Types), list(s, c.Concrete)})
	}
	return out
}

// insideOf are the operators directly inside those of byList, in order.
func insideOf(s *model.Session, t *model.Trace) map[model.EventID][]model.EventID {
	out := map[model.EventID][]model.EventID{}
	ev := &t.Events
	for i := range ev.Len() {
		p := ev.Parent[i]
		if p < 0 || int(p) >= ev.Len() || ev.Kind[i] != model.KindOp || ev.Kind[p] != model.KindOp || ev.Detail[i] < 0 ||
			len(out[p]) >= maxInside {
			continue
		}
		if slices.Contains(byList, s.Strings.Text(ev.Name[p])) {
			out[p] = append(out[p], model.EventID(i))
		}
	}
	return out
}

func insideKey(ev *model.Events, calls []model.EventID) string {
	var key []byte
	for _, id := range calls {
		d := ev.OpArgsOf(ev.Detail[id])
		for _, text := range []model.Str{ev.Name[id], d.Shapes, d.Types, d.Concrete} {
			key = append(strconv.AppendInt(key, int64(text), 36), ' ')
		}
	}
	return string(key)
}

// hot says that repeating an operator alone shows what it costs: it is no short one, and most of its time is its own.
func (g *opGroup) hot(op Op) bool {
	if !takesTensor(op.Types) {
		return false // like aten::empty: there is nothing to make again
	}
	if g.device {
		return true // of its own kernels
	}
	median := op.RecordedUs * 1e3
	return median >= minRecorded && 2*float64(g.self) >= median*float64(len(g.durs))
}

// takesTensor tells from the recorded types of an operator's inputs whether one is a tensor or a list of them: numbers are "Scalar" or
// "ScalarList", all else is "".
func takesTensor(types json.RawMessage) bool {
	var names []string
	return json.Unmarshal(types, &names) == nil && slices.ContainsFunc(names, func(name string) bool {
		return name != "" && !strings.HasPrefix(name, "Scalar")
	})
}

// op makes the operator of a group; ok is false where its lists are too long.
func (g *opGroup) op(s *model.Session, k opKey) (op Op, ok bool) {
	slices.Sort(g.durs)
	median := g.durs[len(g.durs)/2]
	for _, id := range []model.Str{k.shapes, k.strides, k.types, k.concrete} {
		if len(s.Strings.Text(id)) > maxList {
			return op, false
		}
	}
	on := ""
	if g.device {
		on = "cuda"
	}
	op = Op{Device: on, Name: s.Strings.Text(k.name), Shapes: list(s, k.shapes), Strides: list(s, k.strides), Types: list(s, k.types),
		Concrete: list(s, k.concrete), Inside: g.inside, RecordedUs: float64(median) / 1e3, Calls: len(g.durs), self: g.self, key: k}
	n := len(g.durs)
	away := int(0.98*math.Sqrt(float64(n))) + 1 // ranks from the median of n values that its 95 % interval reaches
	op.LowUs, op.HighUs = float64(g.durs[max(n/2-away, 0)])/1e3, float64(g.durs[min(n/2+away, n-1)])/1e3
	return op, true
}

// maxList bounds the text of a recorded list: those of real operators have a few hundred characters, lists of a model's tensors more.
const maxList = 64 << 10

// list is a recorded list, empty where there is none or it is too long.
func list(s *model.Session, id model.Str) json.RawMessage {
	if text := s.Strings.Text(id); len(text) <= maxList && json.Valid([]byte(text)) {
		return json.RawMessage(text)
	}
	return json.RawMessage("[]")
}

// ownTimes is each event's duration without those directly inside it, ns.
func ownTimes(t *model.Trace) []int64 {
	ev := &t.Events
	own := make([]int64, ev.Len())
	for i := range own {
		own[i] += int64(ev.Dur[i])
		if p := ev.Parent[i]; p >= 0 && ev.Kind[i] != model.KindPython {
			own[p] -= int64(ev.Dur[i])
		}
	}
	return own
}

// stepsOf counts the steps that a trace covers, at least one.
func stepsOf(s *model.Session, t *model.Trace) int {
	n := len(t.Steps)
	if t.Process >= 0 && t.Process < len(s.Processes) {
		n = 0
		for i := range s.Processes[t.Process].Steps {
			st := &s.Processes[t.Process].Steps[i]
			if st.Start >= t.From-(st.End-st.Start)/2 && st.End <= t.To+(st.End-st.Start)/2 {
				n++
			}
		}
	}
	return max(n, 1)
}
