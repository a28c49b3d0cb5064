package ingest

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// group is the annotations of one name on one thread, in order.
type group struct {
	lane model.LaneID
	name model.Str
	ids  []model.EventID
}

// groups collects annotations whose name (with a number at its end left out) has the wanted property, the most frequent
// first.
func groups(t *model.Trace, texts *model.Strings, wanted func(name string, id model.EventID) bool) []*group {
	type key struct {
		lane model.LaneID
		name string
	}
	found := map[key]*group{}
	ev := &t.Events
	for id := range ev.Kind {
		if ev.Kind[id] != model.KindAnnotation {
			continue
		}
		text := texts.Text(ev.Name[id])
		if !wanted(text, model.EventID(id)) {
			continue
		}
		k := key{ev.Lane[id], strings.TrimRight(text, "0123456789")}
		if found[k] == nil {
			found[k] = &group{lane: k.lane, name: ev.Name[id]}
		}
		found[k].ids = append(found[k].ids, model.EventID(id))
	}
	list := make([]*group, 0, len(found))
	for _, g := range found {
		list = append(list, g)
	}
	slices.SortFunc(list, func(a, b *group) int {
		return cmp.Or(cmp.Compare(len(b.ids), len(a.ids)), cmp.Compare(a.ids[0], b.ids[0]))
	})
	return list
}

// ownNames begin annotations that PyTorch makes by itself.
var ownNames = []string{"Optimizer.", "enumerate(", "nccl:", "gloo:", "c10d::", "Torch-Compiled", "## ",
	"DistributedDataParallel.", "PyTorch Profiler", "ProfilerStep", "TorchDynamo", "CompiledFunction", "FullyShardedDataParallel.",
	"FSDP", "[pytorch|"}

// markedSteps are the program's own marks: an annotation that nothing but other annotations of its thread encloses,
// comes round, and covers most of what its thread did.
func markedSteps(t *model.Trace, texts *model.Strings) []model.TraceStep {
	ev := &t.Events
	for _, g := range groups(t, texts, func(name string, id model.EventID) bool {
		return !slices.ContainsFunc(ownNames, func(own string) bool { return strings.HasPrefix(name, own) })
	}) {
		if len(g.ids) < minSteps {
			break
		}
		lane := &t.Lanes[g.lane]
		var covered model.Dur
		nested := false
		for _, id := range g.ids {
			covered += ev.Dur[id]
			for p := ev.Parent[id]; p != model.NoEvent; p = ev.Parent[p] {
				nested = nested || ev.Kind[p] == model.KindOp
			}
		}
		first, last := g.ids[0], g.ids[len(g.ids)-1]
		if nested || covered*10 < model.Dur(ev.End(last)-ev.Start[first])*7 || covered*2 < laneSpan(ev, lane) {
			continue
		}
		return eachIs(t, g.ids)
	}
	return nil
}

func laneSpan(ev *model.Events, lane *model.Lane) model.Dur {
	var end model.Time
	for id := lane.FirstEvent; id < lane.EndEvent; id++ {
		end = max(end, ev.End(id))
	}
	return model.Dur(end - ev.Start[lane.FirstEvent])
}

func eachIs(t *model.Trace, ids []model.EventID) []model.TraceStep {
	steps := make([]model.TraceStep, len(ids))
	for i, id := range ids {
		steps[i] = model.TraceStep{Number: int64(i), Start: t.Events.Start[id], End: t.Events.End(id), Source: model.StepMark}
	}
	return ordered(steps)
}

// optimizerSteps end with each step of the optimizer that steps most often.
func optimizerSteps(t *model.Trace, texts *model.Strings) []model.TraceStep {
	list := groups(t, texts, func(name string, _ model.EventID) bool { return strings.HasPrefix(name, "Optimizer.step") })
	if len(list) == 0 {
		return nil
	}
	g := list[0]
	ends := []model.Time{t.Events.Start[t.Lanes[g.lane].FirstEvent]}
	for _, id := range g.ids {
		ends = append(ends, t.Events.End(id))
	}
	return between(ends, model.StepOptimizer)
}

// loaderSteps begin with each batch that is asked for.
func loaderSteps(t *model.Trace, texts *model.Strings) []model.TraceStep {
	list := groups(t, texts, func(name string, _ model.EventID) bool { return strings.HasPrefix(name, "enumerate(DataLoader)#") })
	if len(list) == 0 {
		return nil
	}
	g := list[0]
	var begins []model.Time
	for _, id := range g.ids {
		begins = append(begins, t.Events.Start[id])
	}
	lane := &t.Lanes[g.lane]
	return between(append(begins, t.Events.Start[lane.FirstEvent]+model.Time(laneSpan(&t.Events, lane))), model.StepDataLoader)
}

// between makes steps of the intervals between instants.
func between(at []model.Time, source model.StepSource) []model.TraceStep {
	var steps []model.TraceStep
	for i := 1; i < len(at); i++ {
		steps = append(steps, model.TraceStep{Number: int64(i - 1), Start: at[i-1], End: at[i], Source: source})
	}
	return ordered(steps)
}

// Bounds of the search for a period.
const (
	maxSequence   = 1 << 20 // rows looked at
	maxCandidates = 200     // names tried
	minPeriod     = 8       // rows: what repeats faster is a loop within a step
	likeness      = 0.9     // part of rows that must recur a period later
)

// periodSteps finds the period of what the busiest thread launches (or, without a device, of its operators): a name that
// comes round at even distances, such that the rows between come round with it. The longest such period is the step:
// layers repeat within it. Where a trace holds one pass only, its layers are all that repeats: they are no steps.
func periodSteps(t *model.Trace, _ *model.Strings) []model.TraceStep {
	rows := launchSequence(t)
	if len(rows) < minSteps*minPeriod {
		return nil
	}
	ev := &t.Events
	names := make([]model.Str, len(rows))
	for i, id := range rows {
		names[i] = ev.Name[id]
		if link := ev.Link[id]; link != model.NoEvent {
			names[i] = ev.Name[link]
		}
	}
	anchor := periodOf(names)
	if anchor == nil || isOnePass(names, anchor) {
		return nil
	}
	var begins []model.Time
	for _, i := range anchor {
		begins = append(begins, topOf(ev, rows[i]))
	}
	last := rows[len(rows)-1]
	period := anchor[len(anchor)-1] - anchor[len(anchor)-2]
	if end := anchor[len(anchor)-1] + period; end <= len(rows) { // the last one is whole
		if end < len(rows) {
			last = rows[end-1]
		}
		begins = append(begins, ev.End(last))
	}
	return between(begins, model.StepPeriod)
}

// isOnePass says that what repeats are layers of a single pass, as far as that shows: before them and after them comes what
// none of them does (an embedding, a head, a loss). Between whole steps nothing else happens.
func isOnePass(names []model.Str, anchor []int) bool {
	first, last := anchor[0], anchor[len(anchor)-1]
	repeats := map[model.Str]bool{}
	for _, n := range names[first:last] {
		repeats[n] = true
	}
	other := func(n model.Str) bool { return !repeats[n] }
	return slices.ContainsFunc(names[:first], other) && slices.ContainsFunc(names[last:], other)
}

// topOf is the start of the outermost operator around a row.
func topOf(ev *model.Events, id model.EventID) model.Time {
	top := id
	for p := ev.Parent[id]; p != model.NoEvent; p = ev.Parent[p] {
		if ev.Kind[p] == model.KindOp {
			top = p
		}
	}
	return ev.Start[top]
}

// launchSequence lists the calls that launch device work of the thread that launches most, else the outermost operators
// of the thread that has most.
func launchSequence(t *model.Trace) []model.EventID {
	ev := &t.Events
	count := func(want func(model.EventID) bool) []model.EventID {
		best, most := model.NoLane, 0
		for l := range t.Lanes {
			n := 0
			for id := t.Lanes[l].FirstEvent; t.Lanes[l].Kind == model.LaneThread && id < t.Lanes[l].EndEvent; id++ {
				if want(id) {
					n++
				}
			}
			if n > most {
				best, most = model.LaneID(l), n
			}
		}
		if best == model.NoLane {
			return nil
		}
		rows := make([]model.EventID, 0, min(most, maxSequence))
		for id := t.Lanes[best].FirstEvent; id < t.Lanes[best].EndEvent && len(rows) < maxSequence; id++ {
			if want(id) {
				rows = append(rows, id)
			}
		}
		return rows
	}
	if rows := count(func(id model.EventID) bool { return ev.Kind[id] == model.KindRuntime && ev.Link[id] != model.NoEvent }); len(
		rows) > 0 {
		return rows
	}
	return count(func(id model.EventID) bool {
		return ev.Kind[id] == model.KindOp && (ev.Parent[id] == model.NoEvent || ev.Kind[ev.Parent[id]] != model.KindOp)
	})
}

// periodOf returns the positions of the rows that begin the periods, nil when there is no period.
func periodOf(names []model.Str) []int {
	at := map[model.Str][]int{}
	for i, name := range names {
		at[name] = append(at[name], i)
	}
	var candidates [][]int
	for _, list := range at {
		if len(list) >= minSteps {
			candidates = append(candidates, list)
		}
	}
	// Rare names first: what comes once a step tells the step. Among equals the one seen first.
	slices.SortFunc(candidates, func(a, b []int) int { return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a[0], b[0])) })
	for _, list := range candidates[:min(len(candidates), maxCandidates)] {
		period := (list[len(list)-1] - list[0]) / (len(list) - 1)
		if period < minPeriod || !even(list, period) {
			continue
		}
		same, total := 0, 0
		for i := list[0]; i+period < list[len(list)-1]; i++ {
			total++
			if names[i] == names[i+period] {
				same++
			}
		}
		if total > 0 && float64(same) >= likeness*float64(total) {
			return list
		}
	}
	return nil
}

// even says whether distances are those of a period, apart from a row more or less.
func even(list []int, period int) bool {
	for i := 1; i < len(list); i++ {
		if d := list[i] - list[i-1] - period; d*20 > period || -d*20 > period {
			return false
		}
	}
	return true
}
