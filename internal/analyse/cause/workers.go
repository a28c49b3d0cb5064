package cause

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse"
	"bottleneck/internal/model"
)

// workerView is what one DataLoader worker did for the accounted process.
type workerView struct {
	p       *model.Process
	cls     *analyse.FrameClasses
	loader  int32              // the number of the loader that it works for; -1 unknown
	fetches []analyse.Interval // in the accounted stretch of the run
	mean    float64            // ns per batch
	samples []analyse.Attributed
	blocked float64 // share of fetch samples that are not on a CPU
}

// findWorkers collects the workers of the accounted process that fetched batches while its steps were accounted.
func (c *Facts) findWorkers() []*workerView {
	var out []*workerView
	for _, p := range c.S.Processes {
		if p.Role != model.RoleWorker || p.PPID != c.P.PID || p.Host != c.P.Host {
			continue
		}
		if w := c.viewWorker(p); w != nil {
			out = append(out, w)
		}
	}
	return out
}

func (c *Facts) viewWorker(p *model.Process) *workerView {
	w := &workerView{p: p, cls: analyse.NewFrameClasses(c.S, p), loader: -1}
	thread := p.MainThread
	total := 0.0
	for i := range p.Spans {
		sp := &p.Spans[i]
		if sp.Kind == model.SpanFetch && sp.End > sp.Start && c.inWindows(sp.End) {
			w.fetches = append(w.fetches, analyse.Interval{Start: sp.Start, End: sp.End})
			total += float64(sp.End - sp.Start)
			thread = sp.Thread
			if sp.Loader >= 0 && int(sp.Loader) < len(p.Loaders) {
				w.loader = p.Loaders[sp.Loader].ID
			}
		}
	}
	if len(w.fetches) == 0 {
		return nil
	}
	slices.SortFunc(w.fetches, func(a, b analyse.Interval) int { return cmp.Compare(a.Start, b.Start) })
	w.mean = total / float64(len(w.fetches))
	sm := &p.Samples
	off := 0
	for i := range sm.Len() {
		if int(sm.Thread[i]) != thread || !inside(w.fetches, sm.Time[i]) {
			continue
		}
		w.samples = append(w.samples, analyse.Attributed{Index: i, Part: analyse.PartDataWait})
		if sleeping(sm, i) {
			off++
		}
	}
	for i := range w.samples {
		w.samples[i].Weight = total / float64(len(w.samples))
	}
	if len(w.samples) > 0 {
		w.blocked = float64(off) / float64(len(w.samples))
	}
	return w
}

// sleeping says that the sampled thread was not on a CPU and did not want one.
func sleeping(sm *model.Samples, i int) bool {
	return sm.State[i] == model.StateBlocked || sm.State[i] == model.StateIdle || sm.Flags[i]&model.SampleDiskWait != 0
}

func inside(spans []analyse.Interval, t model.Time) bool {
	i, found := slices.BinarySearchFunc(spans, t, func(s analyse.Interval, t model.Time) int { return cmp.Compare(s.Start, t) })
	if !found {
		i--
	}
	return i >= 0 && t < spans[i].End
}

// WorkerStages is what one worker spent its batches on, for tables.
type WorkerStages struct {
	Process *model.Process
	Loader  int
	Batches int
	FetchNs float64 // mean per batch
	Busy    float64 // share of the time from its first fetch's start to its last one's end, 0..1
	Stages  []Stage
}

// Stage is a user's line inside a fetch.
type Stage struct {
	Function, File string
	Line           int
	Ns             float64 // per batch
}

// WorkerStages describes the workers that fetched for the accounted process, with their costliest lines.
func (c *Facts) WorkerStages() []WorkerStages {
	var out []WorkerStages
	for _, v := range c.workers {
		row := WorkerStages{Process: v.p, Batches: len(v.fetches), FetchNs: v.mean}
		if life := v.fetches[len(v.fetches)-1].End - v.fetches[0].Start; life > 0 {
			row.Busy = min(v.mean*float64(len(v.fetches))/float64(life), 1)
		}
		for i := range v.p.Spans {
			if v.p.Spans[i].Kind == model.SpanFetch {
				row.Loader = int(v.p.Spans[i].Loader)
				break
			}
		}
		chains := chainsOf(v.cls, &v.p.Samples, v.samples, func(int, *analyse.Attributed) bool { return true })
		for _, sp := range lineTimes(chains) {
			if len(row.Stages) == 5 {
				break
			}
			if sp.frame.Line <= 0 || c.text(sp.frame.File) == "" {
				continue
			}
			row.Stages = append(row.Stages, Stage{c.text(sp.frame.Function), c.text(sp.frame.File), int(sp.frame.Line), sp.line / float64(len(v.fetches))})
		}
		out = append(out, row)
	}
	return out
}
