package replay

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
)

// Crowded is how much the step loses of what an even sharing of the cores would take from it where more threads want to run than there
// are cores, as fitted on the zoo's cases: who has slept goes first, so that work beside the step slows it by so much of its share, not
// by all, and that work's end gives back no more. The prices of causes go by it as well (StepSpeed): nothing else says what shared cores
// cost. A session holds no thread's time in the scheduler's queue, which would tell instead.
const Crowded = 0.8

// crowdTolerance is how exactly the number of threads that want cores is found, as a share.
const crowdTolerance = 0.001

// crowd is how many threads want to run on average: the one that drives the steps (1 at most), and those that prepare batches beside it.
type crowd struct{ step, beside float64 }

func (c crowd) sum() float64 { return c.step + c.beside }

// speeds are how fast the threads of a crowd work on so many cores, as shares of the speed on a core of their own.
func (c crowd) speeds(cores float64) (step, beside float64) {
	n := c.sum()
	if n <= cores {
		return 1, 1
	}
	even := cores / n
	if cores < 1 || c.beside <= 0 { // a quota stops all of them
		return even, even
	}
	step = 1 - Crowded*(1-even)
	return step, (cores - c.step*step) / c.beside
}

// StepSpeed is how fast the thread that drives the steps works where threads want so many cores on average, it and what it starts (step)
// and those that work beside it: as a share of its speed on a core of its own.
func StepSpeed(cores, step, beside float64) float64 {
	speed, _ := crowd{step, beside}.speeds(cores)
	return speed
}

// coresOf is how many cores there are for a process and its workers, 0 unknown: ranks of one machine share them.
func coresOf(s *model.Session, p *model.Process) float64 {
	ranks := 0
	for _, q := range s.Processes {
		if q.Rank >= 0 && q.Host == p.Host && trains(q) {
			ranks++
		}
	}
	return s.Environment.UsableCores() / float64(max(ranks, 1))
}

// replay runs the graph, another one where the number of workers changes. Where cores are scarce, what runs on them takes
// longer or shorter with the number of threads that want them.
func (r *Session) replay(c Change) (*Graph, *Times, error) {
	g := r.graph
	if c.Workers != 0 && r.b != nil {
		if g = FromSteps(r.s, r.b, c.Workers); g == nil {
			g = r.graph
		}
	}
	dur, err := g.durations(c.Scale)
	if err != nil {
		return nil, nil, err
	}
	if r.b == nil || r.cores <= 0 {
		return g, g.run(dur, c), nil
	}
	return g, r.shared(g, dur, c), nil
}

// shared replays work that shares the cores: each thread's takes as many times longer or shorter than recorded as it is slower or faster
// than it was then. What lasts longer is longer in others' way, so that the number of threads that want to run is searched for.
func (r *Session) shared(g *Graph, dur []int64, c Change) *Times {
	then := r.graph.crowd(r.graph.recorded(), r.unmodified(), r.cpu, 1, 1)
	stepThen, besideThen := then.speeds(r.cores)
	now := then
	// try replays with the cores shared by so many threads, and says how many want to run then.
	try := func(n float64) (t *Times, wanted float64) {
		now.beside = max(n-now.step, 0)
		step, beside := now.speeds(r.cores)
		step, beside = stepThen/step, besideThen/beside
		t = g.run(g.lengthened(dur, step, beside, r.cpu), c)
		now = g.crowd(dur, t, r.cpu, step, beside)
		return t, now.sum()
	}
	low, high := r.cores, max(float64(len(g.lanes)), r.cores) // a lane is a thread at most
	if n := then.sum(); n > r.cores {
		t, wanted := try(n)
		if max(wanted-n, n-wanted) <= crowdTolerance*n {
			return t // as many as then
		}
		if wanted > n {
			low, high = n, max(high, n)
		} else {
			high = n
		}
	}
	if low == r.cores {
		if t, wanted := try(low); wanted <= low {
			return t
		}
	}
	for {
		middle := (low + high) / 2
		t, wanted := try(middle)
		switch {
		case high-low <= crowdTolerance*low:
			return t
		case wanted > middle:
			low = middle
		default:
			high = middle
		}
	}
}

// recorded is how long each node took.
func (g *Graph) recorded() []int64 {
	dur, _ := g.durations(nil) // no names, so that none can be unknown
	return dur
}

// crowd is how many threads want to run, over the steps of a replay, in which the work of each node, ns, is lengthened by a factor: what
// lies between the steps, such as traced ones, leaves other room on the cores. cpu is the share of a fetch in which its worker runs or
// wants to.
func (g *Graph) crowd(dur []int64, t *Times, cpu, step, beside float64) crowd {
	var sum crowd
	over, whole := g.stretches(t.End)
	if whole <= 0 {
		return crowd{}
	}
	for i := range g.nodes {
		kind := g.nodes[i].kind
		if kind != Fetch && kind != Op && kind != Host || t.End[i] <= t.Start[i] {
			continue
		}
		within := float64(dur[i]) * overlap(over, stretch{model.Time(t.Start[i]), model.Time(t.End[i])}) / float64(t.End[i]-t.Start[i])
		if kind == Fetch {
			sum.beside += within * cpu * beside
		} else {
			sum.step += within * step
		}
	}
	return crowd{sum.step / whole, sum.beside / whole}
}

// stretches are the steps of a replay, as times from the graph's origin, in order and disjoint, and their length in ns.
func (g *Graph) stretches(ends []int64) (out []stretch, whole float64) {
	last := model.Time(-1 << 62)
	for i := range g.windows {
		w := &g.windows[i]
		from, to := model.Time(w.fromAt), model.Time(endOf(ends, w.to, w.toAt))
		if w.from >= 0 {
			from = model.Time(ends[w.from])
		}
		if from = max(from, last); to > from {
			out = append(out, stretch{from, to})
			whole += float64(to - from)
			last = to
		}
	}
	return out, whole
}

// overlap is how many ns of a stretch lie in some that are in order and disjoint.
func overlap(over []stretch, s stretch) float64 {
	i, _ := slices.BinarySearchFunc(over, s.from+1, func(o stretch, t model.Time) int { return cmp.Compare(o.to, t) })
	sum := model.Dur(0)
	for ; i < len(over) && over[i].from < s.to; i++ {
		sum += max(min(over[i].to, s.to).Sub(max(over[i].from, s.from)), 0)
	}
	return float64(sum)
}

// lengthened scales what runs on cores: the steps' own work, and of fetches the share in which they run.
func (g *Graph) lengthened(dur []int64, step, beside, cpu float64) []int64 {
	if step == 1 && beside == 1 {
		return dur
	}
	out := slices.Clone(dur)
	for i := range out {
		switch g.nodes[i].kind {
		case Op, Host:
			out[i] = int64(float64(out[i]) * step)
		case Fetch:
			out[i] = int64(float64(out[i]) * (1 + (beside-1)*cpu))
		}
	}
	return out
}

// fetchCPU is the share of the workers' samples inside fetches in which they run or want to run; 1 where it is not known.
func fetchCPU(s *model.Session, b *account.Breakdown) float64 {
	on, all := 0.0, 0.0
	for _, p := range s.Processes {
		if p.Role != model.RoleWorker || p.PPID != b.Process.PID || p.Host != b.Process.Host {
			continue
		}
		var spans []stretch
		thread := p.MainThread
		for i := range p.Spans {
			if sp := &p.Spans[i]; sp.Kind == model.SpanFetch {
				spans = append(spans, stretch{sp.Start, sp.End})
				thread = sp.Thread
			}
		}
		slices.SortFunc(spans, func(x, y stretch) int { return cmp.Compare(x.from, y.from) })
		for i := range p.Samples.Len() {
			at := p.Samples.Time[i]
			n, _ := slices.BinarySearchFunc(spans, at+1, func(s stretch, t model.Time) int { return cmp.Compare(s.from, t) })
			if int(p.Samples.Thread[i]) != thread || n == 0 || spans[n-1].to <= at {
				continue
			}
			all++
			if st := p.Samples.State[i]; st != model.StateBlocked && st != model.StateIdle && p.Samples.Flags[i]&model.SampleDiskWait == 0 {
				on++
			}
		}
	}
	if all < 20 {
		return 1
	}
	return on / all
}
