package usage

import (
	"math"
	"slices"
	"sort"

	"bottleneck/internal/model"
)

// Paging is what the pages that the kernel gave a process cost it in its steps, as long as no profiler recorded.
type Paging struct {
	Looks int     // intervals between two looks that were read
	Steps float64 // steps in them

	Process Rate  // all threads together
	First   *Rate // the first thread alone; nil unknown
	// Least and Most are the process's faults per step in the part of the run with the fewest and in that with the most.
	Least, Most float64
	// Lasting is the share of the steps, 0..1, that lie between looks with at least half of the mean faults per step.
	Lasting float64
	// Grown is what private memory grew by per step, in bytes. Swing is how far it was from one look to the next on average, beyond that;
	// OtherSwing is the same of pages of files and shared ones.
	Grown, Swing, OtherSwing float64
	// Traced is the process's faults per step while a profiler recorded; 0 unknown.
	Traced float64
}

// Rate is what is used per step: times in ns.
type Rate struct{ Faults, User, System float64 }

const (
	pagingLooks = 4    // intervals, below which nothing is said
	pagingSteps = 2    // steps, likewise
	pagingParts = 5    // of the run, of which the ones with least and most faults are told
	inSteps     = 0.95 // of an interval between two looks that must lie in steps of the kind
)

// interval is what changed between two looks at a process.
type interval struct {
	a, b  *model.Usage
	steps float64
}

// PagingOf tells what a process's pages cost in each step of a kind, after the warm-up. ok is false where too little was seen.
func PagingOf(p *model.Process, kind model.Str) (out Paging, ok bool) {
	plain, traced := intervalsOf(p.Usage, p, kind)
	for i := range plain {
		out.Steps += plain[i].steps
	}
	if out.Looks = len(plain); out.Looks < pagingLooks || out.Steps < pagingSteps {
		return Paging{}, false
	}
	out.Process = rateOf(plain, func(u *model.Usage) (int64, model.Dur, model.Dur) { return u.MinorFaults, u.User, u.System })
	if plain[0].a.First != nil && plain[len(plain)-1].b.First != nil {
		first := rateOf(plain, firstUse)
		out.First = &first
	}
	out.Least = math.Inf(1)
	for g := range pagingParts {
		part := plain[g*len(plain)/pagingParts : (g+1)*len(plain)/pagingParts]
		if len(part) == 0 {
			continue
		}
		faults := faultsOf(part)
		out.Least, out.Most = min(out.Least, faults), max(out.Most, faults)
	}
	for i := range plain {
		if one := plain[i : i+1]; 2*faultsOf(one) >= out.Process.Faults {
			out.Lasting += plain[i].steps / out.Steps
		}
	}
	for i := range plain {
		in := &plain[i]
		out.Grown += float64(in.b.Anonymous - in.a.Anonymous)
	}
	each := out.Grown / float64(len(plain))
	for i := range plain {
		in := &plain[i]
		out.Swing += math.Abs(float64(in.b.Anonymous-in.a.Anonymous)-each) / float64(len(plain))
		out.OtherSwing += math.Abs(float64(in.b.File+in.b.Shared-in.a.File-in.a.Shared)) / float64(len(plain))
	}
	out.Grown /= out.Steps
	out.Traced = faultsOf(traced)
	return out, true
}

// FreeOf is what a process's C library has of the kernel and nobody uses at the ends of steps of a kind, after the warm-up, in bytes: a
// quarter of the looks found more. ok is false where the library does not tell, or too few looked.
func FreeOf(p *model.Process, kind model.Str) (free float64, ok bool) {
	var found []int64
	w := newProgress(p, kind)
	for i := range p.InUse {
		if u := &p.InUse[i]; u.Free >= 0 && len(w.starts) > 0 && u.At > w.starts[0] && u.At <= w.ends[len(w.ends)-1] {
			found = append(found, u.Free)
		}
	}
	if len(found) < pagingLooks {
		return 0, false
	}
	slices.Sort(found)
	return float64(found[len(found)*3/4]), true
}

// FromDisks is what a process reads from disks in each step of a kind, after the warm-up, in bytes: what the kernel has in memory is not
// among them. ok is false where the kernel does not tell, or too little was seen.
func FromDisks(p *model.Process, kind model.Str) (perStep float64, ok bool) {
	plain, traced := intervalsOf(p.Usage, p, kind)
	bytes, steps := int64(0), 0.0
	for _, in := range slices.Concat(plain, traced) {
		if in.a.Read >= 0 && in.b.Read >= 0 {
			bytes, steps = bytes+in.b.Read-in.a.Read, steps+in.steps
		}
	}
	if steps < pagingSteps {
		return 0, false
	}
	return max(float64(bytes)/steps, 0), true
}

// TakenAgain is how many pages of those that a process had given back the kernel gave it in each step of a kind, in those stretches of the
// first hundred steps, between two traced windows, in which it was least and most; 0 where nothing is known. What the process grew by is
// taken off.
func TakenAgain(p *model.Process, kind model.Str) (least, most float64) {
	const few = 3 // steps of a stretch
	steps, faults, grown, stretches := 0.0, int64(0), int64(0), 0
	end := func() {
		if steps >= few {
			again := max(float64(faults-max(grown, 0))/steps, 0)
			if stretches++; stretches == 1 {
				least = again
			}
			least, most = min(least, again), max(most, again)
		}
		steps, faults, grown = 0, 0, 0
	}
	k := 0
	for i := 1; i < len(p.Pages); i++ {
		before, now := &p.Pages[i-1], &p.Pages[i]
		for k < len(p.Steps) && p.Steps[k].End < now.At {
			k++
		}
		if k == 0 || k == len(p.Steps) || p.Steps[k].End != now.At || p.Steps[k-1].End != before.At {
			end()
			continue
		}
		switch st := &p.Steps[k]; {
		case st.Kind != kind || st.Phase != model.PhaseEdge && st.Phase != model.PhaseBaseline:
			end()
		case st.Phase == model.PhaseEdge: // the window's own end lies in it, whose growth is that of the profiler
			end()
			steps, faults = 1, max(now.Faults-before.Faults-max(now.Resident-before.Resident, 0), 0)
		default:
			steps, faults, grown = steps+1, faults+now.Faults-before.Faults, grown+now.Resident-before.Resident
		}
	}
	end()
	return least, most
}

func firstUse(u *model.Usage) (faults int64, user, system model.Dur) {
	first := ofFirst(u)
	return first.MinorFaults, first.User, first.System
}

// rateOf sums what intervals used, per step.
func rateOf(list []interval, of func(*model.Usage) (faults int64, user, system model.Dur)) (out Rate) {
	steps := 0.0
	for i := range list {
		f0, u0, s0 := of(list[i].a)
		f1, u1, s1 := of(list[i].b)
		out.Faults += float64(f1 - f0)
		out.User += float64(u1 - u0)
		out.System += float64(s1 - s0)
		steps += list[i].steps
	}
	if steps <= 0 {
		return Rate{}
	}
	return Rate{max(out.Faults/steps, 0), max(out.User/steps, 0), max(out.System/steps, 0)}
}

func faultsOf(list []interval) float64 {
	return rateOf(list, func(u *model.Usage) (int64, model.Dur, model.Dur) { return u.MinorFaults, 0, 0 }).Faults
}

// intervalsOf are the stretches between two looks that lie in a process's steps of a kind after the warm-up: those in which no profiler was
// at work there, and those in which one recorded all the time.
func intervalsOf(looks []model.Usage, p *model.Process, kind model.Str) (plain, traced []interval) {
	w := newProgress(p, kind)
	for i := 1; i < len(looks); i++ {
		in := interval{a: &looks[i-1], b: &looks[i]}
		at := w.until(in.a.At)
		to := w.until(in.b.At)
		in.steps = to.steps - at.steps
		if long := float64(in.b.At - in.a.At); in.steps <= 0 || to.time-at.time < inSteps*long {
			continue
		}
		switch recorded := recordedIn(p, in.a.At, in.b.At); recorded {
		case none:
			plain = append(plain, in)
		case all:
			traced = append(traced, in)
		}
	}
	return plain, traced
}

// How much of an interval a profiler recorded.
type recorded uint8

const (
	none recorded = iota
	some
	all
)

func recordedIn(p *model.Process, from, to model.Time) recorded {
	for i := range p.Windows {
		w := &p.Windows[i]
		end := max(w.End, w.StopDone)
		switch {
		case from >= w.Start && to <= w.End:
			return all
		case w.Start < to && end > from:
			return some
		}
	}
	return none
}

// progress tells how many steps of a kind had passed at an instant, and how much time in them.
type progress struct {
	starts, ends []model.Time
	before       []done // at the start of each
	count        []float64
}

type done struct{ steps, time float64 }

// newProgress counts steps of one kind that are no warm-up. A step whose followers have no entry of their own lasts until the next one.
func newProgress(p *model.Process, kind model.Str) *progress {
	w := &progress{}
	sum := done{}
	for i := range p.Steps {
		st := &p.Steps[i]
		if st.Kind != kind || st.Phase == model.PhaseWarmup || len(w.ends) > 0 && st.Start < w.ends[len(w.ends)-1] {
			continue
		}
		end := st.End
		if st.Skipped > 0 && i+1 < len(p.Steps) {
			end = max(end, p.Steps[i+1].Start)
		}
		w.starts, w.ends, w.before = append(w.starts, st.Start), append(w.ends, end), append(w.before, sum)
		w.count = append(w.count, float64(st.Count()))
		sum = done{sum.steps + float64(st.Count()), sum.time + float64(end-st.Start)}
	}
	return w
}

// until is what had passed at an instant.
func (w *progress) until(at model.Time) done {
	i := sort.Search(len(w.starts), func(k int) bool { return w.starts[k] > at }) - 1
	if i < 0 {
		return done{}
	}
	sum, long := w.before[i], float64(w.ends[i]-w.starts[i])
	part := 1.0
	if at < w.ends[i] && long > 0 {
		part = float64(at-w.starts[i]) / long
	}
	return done{sum.steps + part*w.count[i], sum.time + part*long}
}
