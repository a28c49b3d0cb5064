package collectives

import (
	"strings"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// onHost is the device number of collectives that run on CPU threads.
const onHost = -1

// hostCollectives are the calls that a process group worked off on CPU threads ("gloo:all_reduce"), in order of start.
func hostCollectives(t *model.Trace, s *model.Strings) []Collective {
	ev := &t.Events
	isCall := map[model.Str]bool{}
	kinds := map[[3]model.Str]*collectiveKind{}
	var ids []model.EventID
	for i := range ev.Len() {
		if k := ev.Kind[i]; k != model.KindAnnotation && k != model.KindOp {
			continue
		}
		is, known := isCall[ev.Name[i]]
		if !known {
			is = naming.HasAnyPrefix(s.Text(ev.Name[i]), "gloo:", "mpi:", "ucc:")
			isCall[ev.Name[i]] = is
		}
		if is {
			ids = append(ids, model.EventID(i))
		}
	}
	var out []Collective
	for _, id := range times.MergeLanes(ev, ids) {
		key := [3]model.Str{ev.Name[id]}
		if d := ev.Detail[id]; d >= 0 {
			key[1], key[2] = ev.OpArgsOf(d).Shapes, ev.OpArgsOf(d).Types
		}
		kind := kinds[key]
		if kind == nil {
			kind = hostKind(s.Text(key[0]), s.Text(key[1]), s.Text(key[2]), t.World)
			kinds[key] = kind
		}
		out = append(out, Collective{kind, id, ev.Start[id], ev.End(id), -1})
	}
	return out
}

// hostKind describes calls of one name and one set of tensors.
func hostKind(name, shapes, types string, ranks int) *collectiveKind {
	_, op, _ := strings.Cut(name, ":")
	k := &collectiveKind{op: op, size: ranks, bytes: -1, seq: -1}
	k.factor, _ = busFactor(op, ranks)
	for i, elem := range arguments.Texts(types) {
		_, width := arguments.ElementType(elem)
		dims := arguments.Shapes(shapes)
		if width == 0 || i >= len(dims) || dims[i] == nil {
			continue
		}
		k.dtype = elem
		k.bytes = max(k.bytes, 0) + width*arguments.Product(dims[i])
	}
	return k
}

// hostCommunication sums up the collectives on CPU threads; exposed is when no thread runs an operator of another kind.
func hostCommunication(t *model.Trace, s *model.Strings, list []Collective) (rows []Communication, calls []*collectiveKind) {
	if len(list) == 0 {
		return nil, nil
	}
	return sumCollectives(list, hostCompute(t, s), t.Rank, onHost)
}

// hostCompute is the time in which operators other than collectives run on any thread.
func hostCompute(t *model.Trace, s *model.Strings) stats.Set {
	ev := &t.Events
	var out []stats.Interval
	for i := range ev.Len() {
		top := ev.Parent[i] == model.NoEvent || ev.Kind[ev.Parent[i]] != model.KindOp
		if ev.Kind[i] == model.KindOp && top && !naming.HasAnyPrefix(s.Text(ev.Name[i]), "c10d::", "gloo:", "mpi:", "ucc:",
			"record_param_comms") {
			out = append(out, times.OfEvent(ev, model.EventID(i)))
		}
	}
	return stats.Union(out)
}

// doing names what a rank did in [from, to): computing on the device, the operator or data wait that took most of it, or
// neither ("" then).
func doing(t *model.Trace, s *model.Strings, from, to model.Time) string {
	if to <= from {
		return ""
	}
	ev := &t.Events
	kinds := naming.NewKernelClasses(s)
	sums := map[model.Str]model.Dur{}
	var device []stats.Interval
	for i := range ev.Len() {
		id := model.EventID(i)
		part := min(ev.End(id), to).Sub(max(ev.Start[i], from))
		if part <= 0 {
			continue
		}
		switch k := ev.Kind[i]; {
		case k == model.KindKernel && kinds.Of(ev, id).Compute():
			device = append(device, times.OfEvent(ev, id))
		case k == model.KindOp && (ev.Parent[i] == model.NoEvent || ev.Kind[ev.Parent[i]] != model.KindOp),
			k == model.KindAnnotation && naming.IsDataLoader(s.Text(ev.Name[i])):
			if !naming.HasAnyPrefix(s.Text(ev.Name[i]), "c10d::", "gloo:", "nccl:", "record_param_comms") {
				sums[ev.Name[i]] += part
			}
		}
	}
	if 2*stats.Union(device).LenIn(stats.Interval{From: int64(from), To: int64(to)}) > int64(to-from) {
		return "computing on the device"
	}
	best, most := model.Str(0), to.Sub(from)/3
	for name, sum := range sums {
		if sum > most || sum == most && name < best {
			best, most = name, sum
		}
	}
	return s.Text(best)
}
