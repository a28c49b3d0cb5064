package replay

import (
	"slices"

	"bottleneck/internal/model"
)

// lags are the constants between what releases device work and its start, measured on the trace at hand.
type lags struct {
	gaps     map[model.Str]int64 // by the name of the later work, between two pieces of queued work of a stream
	anyGap   int64
	launches map[launchKey]launchLag // by call and kind of work, on an idle stream
	hop      [numHops]int64          // from one stream to another
}

type launchKey struct {
	call model.Str
	kind model.Kind
}

// launchLag is from the end of the launching call, or from its start where that varies less.
type launchLag struct {
	lag   int64
	start bool
}

// Lags where the trace has too few examples, in ns: usual values of present devices.
const (
	usualLaunch = 5_000
	usualGap    = 1_000
	usualHop    = 2_000
	enough      = 3 // examples
)

func (b *builder) measureLags(rows []deviceRow) *lags {
	ev := &b.t.Events
	gaps, all := map[model.Str][]int64{}, []int64{}
	type delays struct{ end, start []int64 }
	launches := map[launchKey]*delays{}
	for i := range rows {
		r := &rows[i]
		launch := ev.Link[r.id]
		if r.prev != model.NoEvent && !r.after {
			queued := launch == model.NoEvent || ev.End(launch)+2*usualLaunch <= ev.End(r.prev)
			if gap := int64(ev.Start[r.id].Sub(ev.End(r.prev))); queued && gap < longLag {
				gaps[ev.Name[r.id]] = append(gaps[ev.Name[r.id]], gap)
				all = append(all, gap)
			}
			continue
		}
		if _, staged := b.staged(launch); launch == model.NoEvent || !r.after || staged {
			continue
		}
		key := launchKey{ev.Name[launch], ev.Kind[r.id]}
		d := launches[key]
		if d == nil {
			d = &delays{}
			launches[key] = d
		}
		if v := int64(ev.Start[r.id].Sub(ev.End(launch))); v < longLag {
			d.end = append(d.end, v)
			d.start = append(d.start, int64(ev.Start[r.id].Sub(ev.Start[launch])))
		}
	}
	out := &lags{gaps: map[model.Str]int64{}, anyGap: min(median(all, usualGap), unexplained), launches: map[launchKey]launchLag{}}
	for name, list := range gaps {
		if len(list) >= enough {
			out.gaps[name] = median(list, 0)
		}
	}
	for key, d := range launches {
		if len(d.end) >= enough {
			fromStart := spread(d.start) < spread(d.end)
			lag := median(d.end, 0)
			if fromStart {
				lag = median(d.start, 0)
			}
			out.launches[key] = launchLag{lag, fromStart}
		}
	}
	return out
}

// spread is the distance between the quartiles.
func spread(v []int64) int64 {
	s := slices.Sorted(slices.Values(v))
	return s[len(s)*3/4] - s[len(s)/4]
}

func (l *lags) gap(id model.EventID, ev *model.Events) int64 {
	if v, ok := l.gaps[ev.Name[id]]; ok {
		return v
	}
	return l.anyGap
}

// launch is the lag of work after its launching call. A call that returned after the work had ended is counted from its start.
func (l *lags) launch(call, id model.EventID, b *builder) (lag int64, fromStart bool) {
	ev := &b.t.Events
	if _, staged := b.staged(call); staged {
		return 0, false
	}
	v, ok := l.launches[launchKey{ev.Name[call], ev.Kind[id]}]
	if !ok {
		v = launchLag{lag: usualLaunch}
	}
	if !v.start && (b.waits(call) || ev.Start[id] < ev.End(call)-model.Time(max(-v.lag, 0))-rounding) {
		return min(int64(ev.Start[id].Sub(ev.Start[call])), usualLaunch+max(v.lag, 0)), true
	}
	return v.lag, v.start
}
