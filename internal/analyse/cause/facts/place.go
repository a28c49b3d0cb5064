package facts

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// AtUser moves a finding that stands in a library (a wrapper of torch.compile, a trainer) to the user's line from which most
// of its time was called, where samples of that time know one.
func (c *Facts) AtUser(f *finding.Finding) {
	if f.Where.File == "" || code.ClassifyFile(f.Where.File) == code.FileUser || c.C.IsOwn(f.Where.File) {
		return
	}
	chains := ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool { return f.Booked[a.Part] > 0 })
	if sp, ok := Hottest(chains, c.Drivers); ok {
		rank, process := f.Where.Rank, f.Where.Process
		f.Where = c.Where(sp)
		f.Where.Rank, f.Where.Process = rank, process
	}
}

// CalledFrom says which line of the user's leads to a finding in a package whose lines count as the program's own.
func (c *Facts) CalledFrom(f *finding.Finding) {
	from, ok := c.C.OwnCalledFrom()
	if !ok || !c.C.IsOwn(f.Where.File) {
		return
	}
	at := finding.Where{File: c.Text(from.File), Line: int(from.Line), Function: c.Text(from.Function)}
	f.Evidence = append(f.Evidence, wording.Say("place.called-from", wording.Named("at", finding.Place(at))))
}

// Passes says that a stack passes through a function of a file, by the end of the file's path and a part of the function's name; below:
// only what the user's innermost frame called counts.
func (c *Facts) Passes(id model.StackID, file, function string, below bool) (found bool) {
	c.C.Walk(id, func(fr model.FrameID) bool {
		f := &c.C.Stacks.Frames[fr]
		found = strings.HasSuffix(c.Text(f.File), file) && strings.Contains(c.Text(f.Function), function)
		return !found && !(below && c.C.File(f.File) == code.FileUser)
	})
	return found
}

// Every says in how many of the steps samples (indices of attributed ones) lie where they lie in few: 1 for all of them, n for
// about every n-th. What every step does leaves its samples in as many steps as chance has it.
func (c *Facts) Every(members []int) int {
	windows := len(c.B.Windows)
	if !c.B.PerStep || windows < 10 || len(members) < MinSamples {
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

// ShareOf says what a share is of: each step, or the loop's time where few steps hold it.
func (c *Facts) ShareOf(share float64, members []int) wording.Text {
	if n := c.Every(members); n > 1 {
		return wording.Say("share-of.loop", wording.Share("share", share), wording.Nth("nth", n))
	}
	return wording.Say("share-of.each", wording.Share("share", share), c.Said())
}

// OtherSide is what another thread or process of the run does while the accounted thread waits for it.
type OtherSide struct {
	Place   finding.Where
	Samples int
	Busy    float64 // share of its samples that do not wait for something themselves
	Asleep  float64 // share of the samples at the place that are off the CPU
	Process string
	members int  // processes that are counted together
	Sharing int  // threads and processes that work in the same function, itself included
	most    int  // samples of the one whose line stands for them
	Own     bool // threads of the accounted process
	Several bool // more than one of its threads
}

// WaitedFor finds who works while the accounted thread is blocked: of the other threads of its process and of the Python
// processes beside it, the one that waits least itself. Where each of several works at the same place for part of the wait, as a
// pool's processes do, they count together; so do threads that live for a moment each. ok is false where all of them wait.
func (c *Facts) WaitedFor(waiting []int) (best OtherSide, ok bool) {
	locked := 0
	for _, m := range waiting {
		locked += finding.Btoi(c.P.Samples.Flags[c.B.Samples[m].Index]&model.SampleOwnLock != 0)
	}
	return c.waitedForAt(c.Instants(waiting), 2*locked > len(waiting))
}

// Instants are when attributed samples were taken.
func (c *Facts) Instants(samples []int) []model.Time {
	times := make([]model.Time, 0, len(samples))
	for _, m := range samples {
		times = append(times, c.P.Samples.Time[c.B.Samples[m].Index])
	}
	return times
}

// WaitedForAt is WaitedFor by the instants, in their order, at which something was seen to wait.
func (c *Facts) WaitedForAt(waiting []model.Time) (best OtherSide, ok bool) {
	return c.waitedForAt(waiting, false)
}

// waitedForAt prefers threads of the accounted process where it waits in a lock of its own, which only they can let go of.
func (c *Facts) waitedForAt(waiting []model.Time, ownLock bool) (best OtherSide, ok bool) {
	inWait := WaitingAt(waiting)
	together, sharing := map[finding.Where]OtherSide{}, map[finding.Where]int{}
	defer func() { best.Sharing = sharing[function(best)] }()
	var short []account.Attributed // samples of threads that have too few each: a server's, one for each request
	for _, p := range c.S.Processes {
		if p.Host != c.P.Host || p.Role == model.RoleWorker || p.Role == model.RoleLauncher || p.Role == model.RoleCompile ||
			p != c.P && p.Rank >= 0 || onlyWaits(p) {
			continue
		}
		cls := c.C
		if p != c.P {
			cls = code.NewFrameClasses(c.S, p)
		}
		for thread, list := range c.ThreadSamples(p, inWait) {
			if p == c.P && thread == c.B.Thread {
				continue
			}
			o, found := c.side(p, cls, list)
			if found {
				sharing[function(o)]++
			}
			switch {
			case !found && p == c.P:
				short = append(short, list...)
			case !found:
			case o.Busy < 0.5:
				if p != c.P {
					gather(together, o)
				}
			case ownLock && ok && o.Own != best.Own && !o.Own:
			case ownLock && ok && o.Own != best.Own, o.before(best):
				best, ok = o, true
			}
		}
	}
	if o, found := c.side(c.P, c.C, short); found && 2*o.Samples >= len(waiting) && (!ok || o.before(best) || o.works(best)) {
		o.Process, o.Several = wording.Say("side.threads").String(), true
		return o, true
	}
	if ok {
		return best, true
	}
	for _, o := range together {
		if o.Busy >= 0.5 && o.before(best) {
			best, ok = o, true
		}
	}
	return best, ok
}

// onlyWaits says that a process is one of those that multiprocessing starts to clean up or to fork others: nobody waits for what it does.
func onlyWaits(p *model.Process) bool {
	return slices.ContainsFunc(p.Command, func(argument string) bool {
		return strings.HasPrefix(argument, "from multiprocessing.") && !strings.HasPrefix(argument, "from multiprocessing.spawn ")
	})
}

// function is the place of what a side does, without its line.
func function(o OtherSide) finding.Where {
	return finding.Where{File: o.Place.File, Function: o.Place.Function}
}

// gather adds what one of several processes does to what others do in the same function.
func gather(together map[finding.Where]OtherSide, o OtherSide) {
	key := function(o)
	all, seen := together[key]
	if !seen || o.Samples > all.most {
		all.Place, all.most = o.Place, o.Samples
	}
	n := float64(all.Samples + o.Samples)
	all.Asleep = (all.Asleep*float64(all.Samples) + o.Asleep*float64(o.Samples)) / max(n, 1)
	all.Samples += o.Samples
	all.Busy += o.Busy
	all.members++
	all.Process = wording.Say("side.processes", wording.Count("n", all.members)).String()
	if all.members == 1 {
		all.Process = o.Process
	}
	together[key] = all
}

// before orders sides by what is known of them, and by place where that is equal.
func (o OtherSide) before(best OtherSide) bool {
	return o.Samples > best.Samples || o.Samples == best.Samples && o.Place.Line < best.Place.Line
}

// works says that o computes for most of the time in which another side, best, only sleeps or reads: that one waits as well.
func (o OtherSide) works(best OtherSide) bool {
	return o.Asleep < 0.5 && best.Asleep >= 0.5 && 2*o.Samples >= best.Samples
}

// WaitingAt gives a test whether an instant lies near one of the wait.
func WaitingAt(waiting []model.Time) func(model.Time) bool {
	near := make([]times.Interval, 0, len(waiting))
	const around = 10_000_000 // ns: the distance of samples
	for _, t := range waiting {
		near = append(near, times.Interval{Start: t - around, End: t + around})
	}
	return func(t model.Time) bool { return Inside(near, t) }
}

// OthersWork is the share of attributed samples at whose instant another thread or Python process of the run works, 0..1.
func (c *Facts) OthersWork(samples []int) float64 {
	times := c.Instants(samples)
	if len(times) == 0 {
		return 0
	}
	at := WaitingAt(times)
	var works []model.Time
	for _, p := range c.S.Processes {
		if p.Host != c.P.Host || p.Role == model.RoleLauncher {
			continue
		}
		for thread, list := range c.ThreadSamples(p, at) {
			for _, a := range list {
				if (p != c.P || thread != c.B.Thread) && p.Samples.State[a.Index] == model.StateCPU {
					works = append(works, p.Samples.Time[a.Index])
				}
			}
		}
	}
	slices.Sort(works)
	busy, n := WaitingAt(works), 0
	for _, t := range times {
		n += finding.Btoi(busy(t))
	}
	return float64(n) / float64(len(times))
}

// ThreadSamples are the samples of a process's threads at instants of interest.
func (c *Facts) ThreadSamples(p *model.Process, at func(model.Time) bool) map[int][]account.Attributed {
	out := map[int][]account.Attributed{}
	sm := &p.Samples
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack), len(sm.State), len(sm.Flags)) {
		if c.InWindows(sm.Time[i]) && at(sm.Time[i]) {
			out[int(sm.Thread[i])] = append(out[int(sm.Thread[i])], account.Attributed{Index: i, Weight: 1})
		}
	}
	return out
}

// side describes what a thread does besides waiting in a queue, a pipe or a lock, on the CPU for a moment or not; found is false where too
// few samples say so.
func (c *Facts) side(p *model.Process, cls *code.FrameClasses, list []account.Attributed) (o OtherSide, found bool) {
	sm := &p.Samples
	chains := ChainsOf(cls, sm, list, func(_ int, a *account.Attributed) bool {
		info := cls.Info(sm.Stack[a.Index])
		return info.User >= 0 && info.Acts&code.ActQueue == 0 && !(Sleeping(sm, a.Index) && cls.TakesLock(sm.Stack[a.Index]))
	})
	if len(chains) < MinSamples {
		return o, false
	}
	sp, ok := Hottest(chains, WorkerMains(chains))
	if !ok {
		return o, false
	}
	side := wording.Say("side.process", wording.Named("pid", strconv.Itoa(p.PID)))
	o = OtherSide{Place: c.Where(sp), Samples: sp.Samples, Busy: float64(len(chains)) / float64(len(list)), Process: side.String()}
	if p == c.P {
		o.Process, o.Own = wording.Say("side.thread").String(), true
	}
	off := 0
	for _, m := range sp.Members {
		if Sleeping(sm, list[m].Index) {
			off++
		}
	}
	o.Asleep = float64(off) / float64(max(sp.Samples, 1))
	return o, true
}

// kindTrain is the kind of a step that updates weights (docs/session.md).
const kindTrain = "train"

// AsksForWork says that a blocked sample waits for a request from outside: in a server's loop, or in a call that accepts one. Steps of a
// training wait for their own sake.
func (c *Facts) AsksForWork(a *account.Attributed) bool {
	if a.Part != account.PartBlocked || c.P.Listens == model.ListensNo || c.B.PerStep && c.Text(c.B.Kind) == kindTrain {
		return false // nobody can ask something of it
	}
	info := c.C.Info(c.P.Samples.Stack[a.Index])
	if info.Acts&code.ActServer != 0 {
		return true
	}
	if !info.UserLeaf {
		return false
	}
	fr := c.C.Stacks.Frames[info.User]
	return pysource.Accepts(c.Source(c.Text(fr.File), int(fr.Line)))
}

// WorkerMains are user functions that only lead to the fetch: a forked worker's stack begins with the frames of the program
// that started it, and those hold no time of their own.
func WorkerMains(chains []Chain) map[FuncKey]bool {
	out := driversOf(chains)
	for _, ch := range chains {
		if n := len(ch.Frames); n > 0 {
			delete(out, KeyOf(&ch.Frames[n-1]))
		}
	}
	return out
}
