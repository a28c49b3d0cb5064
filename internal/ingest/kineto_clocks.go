package ingest

import (
	"fmt"
	"slices"

	"bottleneck/internal/model"
)

// clockGap is how long nothing can be recorded within one run of a profiler: events further apart follow different clocks
// (time since boot, since 1970, microseconds taken for nanoseconds), which some writers mix.
const clockGap = 30 * 24 * 3600 * 1_000_000_000

// oneClock keeps the largest group of events whose times belong together and counts the others, which no analysis could
// place. A second of extent would else become decades.
func (b *builder) oneClock() {
	low, high, any := int64(0), int64(0), false
	for _, chunk := range b.events.chunks() {
		for i := range chunk {
			at := chunk[i].start
			if !any {
				low, high, any = at, at, true
			}
			low, high = min(low, at), max(high, at)
		}
	}
	if !any || high-low < clockGap && high-low >= 0 {
		return
	}
	groups := b.clockGroups()
	if len(groups) < 2 {
		return
	}
	best := slices.MaxFunc(groups, func(x, y clockGroup) int { return x.count - y.count })
	dropped, far := int64(0), int64(0)
	var kept rows[rawEvent]
	for _, chunk := range b.events.chunks() {
		for _, e := range chunk {
			if e.start >= best.from && e.start <= best.to {
				kept.add(e)
				continue
			}
			dropped++
			far = max(far, max(best.from-e.start, e.start-best.to))
		}
	}
	b.events = kept
	b.otherClock = &model.Diagnostic{Kind: "other-clock", Count: dropped, FirstOffset: -1,
		Text: fmt.Sprintf("events whose times lie up to %.0f days from the others', as by another clock; left out", float64(far)/86400e9)}
}

// clockGroup is a stretch of time without a gap of clockGap.
type clockGroup struct {
	from, to int64
	count    int
}

func (b *builder) clockGroups() []clockGroup {
	starts := make([]int64, 0, b.events.n)
	for _, chunk := range b.events.chunks() {
		for i := range chunk {
			starts = append(starts, chunk[i].start)
		}
	}
	slices.Sort(starts)
	var groups []clockGroup
	for _, at := range starts {
		if n := len(groups); n == 0 || at-groups[n-1].to > clockGap || at-groups[n-1].to < 0 {
			groups = append(groups, clockGroup{at, at, 0})
		}
		last := &groups[len(groups)-1]
		last.to = at
		last.count++
	}
	return groups
}

// missingRanks says which ranks of the job have no file, where there are files of several.
func (o *opening) missingRanks() {
	world, first := 0, -1
	for i := range o.s.Inputs {
		if o.s.Inputs[i].Rank == model.NoRank {
			continue
		}
		if first < 0 {
			first = i
		}
		world = max(world, o.s.Inputs[i].World)
	}
	if len(o.ranks) < 2 || len(o.opt.Rank) > 0 || world <= len(o.ranks) || world > maxWorld {
		return
	}
	text, count := "", int64(0)
	for rank := 0; rank < world; rank++ {
		if _, ok := o.ranks[rank]; ok {
			continue
		}
		end := rank
		for _, ok := o.ranks[end+1]; !ok && end+1 < world; _, ok = o.ranks[end+1] {
			end++
		}
		count += int64(end - rank + 1)
		if len(text) < 60 {
			if text != "" {
				text += ", "
			}
			text += fmt.Sprint(rank)
			if end > rank {
				text += fmt.Sprintf("-%d", end)
			}
		} else if text[len(text)-1] != '.' {
			text += " and more."
		}
		rank = end
	}
	in := &o.s.Inputs[first]
	in.Diagnostics = append(in.Diagnostics, model.Diagnostic{Kind: "missing-ranks", Count: count, FirstOffset: -1,
		Text: fmt.Sprintf("states a job of %d ranks, of which there is no file of %s: what they waited for is not known", world, text)})
}

// maxWorld is the largest job that is taken seriously.
const maxWorld = 1 << 22
