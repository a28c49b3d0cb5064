package main

import (
	"fmt"
	"regexp"
	"slices"
	"sort"
	"strings"

	"bottleneck/internal/analyse/device"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// rules applies HTA's definitions to our model, as a second opinion on why a number differs.
type rules struct {
	t         *model.Trace
	s         *model.Strings
	rows      []model.EventID // what HTA takes for device work: every row with a stream
	dropsRows bool            // HTA kept only device rows whose launching call is in the file
	dropped   string          // and how that reads as a rule
	wide      bool            // time stamps have more digits than float64 holds
}

const wideRule = "HTA holds time stamps of 19 digits in float64: 0.25 µs steps"

func newRules(t *model.Trace, s *model.Strings, h *holistic) *rules {
	r := &rules{t: t, s: s, wide: h.absolute && wide(t)}
	ev := &t.Events
	linked, kernels := int64(0), int64(0)
	for i := range ev.Len() {
		if ev.Kind[i] == model.KindKernel {
			kernels++
			if ev.Link[i] != model.NoEvent {
				linked++
			}
		}
	}
	if n := h.Counts["kernel"] + h.Counts["Kernel"]; n < kernels && n == linked {
		r.dropsRows, r.dropped = true, "HTA drops device rows whose launching call is not in the file"
	}
	for i := range ev.Len() {
		id := model.EventID(i)
		switch k := ev.Kind[i]; {
		case r.dropsRows && k.Device() && ev.Link[id] == model.NoEvent:
		case k.Device():
			r.rows = append(r.rows, id)
		case k == model.KindSync && ev.DeviceArgsOf(ev.Detail[i]).Stream >= 0:
			r.rows = append(r.rows, id)
		case k == model.KindOp && strings.HasPrefix(s.Text(ev.Name[i]), "triton_"): // its arguments hold the stream
			r.rows = append(r.rows, id)
		}
	}
	slices.SortStableFunc(r.rows, func(a, b model.EventID) int { return int(min(max(ev.Start[a]-ev.Start[b], -1), 1)) })
	return r
}

// wide says whether a trace has parts of microseconds.
func wide(t *model.Trace) bool {
	return slices.ContainsFunc(t.Events.Start, func(at model.Time) bool { return at%1000 != 0 })
}

var (
	htaCommunication = regexp.MustCompile(`^nccl|ncclKernel|^hip|^hccl`)
	htaMemory        = regexp.MustCompile(`^(hip)?Memcpy|^(hip)?Memset|^dma`)
)

// kind is HTA's kernel type of a row.
func (r *rules) kind(id model.EventID) string {
	name := r.s.Text(r.t.Events.Name[id])
	switch {
	case htaCommunication.MatchString(name):
		return "COMMUNICATION"
	case htaMemory.MatchString(name):
		return "MEMORY"
	case strings.Contains(name, "Sync") && !strings.Contains(name, "Stream Wait Event"):
		return "OTHER"
	}
	return "COMPUTATION"
}

// union is the time of the rows that pass.
func (r *rules) union(keep func(model.EventID) bool) stats.Set {
	var out []stats.Interval
	for _, id := range r.rows {
		if keep(id) {
			out = append(out, stats.Interval{From: int64(r.t.Events.Start[id]), To: int64(r.t.Events.End(id))})
		}
	}
	return stats.Union(out)
}

func (r *rules) of(kind string) stats.Set {
	return r.union(func(id model.EventID) bool { return r.kind(id) == kind })
}

func micro[T ~int64](d T) float64 { return float64(d) / 1000 }

const allStreamRows = "HTA takes every row with a stream for device work: synchronisation, Inductor's operators"

func compare(t *table, h *holistic, trace *model.Trace, s *model.Strings) {
	r := newRules(trace, s, h)
	r.temporal(t, h)
	r.kernels(t, h)
	r.overlap(t, h)
	r.idle(t, h)
	r.launches(t, h)
	r.queue(t, h)
	r.bandwidth(t, h)
	r.critical(t, h)
	r.counts(t, h)
}

func (r *rules) temporal(t *table, h *holistic) {
	if h.Temporal == nil {
		return
	}
	g := device.GPUs(r.t, r.s)[0] // HTA knows one device
	all := r.union(func(model.EventID) bool { return true })
	compute := r.of("COMPUTATION")
	t.row("device span", h.Temporal["kernel_time(us)"], micro(g.Span), micro(all.Hull().Len()), allStreamRows)
	idle, rule := micro(all.Hull().Len()-all.Len()), allStreamRows
	if off := h.Temporal["idle_time(us)"] - idle; r.wide && max(off, -off) < 0.25 {
		idle, rule = h.Temporal["idle_time(us)"], wideRule
	}
	t.row("device idle", h.Temporal["idle_time(us)"], micro(g.Idle), idle, rule)
	t.row("device compute", h.Temporal["compute_time(us)"], micro(g.Compute), micro(compute.Len()), allStreamRows+"; its name patterns")
}

func (r *rules) kernels(t *table, h *holistic) {
	if h.Kernels == nil {
		return
	}
	ours, by := map[string]device.Kernel{}, map[string]model.Dur{}
	for _, k := range device.Kernels([]*model.Trace{r.t}, r.s) {
		ours[k.Name] = k
	}
	for _, id := range r.rows {
		by[r.s.Text(r.t.Events.Name[id])] += r.t.Events.Dur[id]
	}
	var theirSum, ourSum, bySum float64
	wrong, byWrong, compared := 0, 0, 0
	for _, row := range h.Kernels.Names {
		name, sum := row[0].(string), row[2].(float64)
		k, ok := ours[name]
		if !ok {
			continue // a synchronisation row
		}
		compared++
		theirSum += sum
		ourSum += micro(k.Dur)
		bySum += micro(by[name])
		if !near(sum, micro(k.Dur)) || !near(row[3].(float64), micro(k.Max)) || !near(row[4].(float64), micro(k.Min)) {
			wrong++
		}
		if !near(sum, micro(by[name])) {
			byWrong++
		}
	}
	rule := allStreamRows
	if r.dropsRows {
		rule = r.dropped
	}
	t.row(fmt.Sprintf("kernels by name: sum over %d names", compared), theirSum, ourSum, bySum, rule)
	t.row("kernels by name: sum, max or min differ", float64(byWrong), float64(wrong), float64(byWrong), rule)
	t.row("kernels by name: names", float64(compared), float64(len(ours)), float64(compared), r.dropped)
	r.kernelTypes(t, h)
}

// kernelTypes compares the time during which only one type of work ran. HTA cuts each stretch to whole microseconds.
func (r *rules) kernelTypes(t *table, h *holistic) {
	sets := map[string]stats.Set{}
	var cuts []int64
	for _, kind := range []string{"COMPUTATION", "COMMUNICATION", "MEMORY"} {
		sets[kind] = r.of(kind)
		for _, i := range sets[kind] {
			cuts = append(cuts, i.From, i.To)
		}
	}
	slices.Sort(cuts)
	g := device.GPUs(r.t, r.s)[0]
	ours := map[string]float64{"MEMORY": micro(g.ExposedCopy), "COMMUNICATION": micro(g.ExposedCommunication),
		"COMPUTATION": micro(g.Compute)}
	var names []string
	for kind := range ours {
		if _, ok := h.Kernels.Types[kind]; ok {
			names = append(names, kind)
		}
	}
	sort.Strings(names)
	for _, kind := range names {
		by := 0.0
		for i := 1; i < len(cuts); i++ {
			if only(sets, kind, cuts[i-1]) {
				by += float64((cuts[i] - cuts[i-1]) / 1000)
			}
		}
		t.row("only "+strings.ToLower(kind), h.Kernels.Types[kind], ours[kind], by,
			"ours: computation hides what runs beside it; HTA: nothing else runs, and each stretch is cut to whole microseconds")
	}
}

// only says whether one type alone runs at an instant.
func only(sets map[string]stats.Set, kind string, at int64) bool {
	for other, set := range sets {
		if set.Has(at) != (other == kind) {
			return false
		}
	}
	return true
}

func (r *rules) overlap(t *table, h *holistic) {
	if h.Overlap == nil {
		return
	}
	g := device.GPUs(r.t, r.s)[0]
	comm, compute := r.of("COMMUNICATION"), r.of("COMPUTATION")
	by := 100 * float64(comm.And(compute).Len()) / float64(max(1, comm.Len()))
	ours := 100 * float64(g.Overlap) / float64(max(1, g.Communication))
	round := func(v float64) float64 { return float64(int64(v*100+0.5)) / 100 }
	t.row("communication hidden, %", *h.Overlap, round(ours), round(by), allStreamRows+"; its name patterns")
}

func (r *rules) idle(t *table, h *holistic) {
	if h.Idle == nil {
		return
	}
	type key struct {
		stream int64
		what   string
	}
	theirs, ours, by := map[key]float64{}, map[key]float64{}, map[key]float64{}
	for _, row := range h.Idle {
		theirs[key{int64(row[0].(float64)), row[1].(string)}] = row[2].(float64)
	}
	for _, s := range device.Streams(r.t, r.s) {
		ours[key{s.Stream, "host_wait"}] += micro(s.HostWait)
		ours[key{s.Stream, "kernel_wait"}] += micro(s.KernelWait)
		ours[key{s.Stream, "other"}] += micro(s.OtherWait)
	}
	r.idleByRule(func(stream int64, what string, gap model.Dur) { by[key{stream, what}] += micro(gap) })
	keys := make([]key, 0, len(theirs))
	for k := range theirs {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		return keys[i].stream < keys[j].stream || keys[i].stream == keys[j].stream && keys[i].what < keys[j].what
	})
	for _, k := range keys {
		rule := "HTA subtracts overlaps on a stream from its idle time"
		if !near(theirs[k], by[k]) {
			rule, by[k] = r.idleFlips(k.stream, theirs[k], by[k])
		}
		if r.dropsRows {
			rule = r.dropped
		}
		t.row(fmt.Sprintf("stream %d, %s", k.stream, k.what), theirs[k], ours[k], by[k], rule)
	}
}

// idleFlips explains gaps that HTA sorts otherwise: those before rows without a launch, which it looks up in the file's
// first row, and, where time stamps have more digits than float64 holds, those whose launch began within half a
// microsecond of the gap. Up to their sum the numbers can differ.
func (r *rules) idleFlips(stream int64, theirs, by float64) (string, float64) {
	ev := &r.t.Events
	var unlinked, close float64
	last := map[model.LaneID]model.EventID{}
	for _, id := range r.rows {
		lane := ev.Lane[id]
		before, known := last[lane]
		last[lane] = id
		if !ev.Kind[id].Device() || !known || r.t.Lanes[lane].Stream != stream {
			continue
		}
		gap := micro(max(0, ev.Start[id].Sub(ev.End(before)))) + 0.25
		switch launch := ev.Link[id]; {
		case launch == model.NoEvent:
			unlinked += gap
		case max(ev.Start[launch]-ev.End(before), ev.End(before)-ev.Start[launch]) <= 500:
			close += gap
		}
	}
	off := max(theirs-by, by-theirs)
	switch {
	case off <= unlinked:
		return "HTA looks up the launch of rows that have none in the file's first row", theirs
	case r.wide && off <= close:
		return wideRule, theirs
	}
	return "", by
}

// idleByRule adds negative gaps, as HTA does.
func (r *rules) idleByRule(add func(stream int64, what string, gap model.Dur)) {
	ev := &r.t.Events
	last := map[model.LaneID]model.EventID{}
	for _, id := range r.rows {
		if !ev.Kind[id].Device() {
			continue
		}
		lane := ev.Lane[id]
		before, known := last[lane]
		last[lane] = id
		if !known {
			continue
		}
		gap := ev.Start[id].Sub(ev.End(before))
		what := "other"
		if launch := ev.Link[id]; launch != model.NoEvent && ev.Start[launch] > ev.End(before) {
			what = "host_wait"
		} else if gap < 30_000 {
			what = "kernel_wait"
		}
		add(r.t.Lanes[lane].Stream, what, gap)
	}
}

// launchNames are the calls that HTA knows.
func launchNames(name string) bool {
	switch name {
	case "cudaLaunchKernel", "cudaLaunchKernelExC", "cudaMemcpyAsync", "cudaMemsetAsync":
		return true
	}
	return false
}

func (r *rules) launches(t *table, h *holistic) {
	if h.Launches == nil {
		return
	}
	ev := &r.t.Events
	var count, all int
	var cpu, gpu, delay model.Dur
	for _, id := range r.rows {
		launch := ev.Link[id]
		if launch == model.NoEvent {
			continue
		}
		if ev.Kind[id].Device() {
			all++
		}
		if launchNames(r.s.Text(ev.Name[launch])) {
			count++
			cpu += ev.Dur[launch]
			gpu += ev.Dur[id]
			delay += max(0, ev.Start[id].Sub(ev.End(launch)))
		}
	}
	l := device.GPUs(r.t, r.s)[0].Launches
	const rule = "HTA counts four CUDA calls only (no driver, graph or HIP launches)"
	t.row("launches", h.Launches["count"], float64(l.Count), float64(count), rule)
	t.row("device time of launches", h.Launches["gpu"], micro(l.DeviceTime), micro(gpu), rule)
	if count == all {
		t.row("time of launching calls", h.Launches["cpu"], micro(l.CallTime), micro(cpu),
			"HTA counts a call once per piece of work that it launched")
	}
	t.row("launch delay", h.Launches["delay"], micro(delay), 0, "")
}
