package rerun

import (
	"cmp"
	"encoding/json"
	"slices"
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
	// RecordedUs is its median duration as recorded, PerStep how often it runs in a step.
	RecordedUs float64 `json:"recorded_us"`
	PerStep    float64 `json:"-"`
	self       int64
}

// minRecorded is the shortest operator worth repeating, ns: below it the time is dispatch, which a lone repetition does not show.
const minRecorded = 20_000

// HotOps picks up to limit operators of the traces that hold shapes, most own time first. Operators on devices are left out: their
// time on the host is not what they cost.
func HotOps(s *model.Session, limit int) []Op {
	type key struct{ name, shapes, strides, types, concrete model.Str }
	durs, selfs := map[key][]model.Dur{}, map[key]int64{}
	steps := 0
	for _, t := range s.Traces {
		if !t.Features.Shapes || t.Features.Device {
			continue
		}
		steps += stepsOf(s, t)
		self := ownTimes(t)
		ev := &t.Events
		for i := range ev.Len() {
			if ev.Kind[i] != model.KindOp || ev.Detail[i] < 0 || !strings.HasPrefix(s.Strings.Text(ev.Name[i]), "aten::") {
				continue
			}
			d := ev.OpArgsOf(ev.Detail[i])
			if d.Shapes == 0 || d.Types == 0 || d.Unended {
				continue
			}
			k := key{ev.Name[i], d.Shapes, d.Strides, d.Types, d.Concrete}
			durs[k] = append(durs[k], ev.Dur[i])
			selfs[k] += self[i]
		}
	}
	var out []Op
	for k, list := range durs {
		slices.Sort(list)
		median := list[len(list)/2]
		if median < minRecorded || 2*selfs[k] < int64(median)*int64(len(list)) { // most of its time must be its own
			continue
		}
		raw := func(id model.Str) json.RawMessage {
			if text := s.Strings.Text(id); json.Valid([]byte(text)) {
				return json.RawMessage(text)
			}
			return json.RawMessage("[]")
		}
		out = append(out, Op{Name: s.Strings.Text(k.name), Shapes: raw(k.shapes), Strides: raw(k.strides), Types: raw(k.types), Concrete: raw(k.concrete),
			RecordedUs: float64(median) / 1e3, PerStep: float64(len(list)) / float64(max(steps, 1)), self: selfs[k]})
	}
	slices.SortFunc(out, func(x, y Op) int {
		return cmp.Or(cmp.Compare(y.self, x.self), cmp.Compare(x.Name, y.Name), cmp.Compare(string(x.Shapes), string(y.Shapes)))
	})
	return out[:min(len(out), limit)]
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
