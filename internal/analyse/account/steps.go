package account

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// sortParts orders parts by time, most first, unknown last.
func sortParts(parts []Part) {
	slices.SortStableFunc(parts, func(a, b Part) int {
		if (a.ID == PartUnknown) != (b.ID == PartUnknown) {
			if a.ID == PartUnknown {
				return 1
			}
			return -1
		}
		return cmp.Compare(b.Time, a.Time)
	})
}

// Driver picks the process whose steps the report is about: the lowest rank that has steps, else the program's own
// process, else the one with most samples. nil where there is no process.
func Driver(s *model.Session) *model.Process {
	var best *model.Process
	for _, p := range s.Processes {
		if len(p.Steps) == 0 || p.Role == model.RoleWorker || p.Role == model.RoleCompile {
			continue
		}
		if best == nil || lessDriver(p, best) {
			best = p
		}
	}
	if best != nil {
		return best
	}
	if s.Run != nil && s.Run.TopLevel >= 0 && s.Run.TopLevel < len(s.Processes) {
		if p := s.Processes[s.Run.TopLevel]; p.Role != model.RoleLauncher && (p.Samples.Len() > 0 || len(p.Spans) > 0) {
			return p
		}
	}
	for _, p := range s.Processes {
		if p.Role == model.RoleWorker || p.Role == model.RoleCompile || p.Role == model.RoleLauncher {
			continue
		}
		if best == nil || p.Samples.Len() > best.Samples.Len() {
			best = p
		}
	}
	if best == nil && len(s.Processes) > 0 {
		best = s.Processes[0]
	}
	return best
}

func lessDriver(p, q *model.Process) bool {
	if (p.Rank >= 0) != (q.Rank >= 0) {
		return p.Rank >= 0
	}
	if p.Rank != q.Rank {
		return p.Rank < q.Rank
	}
	return len(p.Steps) > len(q.Steps)
}

// MainKind is the kind of step in which a process spends most time; ok is false without steps.
func MainKind(p *model.Process) (kind model.Str, ok bool) {
	total := map[model.Str]model.Time{}
	for i := range p.Steps {
		st := &p.Steps[i]
		total[st.Kind] += max(st.End-st.Start, 0)
	}
	best := model.Time(-1)
	for i := range p.Steps { // in order of appearance, so that ties do not depend on the map
		if k := p.Steps[i].Kind; total[k] > best {
			best, kind, ok = total[k], k, true
		}
	}
	return kind, ok
}

// chooseWindows sets what is accounted: the baseline steps of a kind; where there are none its traced steps, then its warm-up steps; the
// whole life of the process where none of these is there.
func chooseWindows(b *Breakdown, p *model.Process, kind model.Str) {
	b.Kind, b.PerStep = kind, true
	for _, phase := range []model.PhaseKind{model.PhaseBaseline, model.PhaseTrace, model.PhaseDetail, model.PhaseWarmup, model.PhaseEdge} {
		if b.Windows = stepWindows(b, p, kind, phase); len(b.Windows) > 0 {
			b.Phase = phase
			if phase != model.PhaseBaseline {
				b.Notes = append(b.Notes, "no step ran without the profiler: the account is of "+phase.String()+" steps")
			}
			break
		}
	}
	if len(b.Windows) == 0 {
		b.PerStep = false
		wholeRun(b, p)
		return
	}
	lengths := make([]float64, len(b.Windows))
	for i, w := range b.Windows {
		lengths[i] = w.Dur()
		b.Total += lengths[i]
	}
	lengths, b.Ahead = ByDevice(lengths, deviceDurations(p, b.Windows))
	b.Total += b.Ahead
	slices.Sort(lengths)
	b.Median = stats.Quantile(lengths, 0.5)
}

// leads is how many times as long as the program took over its steps a device takes over them, from which the program runs ahead of it
// until the device's queue is full: a guess.
const leads = 1.02

// ByDevice gives the lengths of steps by the device's clock where the program runs ahead of it, else as they are. own are the program's
// lengths in ns, device what the device passed between their ends, 0 where it is not known. ahead is by how much all steps are longer so,
// in ns, 0 where the program does not run ahead.
func ByDevice(own, device []float64) (lengths []float64, ahead float64) {
	sum, all := 0.0, 0.0
	for _, d := range own {
		all += d
	}
	for _, d := range device {
		if d > 0 {
			lengths = append(lengths, d)
			sum += d
		}
	}
	if n := len(lengths); 2*n >= len(own) && n > 0 {
		if sum *= float64(len(own)) / float64(n); sum > leads*all {
			return lengths, sum - all
		}
	}
	return own, 0
}

// deviceDurations are what a device passed between the ends of steps, by windows, in ns; 0 unknown.
func deviceDurations(p *model.Process, windows []times.Interval) []float64 {
	known := make(map[model.Time]float64, len(p.Steps))
	for i := range p.Steps {
		known[p.Steps[i].Start] = float64(p.Steps[i].DeviceDur)
	}
	out := make([]float64, len(windows))
	for i, w := range windows {
		out[i] = known[w.Start]
	}
	return out
}

func stepWindows(b *Breakdown, p *model.Process, kind model.Str, phase model.PhaseKind) []times.Interval {
	var out []times.Interval
	threads := map[int]int{}
	items, counted := 0.0, 0.0
	for i := range p.Steps {
		st := &p.Steps[i]
		if st.Kind != kind || st.Phase != phase || st.End <= st.Start {
			continue
		}
		out = append(out, times.Interval{Start: st.Start, End: st.End})
		threads[st.Thread]++
		if st.Items > 0 {
			items += float64(st.Items)
			counted++
		}
	}
	most := 0
	for t, n := range threads {
		if n > most || n == most && t < b.Thread {
			b.Thread, most = t, n
		}
	}
	if b.Thread == 0 {
		b.Thread = p.MainThread
	}
	if counted > 0 {
		b.StepItems = items / counted
	}
	return withoutProfiler(times.Disjoint(out), p, phase)
}

// withoutProfiler drops windows in which a profiler started or stopped, as far as enough others are left.
func withoutProfiler(in []times.Interval, p *model.Process, phase model.PhaseKind) []times.Interval {
	if phase != model.PhaseBaseline {
		return in
	}
	var busy []times.Interval
	for i := range p.Spans {
		if sp := &p.Spans[i]; sp.Kind == model.SpanProfiler && sp.End > sp.Start {
			busy = append(busy, times.Interval{Start: sp.Start, End: sp.End})
		}
	}
	if busy = times.Disjoint(busy); len(busy) == 0 {
		return in
	}
	out := make([]times.Interval, 0, len(in))
	k := 0
	for _, w := range in {
		for k < len(busy) && busy[k].End <= w.Start {
			k++
		}
		if k == len(busy) || busy[k].Start >= w.End {
			out = append(out, w)
		}
	}
	if len(out) < 3 {
		return in
	}
	return out
}

func wholeRun(b *Breakdown, p *model.Process) {
	start, end := p.Start, p.End
	if n := p.Samples.Len(); n > 0 {
		if start == 0 {
			start = p.Samples.Time[0]
		}
		if end <= start {
			end = p.Samples.Time[n-1]
		}
	}
	for i := range p.Spans {
		end = max(end, p.Spans[i].End)
	}
	if b.Thread = p.MainThread; b.Thread == 0 {
		b.Thread = busiestThread(p)
	}
	if thread, ok := worksForSleeper(p, b.Thread); ok {
		b.Thread = thread
		b.Notes = append(b.Notes, "the main thread sleeps for set times: the account is of the thread that works")
	}
	if end > start && start > 0 {
		b.Windows = []times.Interval{{Start: start, End: end}}
		b.Total = b.Windows[0].Dur()
		b.Median = b.Total
	}
}

// busiestThread is the thread with most samples, the process's own thread on a tie.
func busiestThread(p *model.Process) int {
	n := map[int32]int{}
	for _, t := range p.Samples.Thread {
		n[t]++
	}
	best, most := p.PID, 0
	for t, c := range n {
		if c > most || c == most && int(t) == p.PID {
			best, most = int(t), c
		}
	}
	return best
}
