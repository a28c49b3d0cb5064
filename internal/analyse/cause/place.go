package cause

import (
	"math"
	"strconv"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// atUser moves a finding that stands in a library (a wrapper of torch.compile, a trainer) to the user's line from which most
// of its time was called, where samples of that time know one.
func (c *Facts) atUser(f *Finding) {
	if f.Where.File == "" || analyse.ClassifyFile(f.Where.File) == analyse.FileUser {
		return
	}
	chains := chainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *analyse.Attributed) bool { return f.claim[a.Part] > 0 })
	if sp, ok := hottest(chains, c.drivers); ok {
		rank, process := f.Where.Rank, f.Where.Process
		f.Where = c.where(sp)
		f.Where.Rank, f.Where.Process = rank, process
	}
}

// passes says that a stack passes through a function of a file, by the end of the file's path and a part of the function's name; below:
// only what the user's innermost frame called counts.
func (c *Facts) passes(id model.StackID, file, function string, below bool) (found bool) {
	c.C.Walk(id, func(fr model.FrameID) bool {
		f := &c.C.Stacks.Frames[fr]
		found = strings.HasSuffix(c.text(f.File), file) && strings.Contains(c.text(f.Function), function)
		return !found && !(below && c.C.File(f.File) == analyse.FileUser)
	})
	return found
}

// every says in how many of the steps samples (indices of attributed ones) lie where they lie in few: 1 for all of them, n for
// about every n-th. What every step does leaves its samples in as many steps as chance has it.
func (c *Facts) every(members []int) int {
	windows := len(c.B.Windows)
	if !c.B.PerStep || windows < 10 || len(members) < minSamples {
		return 1
	}
	hit, w := 0, 0
	last := -1
	for _, m := range members {
		t := c.P.Samples.Time[c.B.Samples[m].Index]
		for w < windows && c.B.Windows[w].End <= t {
			w++
		}
		if w != last && w < windows {
			hit, last = hit+1, w
		}
	}
	expected := float64(windows) * (1 - math.Pow(1-1/float64(windows), float64(len(members))))
	if hit == 0 || float64(hit) > 0.5*expected {
		return 1
	}
	return max(int(math.Round(float64(windows)/float64(hit))), 1)
}

// shareOf says what a share is of: each step, or the loop's time where few steps hold it.
func (c *Facts) shareOf(share float64, members []int) wording.Text {
	if n := c.every(members); n > 1 {
		return wording.Say("share-of.loop", wording.Share("share", share), wording.Nth("nth", n))
	}
	return wording.Say("share-of.each", wording.Share("share", share), c.unit())
}

// otherSide is what another thread or process of the run does while the accounted thread waits for it.
type otherSide struct {
	place   Where
	samples int
	busy    float64 // share of its samples that do not wait for something themselves
	asleep  float64 // share of the samples at the place that are off the CPU
	process string
	members int  // processes that are counted together
	most    int  // samples of the one whose line stands for them
	own     bool // threads of the accounted process
	several bool // more than one of its threads
}

// waitedFor finds who works while the accounted thread is blocked: of the other threads of its process and of the Python
// processes beside it, the one that waits least itself. Where each of several works at the same place for part of the wait, as a
// pool's processes do, they count together; so do threads that live for a moment each. ok is false where all of them wait.
func (c *Facts) waitedFor(waiting []int) (best otherSide, ok bool) {
	return c.waitedForAt(c.instants(waiting))
}

// instants are when attributed samples were taken.
func (c *Facts) instants(samples []int) []model.Time {
	times := make([]model.Time, 0, len(samples))
	for _, m := range samples {
		times = append(times, c.P.Samples.Time[c.B.Samples[m].Index])
	}
	return times
}

// waitedForAt is waitedFor by the instants, in their order, at which something was seen to wait.
func (c *Facts) waitedForAt(waiting []model.Time) (best otherSide, ok bool) {
	inWait := waitingAt(waiting)
	together := map[Where]otherSide{}
	var short []analyse.Attributed // samples of threads that have too few each: a server's, one for each request
	for _, p := range c.S.Processes {
		if p.Host != c.P.Host || p.Role == model.RoleWorker || p.Role == model.RoleLauncher || p.Role == model.RoleCompile || p != c.P && p.Rank >= 0 {
			continue
		}
		cls := c.C
		if p != c.P {
			cls = analyse.NewFrameClasses(c.S, p)
		}
		for thread, list := range c.threadSamples(p, inWait) {
			if p == c.P && thread == c.B.Thread {
				continue
			}
			o, found := c.side(p, cls, list)
			switch {
			case !found && p == c.P:
				short = append(short, list...)
			case !found:
			case o.busy < 0.5:
				if p != c.P {
					gather(together, o)
				}
			case o.before(best):
				best, ok = o, true
			}
		}
	}
	if o, found := c.side(c.P, c.C, short); found && 2*o.samples >= len(waiting) && (!ok || o.before(best) || o.works(best)) {
		o.process, o.several = wording.Say("side.threads").String(), true
		return o, true
	}
	if ok {
		return best, true
	}
	for _, o := range together {
		if o.busy >= 0.5 && o.before(best) {
			best, ok = o, true
		}
	}
	return best, ok
}

// gather adds what one of several processes does to what others do in the same function.
func gather(together map[Where]otherSide, o otherSide) {
	key := Where{File: o.place.File, Function: o.place.Function}
	all, seen := together[key]
	if !seen || o.samples > all.most {
		all.place, all.most = o.place, o.samples
	}
	n := float64(all.samples + o.samples)
	all.asleep = (all.asleep*float64(all.samples) + o.asleep*float64(o.samples)) / max(n, 1)
	all.samples += o.samples
	all.busy += o.busy
	all.members++
	all.process = wording.Say("side.processes", wording.Count("n", all.members)).String()
	if all.members == 1 {
		all.process = o.process
	}
	together[key] = all
}

// before orders sides by what is known of them, and by place where that is equal.
func (o otherSide) before(best otherSide) bool {
	return o.samples > best.samples || o.samples == best.samples && o.place.Line < best.place.Line
}

// works says that o computes for most of the time in which another side, best, only sleeps or reads: that one waits as well.
func (o otherSide) works(best otherSide) bool {
	return o.asleep < 0.5 && best.asleep >= 0.5 && 2*o.samples >= best.samples
}

// waitingAt gives a test whether an instant lies near one of the wait.
func waitingAt(waiting []model.Time) func(model.Time) bool {
	times := make([]analyse.Interval, 0, len(waiting))
	const around = 10_000_000 // ns: the distance of samples
	for _, t := range waiting {
		times = append(times, analyse.Interval{Start: t - around, End: t + around})
	}
	return func(t model.Time) bool { return inside(times, t) }
}

// threadSamples are the samples of a process's threads at instants of interest.
func (c *Facts) threadSamples(p *model.Process, at func(model.Time) bool) map[int][]analyse.Attributed {
	out := map[int][]analyse.Attributed{}
	sm := &p.Samples
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack), len(sm.State), len(sm.Flags)) {
		if c.inWindows(sm.Time[i]) && at(sm.Time[i]) {
			out[int(sm.Thread[i])] = append(out[int(sm.Thread[i])], analyse.Attributed{Index: i, Weight: 1})
		}
	}
	return out
}

// side describes what a thread does besides waiting in a queue, a pipe or a lock, on the CPU for a moment or not; found is false where too few samples say so.
func (c *Facts) side(p *model.Process, cls *analyse.FrameClasses, list []analyse.Attributed) (o otherSide, found bool) {
	sm := &p.Samples
	chains := chainsOf(cls, sm, list, func(_ int, a *analyse.Attributed) bool {
		info := cls.Info(sm.Stack[a.Index])
		return info.User >= 0 && info.Acts&analyse.ActQueue == 0 && !(sleeping(sm, a.Index) && cls.TakesLock(sm.Stack[a.Index]))
	})
	if len(chains) < minSamples {
		return o, false
	}
	sp, ok := hottest(chains, workerMains(chains))
	if !ok {
		return o, false
	}
	side := wording.Say("side.process", wording.Named("pid", strconv.Itoa(p.PID)))
	o = otherSide{place: c.where(sp), samples: sp.samples, busy: float64(len(chains)) / float64(len(list)), process: side.String()}
	if p == c.P {
		o.process, o.own = wording.Say("side.thread").String(), true
	}
	off := 0
	for _, m := range sp.members {
		if sleeping(sm, list[m].Index) {
			off++
		}
	}
	o.asleep = float64(off) / float64(max(sp.samples, 1))
	return o, true
}
