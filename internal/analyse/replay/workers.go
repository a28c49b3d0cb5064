package replay

import (
	"slices"

	"bottleneck/internal/model"
)

// loaderKey is one epoch of one DataLoader.
type loaderKey struct {
	loader int32
	epoch  int
}

// work makes the lanes of the workers. As PyTorch does it, batch i of an epoch goes to worker i mod n; the index of a batch is
// handed out when the one that lies workers × prefetch before it has been taken.
func (l *liveBuilder) work() {
	queued := map[loaderKey]map[int64]*dataWait{}
	var order []loaderKey
	var joined []*dataWait
	for i := range l.waits {
		w := &l.waits[i]
		if w.join < 0 {
			continue
		}
		joined = append(joined, w)
		key := loaderKey{w.loader, w.epoch}
		if queued[key] == nil {
			queued[key] = map[int64]*dataWait{}
			order = append(order, key)
		}
		queued[key][w.batch] = w
	}
	lanes := map[any][]*dataWait{}
	var names []any
	for _, key := range order {
		batches := make([]int64, 0, len(queued[key]))
		for b := range queued[key] {
			batches = append(batches, b)
		}
		slices.Sort(batches)
		for _, b := range batches {
			w := queued[key][b]
			var lane any = w.fetch.process
			if l.workers > 0 {
				lane = [2]int64{int64(key.loader), b % int64(l.workers)}
			}
			if lanes[lane] == nil {
				names = append(names, lane)
			}
			lanes[lane] = append(lanes[lane], w)
		}
	}
	asked := int64(0) // with another number of workers than recorded: how long all of them took
	if l.workers > 0 {
		asked = l.switching(joined)
	}
	for _, name := range names {
		switching := asked
		if l.workers <= 0 {
			switching = l.switching(lanes[name])
		}
		l.workerLane(lanes[name], queued, switching)
	}
}

// workerLane makes one worker's nodes and ties them to the driving thread.
func (l *liveBuilder) workerLane(waits []*dataWait, queued map[loaderKey]map[int64]*dataWait, switching int64) {
	number := int32(len(l.g.lanes))
	l.g.lanes = append(l.g.lanes, laneNode(-1, model.NoLane, int32(len(l.g.nodes)), model.NoRank))
	last, epoch := int32(-1), -1
	for _, w := range waits {
		f := w.fetch
		taken := queued[loaderKey{w.loader, w.epoch}][w.batch-l.ahead(w)]
		first := w.epoch != epoch
		epoch = w.epoch
		n := node{at: f.start, dur: f.end - f.start, event: model.NoEvent, prev: last, lag: clamp32(switching), kind: Fetch}
		if last < 0 || first {
			n.lag = 0
		}
		switch {
		case taken != nil:
			node := l.g.add(n)
			l.g.wait(node, taken.join, 0, false)
			last = node
		case first && f.start > 0 && l.workers <= 0 && l.before(f.start) >= 0:
			// Starting the worker, from what the program did last before.
			given := l.before(f.start)
			begin := l.g.add(node{at: l.g.traced(given), dur: f.start - l.g.traced(given), event: model.NoEvent, prev: last, kind: Fetch})
			l.g.wait(begin, given, 0, false)
			n.prev, n.lag = begin, 0
			last = l.g.add(n)
		default:
			given, at := l.epochStart(w, queued)
			if l.workers > 0 {
				n.at = at
			}
			node := l.g.add(n)
			if l.workers > 0 || last >= 0 {
				l.g.wait(node, given, 0, false)
			}
			last = node
		}
		l.g.wait(w.join, last, l.hand, false)
	}
	l.g.lanes[number].end = int32(len(l.g.nodes))
}

// ahead is how many batches of an epoch are handed out before the first is taken.
func (l *liveBuilder) ahead(w *dataWait) int64 {
	ld, workers := l.loaderOf(w.loader), l.workers
	if workers <= 0 && ld != nil {
		workers = ld.Workers
	}
	return int64(max(workers, 1)) * l.prefetch(ld)
}

// switching is how long a worker usually takes from the end of one batch to the start of the next that it was given when it was recorded:
// putting the batch into the queue. However many workers are asked for, it is that of those there were. ns
func (l *liveBuilder) switching(waits []*dataWait) int64 {
	var gaps []int64
	before := map[*model.Process]*dataWait{}
	for _, w := range waits {
		a := before[w.fetch.process]
		before[w.fetch.process] = w
		if a != nil && a.epoch == w.epoch && w.batch-a.batch == int64(l.workersOf(w.loader)) && w.fetch.process != l.p &&
			w.fetch.start > a.fetch.end {
			gaps = append(gaps, w.fetch.start-a.fetch.end)
		}
	}
	if len(gaps) == 0 {
		return 0
	}
	slices.Sort(gaps)
	return min(gaps[len(gaps)/4], 20_000_000) // the lower quartile: the others waited for an index
}

// before is the driving thread's last node that had ended at an instant, -1.
func (l *liveBuilder) before(at int64) int32 {
	low, high := int32(0), l.g.lanes[0].end
	for low < high {
		if mid := (low + high) / 2; l.g.traced(mid) <= at {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low - 1
}

// epochStart is the node before the first wait of an epoch, -1 where it is the first of all, and when that wait began.
func (l *liveBuilder) epochStart(w *dataWait, queued map[loaderKey]map[int64]*dataWait) (before int32, at int64) {
	var first *dataWait
	for _, other := range queued[loaderKey{w.loader, w.epoch}] {
		if first == nil || other.start < first.start {
			first = other
		}
	}
	if first == nil || first.node < 0 {
		return -1, 0
	}
	return l.g.nodes[first.node].prev, first.start
}
