package facts

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// WorkerView is what one DataLoader worker did for the accounted process.
type WorkerView struct {
	P       *model.Process
	Cls     *code.FrameClasses
	Loader  int32            // the number of the loader that it works for; -1 unknown
	Fetches []times.Interval // in the accounted stretch of the run
	Mean    float64          // ns per batch
	Samples []account.Attributed
	Blocked float64 // share of fetch samples that are not on a CPU
}

// findWorkers collects the workers of the accounted process that fetched batches while its steps were accounted.
func (c *Facts) findWorkers() []*WorkerView {
	var out []*WorkerView
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

func (c *Facts) viewWorker(p *model.Process) *WorkerView {
	w := &WorkerView{P: p, Cls: code.NewFrameClasses(c.S, p), Loader: -1}
	thread := p.MainThread
	total := 0.0
	for i := range p.Spans {
		sp := &p.Spans[i]
		if sp.Kind == model.SpanFetch && sp.End > sp.Start && c.InWindows(sp.End) {
			w.Fetches = append(w.Fetches, times.Interval{Start: sp.Start, End: sp.End})
			total += float64(sp.End - sp.Start)
			thread = sp.Thread
			if sp.Loader >= 0 && int(sp.Loader) < len(p.Loaders) {
				w.Loader = p.Loaders[sp.Loader].ID
			}
		}
	}
	if len(w.Fetches) == 0 {
		return nil
	}
	slices.SortFunc(w.Fetches, func(a, b times.Interval) int { return cmp.Compare(a.Start, b.Start) })
	w.Mean = total / float64(len(w.Fetches))
	sm := &p.Samples
	off := 0
	for i := range sm.Len() {
		if int(sm.Thread[i]) != thread || !Inside(w.Fetches, sm.Time[i]) {
			continue
		}
		w.Samples = append(w.Samples, account.Attributed{Index: i, Part: account.PartDataWait})
		if Sleeping(sm, i) {
			off++
		}
	}
	for i := range w.Samples {
		w.Samples[i].Weight = total / float64(len(w.Samples))
	}
	if len(w.Samples) > 0 {
		w.Blocked = float64(off) / float64(len(w.Samples))
	}
	return w
}

// Sleeping says that the sampled thread was not on a CPU and did not want one.
func Sleeping(sm *model.Samples, i int) bool {
	return sm.State[i] == model.StateBlocked || sm.State[i] == model.StateIdle || sm.Flags[i]&model.SampleDiskWait != 0
}

func Inside(spans []times.Interval, t model.Time) bool {
	i, found := slices.BinarySearchFunc(spans, t, func(s times.Interval, t model.Time) int { return cmp.Compare(s.Start, t) })
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
	for _, v := range c.Workers {
		row := WorkerStages{Process: v.P, Batches: len(v.Fetches), FetchNs: v.Mean}
		if life := v.Fetches[len(v.Fetches)-1].End - v.Fetches[0].Start; life > 0 {
			row.Busy = min(v.Mean*float64(len(v.Fetches))/float64(life), 1)
		}
		for i := range v.P.Spans {
			if v.P.Spans[i].Kind == model.SpanFetch {
				row.Loader = int(v.P.Spans[i].Loader)
				break
			}
		}
		chains := ChainsOf(v.Cls, &v.P.Samples, v.Samples, func(int, *account.Attributed) bool { return true })
		for _, sp := range LineTimes(chains) {
			if len(row.Stages) == 5 {
				break
			}
			if sp.Frame.Line <= 0 || c.Text(sp.Frame.File) == "" {
				continue
			}
			row.Stages = append(row.Stages, Stage{c.Text(sp.Frame.Function), c.Text(sp.Frame.File), int(sp.Frame.Line),
				sp.Line / float64(len(v.Fetches))})
		}
		out = append(out, row)
	}
	return out
}
