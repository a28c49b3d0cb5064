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
	Held      int64   // bytes of private memory at the end
	Inside    bool    // what the allocators have given out grows, and private memory less or not at all
	GivenOut  float64 // bytes per step that the allocators have given out; -1 unknown
}

const (
	groups = 4 // parts of the run, one after the other
	// kept is what allocators must have given out more where pages grow, if that is known. What is kept can make holes of sixty times its
	// size; pages that grow without it are holes only, or what longer and longer steps need.
	kept = 1 << 20
	// blockBytes is what a block of Python's own allocator has at least, as a number or a short text: its sizes go up to 512 bytes.
	blockBytes = 32
	// least is what must have been added to speak of growth: allocators take and keep some megabytes without any.
	least = 8 << 20
	// steady is the share of the mean growth that each part must have. Caches that warm up grow less and less.
	steady = 0.4
	// reused is the share of that after a profiler's window: what it had taken and let go serves the program first.
	reused = 0.5
)

// grain is how many looks tell what is held, without what a step has for itself.
type grain struct {
	part int // of a part of the run, at least
	edge int // on each side of a gap, which tell what the gap itself added
	few  int // that can stand for a part each
}

// parts is in how many parts so many looks are taken, 0 where they are too few.
func (of grain) parts(looks int) int {
	switch {
	case looks >= groups*of.part:
		return groups
	case looks >= of.few:
		return looks
	}
	return 0
}

// Looks from inside come at steps' ends and need no luck, but as long a time as those from outside: they are seldom where much is free.
var (
	fromOutside = grain{part: 5, edge: 3, few: math.MaxInt}
	fromInside  = grain{part: 2, edge: 1, few: groups + 1}
)

// insideLong is the time that looks from inside must span.
const insideLong = groups * 5 * model.Dur(250e6)

// look is what was held at a time, in bytes.
type look struct {
	at    model.Time
	bytes float64
}

// row is a look at the process between two steps' ends.
type row struct {
	at    model.Time
	step  int64 // steps that had ended
	bytes float64
	added float64 // what windows had added to it, which is taken out
}

// GrowthOf tells whether what a process holds grows with its steps, up to the end of what was seen: its private memory, or what its
// allocators have given out. That can grow for long while the first does not, since it fills what was free inside of them.
func GrowthOf(p *model.Process) (Growth, bool) {
	held := int64(0)
	if n := len(p.Usage); n > 0 {
		held = p.Usage[n-1].Private()
	}
	within := settled(rowsOf(p, inside(p), fromInside))
	g, ok := growthOf(settled(rowsOf(p, outside(p), fromOutside)), fromOutside)
	g.GivenOut = givenOut(p, within)
	if ok && g.GivenOut >= 0 && g.GivenOut*float64(g.Steps) < kept {
		return Growth{}, false
	}
	if in, grows := growthOf(within, fromInside); grows && in.PerStep > g.PerStep && lasts(within) >= insideLong {
		g, ok = in, true
		g.Inside, g.GivenOut = true, in.PerStep
	}
	g.Held = held
	return g, ok
}

// givenOut is what allocators gave out per step, -1 where that is not known.
func givenOut(p *model.Process, rows []row) float64 {
	if fromInside.parts(len(rows)) == 0 || p.Allocator != "glibc" || p.InUse[0].Bytes < 0 {
		return -1
	}
	last := len(rows) - fromInside.part
	low, end := lowestOf(rows[:fromInside.part]), lowestOf(rows[last:])
	if end.step <= low.step {
		return -1
	}
	return max(0, end.bytes-low.bytes) / float64(end.step-low.step)
}

func lasts(rows []row) model.Dur { return rows[len(rows)-1].at.Sub(rows[0].at) }

// settled leaves the first third of the run out, in which caches warm up.
func settled(rows []row) []row { return rows[len(rows)/3:] }

// outside is a process's private memory, as the kernel counts it.
func outside(p *model.Process) (out []look) {
	for i := range p.Usage {
		out = append(out, look{p.Usage[i].At, float64(p.Usage[i].Private())})
	}
	return out
}

// inside is what a process's allocators have given out. Another library's malloc than glibc's is not in it.
func inside(p *model.Process) (out []look) {
	for _, u := range p.InUse {
		bytes := blockBytes * float64(max(u.Blocks, 0))
		if p.Allocator == "glibc" {
			bytes += float64(max(u.Bytes, 0))
		}
		out = append(out, look{u.At, bytes})
	}
	return out
}

// growthOf tells whether what was seen grows with the steps. Memory that a step itself needs and gives back is no growth: of each part of
// the run, of so many looks at least, the least counts. Where looks are few, memory must have grown from each to the next.
func growthOf(rows []row, of grain) (Growth, bool) {
	parts := of.parts(len(rows))
	if parts == 0 {
		return Growth{}, false
	}
	part := func(g int) []row { return rows[g*len(rows)/parts : (g+1)*len(rows)/parts] }
	low := make([]row, parts)
	for g := range low {
		low[g] = lowestOf(part(g))
	}
	first, last := &low[0], &low[parts-1]
	grown, steps := last.bytes-first.bytes, last.step-first.step
	if grown < least || steps < groups {
		return Growth{}, false
	}
	rate := grown / float64(steps)
	for g := 1; g < parts; g++ {
		all := rate * float64(low[g].step-low[g-1].step)
		if low[g].bytes-low[g-1].bytes < steady*all && !(low[g].added-low[g-1].added >= all && goesOn(part(g), of, rate)) {
			return Growth{}, false
		}
	}
	return Growth{PerStep: rate, PerSecond: grown / last.at.Sub(first.at).Seconds(), Bytes: int64(grown), Steps: steps}, true
}

// goesOn says that memory grows within a part of the run before which a window has added as much as the part's steps take: the program
// first fills what was let go of that.
func goesOn(part []row, of grain, rate float64) bool {
	low, end := lowestOf(part), lowestOf(part[len(part)-of.edge:])
	return end.step > low.step && end.bytes-low.bytes >= reused*steady*rate*float64(end.step-low.step)
}

func lowestOf(rows []row) row {
	low := rows[0]
	for _, r := range rows[1:] {
		if r.bytes < low.bytes {
			low = r
		}
	}
	return low
}

// rowsOf are the looks at a process while steps went on without a profiler, with what the gaps between them added taken out.
func rowsOf(p *model.Process, looks []look, of grain) []row {
	ends, counts := stepEnds(p)
	var out []row
	added, skipped, gap := 0.0, int64(0), false // what gaps added, and the steps in them
	for i, u := range looks {
		at := sort.Search(len(ends), func(k int) bool { return ends[k] > u.at })
		if at == 0 || at == len(ends) || inWindow(p, u.at) {
			gap = gap || len(out) > 0
			continue
		}
		gap = gap || len(out) > 0 && windowWithin(p, out[len(out)-1].at, u.at)
		r := row{u.at, counts[at-1], u.bytes, 0}
		if gap {
			gap = false
			before := out[max(0, len(out)-of.edge):]
			added = lowest(looks[i:min(i+of.edge, len(looks))]) - lowestOf(before).bytes
			skipped = r.step - out[len(out)-1].step
		}
		r.bytes, r.step, r.added = r.bytes-added, r.step-skipped, added
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

func lowest(looks []look) float64 {
	low := math.Inf(1)
	for _, l := range looks {
		low = min(low, l.bytes)
	}
	return low
}
