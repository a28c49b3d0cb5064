package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"

	"bottleneck/internal/analyse/criticalpath"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/model"
)

// queueCall says whether HTA counts a call for its queues.
func queueCall(name string) bool {
	switch name {
	case "cudaLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernel", "cudaMemcpyAsync", "cudaMemsetAsync", "hipLaunchKernel",
		"hipExtModuleLaunchKernel", "hipMemcpyAsync", "hipMemsetAsync", "hipMemcpyWithStream":
		return true
	}
	return false
}

func (r *rules) queue(t *table, h *holistic) {
	ours, byMax, byCount := map[int64]int{}, map[int64]int{}, map[int64]int{}
	linked := map[int64]int{}
	for _, id := range r.rows {
		if r.t.Events.Kind[id].Device() && r.t.Events.Link[id] != model.NoEvent {
			linked[r.t.Lanes[r.t.Events.Lane[id]].Stream]++
		}
	}
	for _, s := range device.Streams(r.t, r.s) {
		ours[s.Stream] = max(ours[s.Stream], s.Queue.Max)
	}
	r.queueByRule(byMax, byCount)
	var streams []int64
	for name := range h.Queue {
		if n, err := strconv.ParseFloat(name, 64); err == nil {
			streams = append(streams, int64(n))
		}
	}
	sort.Slice(streams, func(i, j int) bool { return streams[i] < streams[j] })
	for _, stream := range streams {
		theirs, ok := h.Queue[strconv.FormatInt(stream, 10)]
		if !ok {
			theirs = h.Queue[fmt.Sprintf("%d.0", stream)]
		}
		t.row(fmt.Sprintf("stream %d, changes of the queue", stream), theirs[0], float64(2*linked[stream]), float64(byCount[stream]),
			"HTA knows some launching calls only")
		t.row(fmt.Sprintf("stream %d, longest queue", stream), theirs[1], float64(ours[stream]), float64(byMax[stream]),
			"HTA knows some launching calls only, and sorts equal times as they come")
	}
}

// queueByRule counts the changes of HTA's series; a call and its work at one time count in either order.
func (r *rules) queueByRule(longest, changes map[int64]int) {
	ev := &r.t.Events
	type change struct {
		at model.Time
		by int
	}
	series := map[int64][]change{}
	for _, id := range r.rows {
		launch := ev.Link[id]
		if launch == model.NoEvent || !queueCall(r.s.Text(ev.Name[launch])) {
			continue
		}
		stream := r.t.Lanes[ev.Lane[id]].Stream
		series[stream] = append(series[stream], change{ev.Start[launch], 1}, change{ev.Start[id], -1})
		changes[stream] += 2
	}
	for stream, list := range series {
		sort.SliceStable(list, func(i, j int) bool {
			return list[i].at < list[j].at || list[i].at == list[j].at && list[i].by < list[j].by
		})
		length := 0
		for _, c := range list {
			length += c.by
			longest[stream] = max(longest[stream], length)
		}
	}
}

func (r *rules) bandwidth(t *table, h *holistic) {
	ours := map[string]device.Bandwidth{}
	for _, b := range device.Bandwidths(r.t, r.s) {
		ours[b.Kind] = b
	}
	var kinds []string
	for kind := range h.Bandwidth {
		kinds = append(kinds, kind)
	}
	sort.Strings(kinds)
	for _, kind := range kinds {
		for key, v := range h.Bandwidth[kind] {
			if strings.Contains(key, "'max'") {
				t.row("bandwidth of "+kind+", highest", v, ours[kind].Max, r.highest(kind),
					"HTA adds a copy before it takes away one that ends at the same time")
			}
		}
	}
}

// highest is the greatest sum of a kind's bandwidths when at one time beginnings come before ends.
func (r *rules) highest(kind string) float64 {
	ev := &r.t.Events
	type change struct {
		at model.Time
		by float64
	}
	var changes []change
	for _, id := range r.rows {
		d := ev.Detail[id]
		if k := ev.Kind[id]; k != model.KindMemcpy && k != model.KindMemset || d < 0 || !strings.HasPrefix(r.s.Text(ev.Name[id]), kind) {
			continue
		}
		rate := float64(ev.DeviceArgsOf(d).BandwidthGBs)
		changes = append(changes, change{ev.Start[id], rate}, change{ev.Start[id] + max(1000, model.Time(ev.Dur[id])), -rate})
	}
	sort.Slice(changes, func(i, j int) bool {
		return changes[i].at < changes[j].at || changes[i].at == changes[j].at && changes[i].by > changes[j].by
	})
	level, best := 0.0, 0.0
	for _, c := range changes {
		level += c.by
		best = max(best, level)
	}
	return best
}

func (r *rules) critical(t *table, h *holistic) {
	if h.Critical == nil {
		return
	}
	var theirs float64
	for _, v := range h.Critical {
		theirs += v
	}
	from, to := r.t.From, r.t.To
	if len(r.t.Steps) > 0 && r.t.Steps[0].Source == model.StepProfiler {
		from, to = r.t.Steps[0].Start, r.t.Steps[0].End
	}
	p := criticalpath.Of(r.t, r.s, from, to)
	ours := micro(p.To.Sub(p.From) - p.Kinds[criticalpath.Host])
	t.loose("critical path without time between operators", theirs, ours, r.pathReasons(p))
}

// pathReasons are why HTA's critical path of a window is another than ours, each with the trace of docs/differences.md that shows it.
func (r *rules) pathReasons(p *criticalpath.Path) string {
	ev := &r.t.Events
	after, graphs := model.Dur(0), 0
	for i := range ev.Len() {
		call := ev.Link[i]
		if !ev.Kind[i].Device() || call == model.NoEvent || ev.Start[call] < p.From || ev.Start[call] >= p.To {
			continue
		}
		after = max(after, ev.End(model.EventID(i)).Sub(p.To))
		if ev.Link[call] != model.EventID(i) {
			graphs++
		}
	}
	threads := map[model.LaneID]bool{}
	for _, s := range p.Spans {
		if s.Kind == criticalpath.Op && r.t.Lanes[s.Lane].Kind == model.LaneThread { // an unknown stretch has no lane
			threads[s.Lane] = true
		}
	}
	var out []string
	if after > 0 {
		out = append(out, fmt.Sprintf("its work ends %.0f µs after the window (after-window.json)", micro(after)))
	}
	if len(threads) > 1 {
		out = append(out, fmt.Sprintf("ours goes through %d threads, HTA's stays on one (two-threads.json)", len(threads)))
	}
	if graphs > 0 {
		out = append(out, fmt.Sprintf("%d kernels of graphs, which HTA leaves out (graph-kernels.json)", graphs))
	}
	return strings.Join(append(out, "HTA's is the longest sum of weights, ours the chain that ended last (short-stretches.json)"), "; ")
}

func (r *rules) counts(t *table, h *holistic) {
	kinds := map[string]model.Kind{"cpu_op": model.KindOp, "kernel": model.KindKernel, "gpu_memcpy": model.KindMemcpy,
		"gpu_memset": model.KindMemset, "user_annotation": model.KindAnnotation, "gpu_user_annotation": model.KindGPUAnnotation,
		"cuda_runtime": model.KindRuntime, "cuda_sync": model.KindSync, "python_function": model.KindPython}
	ours := map[model.Kind]int{}
	for i := range r.t.Events.Len() {
		ours[r.t.Events.Kind[i]]++
	}
	theirs := map[model.Kind]int64{}
	for cat, n := range h.Counts {
		if cat == "cuda_driver" {
			theirs[model.KindRuntime] += n
		}
		if kind, ok := kinds[cat]; ok {
			theirs[kind] += n
		}
	}
	for _, cat := range []string{"cpu_op", "cuda_runtime", "kernel", "gpu_memcpy", "gpu_memset", "user_annotation", "gpu_user_annotation",
		"cuda_sync", "python_function"} {
		if n := theirs[kinds[cat]]; n > 0 {
			by := 0.0
			for _, id := range r.rows {
				if r.t.Events.Kind[id] == kinds[cat] {
					by++
				}
			}
			t.row("events: "+cat, float64(n), float64(ours[kinds[cat]]), by, r.dropped)
		}
	}
}
