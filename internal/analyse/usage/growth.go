package usage

import (
	"math"
	"slices"
	"sort"

	"bottleneck/internal/model"
)

// Growth is private memory that a process takes at each step and does not give back.
type Growth struct {
	PerStep   float64 // bytes
	PerSecond float64 // bytes
	Bytes     int64   // that were seen to be added
	Steps     int64   // over which
	Held      int64   // bytes at the end
}

const (
	groups = 4 // parts of the run, one after the other
	// groupRows is how many looks a part needs: its least is then near what is held between two steps' own needs.
	groupRows = 5
	// least is what must have been added to speak of growth: allocators take and keep some megabytes without any.
	least = 8 << 20
	// steady is the share of the mean growth that each part must have. Caches that warm up grow less and less.
	steady = 0.4
	// reused is the share of that after a profiler's window: what it had taken and let go serves the program first.
	reused = 0.5
	// edge is how many looks on each side of a gap tell what the gap itself added.
	edge = 3
)

// row is a look at the process between two steps' ends.
type row struct {
	at      model.Time
	step    int64 // steps that had ended
	private float64
	added   float64 // what windows had added to it, which is taken out
}

// GrowthOf tells whether a process's private memory grows with its steps, up to the end of what was seen. Memory that a step itself needs
// and gives back is no growth: of each part of the run the least counts. What a profiler's window adds is taken out, and so is the first
// third of the run, in which caches warm up.
func GrowthOf(p *model.Process) (Growth, bool) {
	rows := rowsOf(p)
	rows = rows[len(rows)/3:]
	if len(rows) < groups*groupRows {
		return Growth{}, false
	}
	part := func(g int) []row { return rows[g*len(rows)/groups : (g+1)*len(rows)/groups] }
	var low [groups]row
	for g := range low {
		low[g] = lowestOf(part(g))
	}
	first, last := &low[0], &low[groups-1]
	grown, steps := last.private-first.private, last.step-first.step
	if grown < least || steps < groups {
		return Growth{}, false
	}
	rate := grown / float64(steps)
	for g := 1; g < groups; g++ {
		all := rate * float64(low[g].step-low[g-1].step)
		if low[g].private-low[g-1].private < steady*all && !(low[g].added-low[g-1].added >= all && goesOn(part(g), rate)) {
			return Growth{}, false
		}
	}
	return Growth{PerStep: rate, PerSecond: grown / last.at.Sub(first.at).Seconds(), Bytes: int64(grown), Steps: steps,
		Held: p.Usage[len(p.Usage)-1].Private()}, true
}

// goesOn says that memory grows within a part of the run before which a window has added as much as the part's steps take: the program
// first fills what was let go of that.
func goesOn(part []row, rate float64) bool {
	low, end := lowestOf(part), lowestOf(part[len(part)-edge:])
	return end.step > low.step && end.private-low.private >= reused*steady*rate*float64(end.step-low.step)
}

func lowestOf(rows []row) row {
	low := rows[0]
	for _, r := range rows[1:] {
		if r.private < low.private {
			low = r
		}
	}
	return low
}

// rowsOf are the looks at a process while steps went on without a profiler, with what the gaps between them added taken out.
func rowsOf(p *model.Process) []row {
	ends, counts := stepEnds(p)
	var out []row
	added, skipped, gap := 0.0, int64(0), false // what gaps added, and the steps in them
	for i := range p.Usage {
		u := &p.Usage[i]
		at := sort.Search(len(ends), func(k int) bool { return ends[k] > u.At })
		if at == 0 || at == len(ends) || inWindow(p, u.At) {
			gap = gap || len(out) > 0
			continue
		}
		gap = gap || len(out) > 0 && windowWithin(p, out[len(out)-1].at, u.At)
		r := row{u.At, counts[at-1], float64(u.Private()), 0}
		if gap {
			gap = false
			before := out[max(0, len(out)-edge):]
			added = lowest(p.Usage[i:min(i+edge, len(p.Usage))]) - leastOf(before)
			skipped = r.step - out[len(out)-1].step
		}
		r.private, r.step, r.added = r.private-added, r.step-skipped, added
		out = append(out, r)
	}
	return out
}

// stepEnds are the ends of steps in their order, and how many steps had ended then.
func stepEnds(p *model.Process) (ends []model.Time, counts []int64) {
	n := int64(0)
	for i := range p.Steps {
		st := &p.Steps[i]
		if len(ends) > 0 && st.End < ends[len(ends)-1] {
			continue // of another thread
		}
		n += int64(st.Count())
		ends, counts = append(ends, st.End), append(counts, n)
	}
	return ends, counts
}

// inWindow says that a profiler recorded or wrote its trace at an instant.
func inWindow(p *model.Process, at model.Time) bool {
	for i := range p.Windows {
		w := &p.Windows[i]
		if at >= w.Start && at <= max(w.End, w.StopDone) {
			return true
		}
	}
	return false
}

// windowWithin says that a profiler's window lies between two instants: a short one falls between two looks.
func windowWithin(p *model.Process, from, to model.Time) bool {
	return slices.ContainsFunc(p.Windows, func(w model.Window) bool { return w.Start > from && max(w.End, w.StopDone) < to })
}

func lowest(list []model.Usage) float64 {
	low := math.Inf(1)
	for i := range list {
		low = min(low, float64(list[i].Private()))
	}
	return low
}

func leastOf(rows []row) float64 {
	low := math.Inf(1)
	for _, r := range rows {
		low = min(low, r.private)
	}
	return low
}
