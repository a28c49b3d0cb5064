package replay

import (
	"cmp"
	"slices"

	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// readWaits collects the driving thread's waits for data over its whole life, with their epochs: batches are counted anew in each.
func (l *liveBuilder) readWaits() {
	for i := range l.p.Spans {
		sp := &l.p.Spans[i]
		if sp.Kind != model.SpanDataWait || sp.Thread != l.b.Thread || sp.End <= sp.Start {
			continue
		}
		w := dataWait{start: l.at(sp.Start), end: l.at(sp.End), loader: -1, batch: sp.Value, node: -1, join: -1}
		if sp.Loader >= 0 && int(sp.Loader) < len(l.p.Loaders) {
			w.loader = l.p.Loaders[sp.Loader].ID
		}
		l.waits = append(l.waits, w)
	}
	slices.SortFunc(l.waits, func(x, y dataWait) int { return cmp.Compare(x.start, y.start) })
	type progress struct {
		epoch       int
		last, first int64
	}
	seen := map[int32]*progress{}
	for i := range l.waits {
		w := &l.waits[i]
		p := seen[w.loader]
		if p == nil {
			p = &progress{last: w.batch - 1, first: w.batch}
			seen[w.loader] = p
		}
		if w.batch <= p.last {
			p.epoch, p.first = p.epoch+1, min(p.first, w.batch)
		}
		p.last, w.epoch = w.batch, p.epoch
	}
	for i := range l.waits { // counted from 0
		l.waits[i].batch -= seen[l.waits[i].loader].first
	}
}

// match finds the fetch that each wait waited for: without workers the one within it, else the one that the worker made whose
// turn it was.
func (l *liveBuilder) match() {
	byLoader := map[int32][]*dataWait{}
	for i := range l.waits {
		byLoader[l.waits[i].loader] = append(byLoader[l.waits[i].loader], &l.waits[i])
	}
	for _, f := range l.fetchesOf(l.p) {
		list := byLoader[f.loader]
		n, _ := slices.BinarySearchFunc(list, f.start+1, func(w *dataWait, t int64) int { return cmp.Compare(w.start, t) })
		if n > 0 && f.end <= list[n-1].end+rounding {
			list[n-1].fetch = &fetch{l.p, f.start, f.end}
		}
	}
	for _, p := range l.s.Processes {
		if p == l.p || p.Role != model.RoleWorker || p.PPID != l.p.PID || p.Host != l.p.Host || p.WorkerIndex < 0 {
			continue
		}
		l.matchWorker(p, byLoader)
	}
}

// loaderFetch is a fetch with its loader's number.
type loaderFetch struct {
	loader     int32
	start, end int64
}

// fetchesOf lists what a process fetched, in order.
func (l *liveBuilder) fetchesOf(p *model.Process) []loaderFetch {
	var out []loaderFetch
	for i := range p.Spans {
		sp := &p.Spans[i]
		if sp.Kind == model.SpanFetch && sp.End > sp.Start && sp.Loader >= 0 && int(sp.Loader) < len(p.Loaders) {
			out = append(out, loaderFetch{p.Loaders[sp.Loader].ID, l.at(sp.Start), l.at(sp.End)})
		}
	}
	slices.SortFunc(out, func(x, y loaderFetch) int { return cmp.Compare(x.start, y.start) })
	return out
}

// matchWorker gives a worker's fetches to the waits in order: worker i of n prepares the batches i, i+n, i+2n, … of an epoch, first
// of the one that was not over when its first fetch ended.
func (l *liveBuilder) matchWorker(p *model.Process, byLoader map[int32][]*dataWait) {
	fetches := l.fetchesOf(p)
	if len(fetches) == 0 {
		return
	}
	list := byLoader[fetches[0].loader]
	n := l.workersOf(fetches[0].loader)
	over, taken := map[int]int64{}, map[int]int64{}
	for _, w := range list {
		over[w.epoch], taken[w.epoch] = max(over[w.epoch], w.end), max(taken[w.epoch], w.batch+1)
	}
	k, begin, epoch := 0, 0, -1
	for _, w := range list {
		if over[w.epoch]+rounding < fetches[0].end {
			continue
		}
		if w.epoch != epoch {
			if epoch >= 0 {
				given, ok := l.given(w.loader, taken[epoch], p.WorkerIndex)
				until := over[epoch]
				if k = max(k, begin+given); !ok {
					until = w.start // what it began between the two epochs was given to it in the one before
				}
				for k < len(fetches) && fetches[k].start < until {
					k++
				}
			}
			begin, epoch = k, w.epoch
		}
		if w.batch%int64(n) != int64(p.WorkerIndex) {
			continue
		}
		if k >= len(fetches) {
			return
		}
		if f := fetches[k]; f.end <= w.end+rounding && w.fetch == nil {
			w.fetch = &fetch{p, f.start, f.end}
		}
		k++
	}
}

// given is how many batches a worker prepares in an epoch of which so many are taken: those that were handed out before the program left
// it are prepared, too. ok is false where the loader's length is not known, as then nobody knows where the data ended.
func (l *liveBuilder) given(loader int32, taken int64, worker int) (n int, ok bool) {
	ld := l.loaderOf(loader)
	if ld == nil || ld.Length <= 0 {
		return 0, false
	}
	workers := int64(l.workersOf(loader))
	batches := min(taken+workers*l.prefetch(ld), ld.Length)
	return int((batches - int64(worker) + workers - 1) / workers), true
}

// prefetch is how many batches are handed out ahead to each worker.
func (l *liveBuilder) prefetch(ld *model.Loader) int64 {
	if ld == nil || ld.Prefetch <= 0 {
		return 2
	}
	return int64(ld.Prefetch)
}

// loaderOf is a DataLoader by the agent's number of it, nil where it is not known.
func (l *liveBuilder) loaderOf(number int32) *model.Loader {
	for i := range l.p.Loaders {
		if ld := &l.p.Loaders[i]; ld.ID == number {
			return ld
		}
	}
	return nil
}

// workersOf is the number of workers that a DataLoader had, 1 where it is not known.
func (l *liveBuilder) workersOf(loader int32) int {
	if ld := l.loaderOf(loader); ld != nil {
		return max(ld.Workers, 1)
	}
	return 1
}

// asRecorded says that every DataLoader that the steps wait for had the number of workers that is asked for.
func (l *liveBuilder) asRecorded() bool {
	return !slices.ContainsFunc(l.waits, func(w dataWait) bool {
		ld := l.loaderOf(w.loader)
		return ld == nil || ld.Workers != max(l.workers, 0)
	})
}

// cut keeps the waits from the first to the last step.
func (l *liveBuilder) cut(windows []times.Interval) {
	from, to := l.at(windows[0].Start), l.at(windows[len(windows)-1].End)
	l.waits = slices.DeleteFunc(l.waits, func(w dataWait) bool { return w.start < from || w.end > to })
}
