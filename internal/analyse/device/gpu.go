package device

import (
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// GPU is how one device of one trace spent its time. Busy + Idle = Span; Busy = Compute + ExposedCommunication + ExposedCopy;
// the idle causes sum to Idle.
type GPU struct {
	Rank     int
	Device   int32
	From, To model.Time // first start to last end of device work
	Span     model.Dur
	Busy     model.Dur // union of all device work
	Compute  model.Dur // union of kernels that are not collectives
	// Communication is the union of collectives, Overlap the part of it during which kernels compute as well.
	Communication, Overlap model.Dur
	Copy                   model.Dur // union of copies and sets
	ExposedCommunication   model.Dur // collectives while nothing computes
	ExposedCopy            model.Dur // copies while neither kernels nor collectives run
	Idle                   model.Dur
	IdleBy                 []IdleCause
	Launches               LaunchStats
	// SMEfficiency and Occupancy are the TensorBoard plugin's estimates, 0..1, -1 where the trace lacks them; TensorCores is
	// the share of kernel time in kernels whose names show matrix units, -1 without kernels.
	SMEfficiency, Occupancy, TensorCores float64
}

// GPUs analyses every device of a trace, in order of device number; empty where the trace holds no device work.
func GPUs(t *model.Trace, s *model.Strings) []GPU { return NewWork(t, s).GPUs() }

// GPUs is the function of that name.
func (work *Work) GPUs() []GPU {
	out := []GPU{}
	for _, w := range work.list {
		out = append(out, w.gpu())
	}
	return out
}

func (w *Timeline) gpu() GPU {
	sets := w.Sets()
	hull := sets.busy.Hull()
	exposed := sets.communication.Minus(sets.Compute)
	g := GPU{Rank: w.Trace.Rank, Device: w.Device, From: model.Time(hull.From), To: model.Time(hull.To), Span: model.Dur(hull.Len()),
		Busy: model.Dur(sets.busy.Len()), Compute: model.Dur(sets.Compute.Len()), Communication: model.Dur(sets.communication.Len()),
		Copy: model.Dur(sets.copies.Len()), ExposedCommunication: model.Dur(exposed.Len())}
	g.Overlap = g.Communication - g.ExposedCommunication
	g.Idle = g.Span - g.Busy
	g.ExposedCopy = g.Busy - g.Compute - g.ExposedCommunication
	g.IdleBy = w.idle(sets.busy)
	g.Launches = w.launches()
	g.SMEfficiency, g.Occupancy = w.smEfficiency(), w.occupancy()
	g.TensorCores = w.tensorCores()
	return g
}

// smEfficiency is the time-weighted mean over the span of Σ min(blocks per SM, 1) of the kernels that run, capped at 1.
func (w *Timeline) smEfficiency() float64 {
	ev := &w.Trace.Events
	blocks, any := stats.Capped{Limit: 1}, false
	for _, id := range w.Rows {
		if args := ev.DeviceArgsOf(ev.Detail[id]); ev.Kind[id] == model.KindKernel && args.BlocksPerSM > 0 {
			blocks.Add(stats.Weighted{Interval: times.OfEvent(ev, id), Weight: min(1, float64(args.BlocksPerSM))})
			any = true
		}
	}
	if !any {
		return -1
	}
	span := int64(0)
	if n := len(w.Rows); n > 0 {
		last := ev.End(w.Rows[0])
		for _, id := range w.Rows {
			last = max(last, ev.End(id))
		}
		span = int64(last - ev.Start[w.Rows[0]])
	}
	if span == 0 {
		return -1
	}
	return blocks.Sum() / float64(span)
}

// occupancy is the kernels' estimated occupancy weighted by their time.
func (w *Timeline) occupancy() float64 {
	ev := &w.Trace.Events
	var sum, time float64
	for _, id := range w.Rows {
		args := ev.DeviceArgsOf(ev.Detail[id])
		if ev.Kind[id] != model.KindKernel || args.Occupancy < 0 {
			continue
		}
		sum += float64(args.Occupancy) / 100 * float64(ev.Dur[id])
		time += float64(ev.Dur[id])
	}
	if time == 0 {
		return -1
	}
	return sum / time
}

func (w *Timeline) tensorCores() float64 {
	ev := &w.Trace.Events
	uses := map[model.Str]bool{}
	var with, all model.Dur
	for _, id := range w.Rows {
		if ev.Kind[id] != model.KindKernel {
			continue
		}
		u, known := uses[ev.Name[id]]
		if !known {
			u = naming.UsesTensorCores(w.texts.Text(ev.Name[id]))
			uses[ev.Name[id]] = u
		}
		all += ev.Dur[id]
		if u {
			with += ev.Dur[id]
		}
	}
	if all == 0 {
		return -1
	}
	return float64(with) / float64(all)
}
