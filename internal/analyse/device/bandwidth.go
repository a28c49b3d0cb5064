package device

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// BandwidthPoint is the memory bandwidth from a time on, until the next point.
type BandwidthPoint struct {
	Time model.Time
	GBs  float64
}

// Bandwidth is the bandwidth of one kind of copy over time: the sum of what runs at once.
type Bandwidth struct {
	Kind   string // "Memcpy HtoD", "Memset", …
	Points []BandwidthPoint
	Max    float64
	Mean   float64 // over the time during which such copies run
}

// Bandwidths follows the collector's own bandwidths of copies and sets, by kind. A copy whose time rounds to nothing counts
// for one microsecond.
func Bandwidths(t *model.Trace, s *model.Strings) []Bandwidth {
	ev := &t.Events
	index := map[string]int{}
	out := []Bandwidth{}
	for _, w := range Timelines(t, s) {
		for _, id := range w.Rows {
			args := ev.DeviceArgsOf(ev.Detail[id])
			if ev.Kind[id] == model.KindKernel || args.BandwidthGBs <= 0 {
				continue
			}
			kind := bandwidthKind(s.Text(ev.Name[id]))
			at, known := index[kind]
			if !known {
				at = len(out)
				index[kind] = at
				out = append(out, Bandwidth{Kind: kind})
			}
			rate, end := float64(args.BandwidthGBs), max(ev.End(id), ev.Start[id]+1)
			if ev.Dur[id] == 0 {
				end = ev.Start[id] + 1000
			}
			out[at].Points = append(out[at].Points, BandwidthPoint{ev.Start[id], rate}, BandwidthPoint{end, -rate})
		}
	}
	for i := range out {
		out[i].add()
	}
	slices.SortFunc(out, func(a, b Bandwidth) int { return strings.Compare(a.Kind, b.Kind) })
	return out
}

// add turns changes into levels.
func (b *Bandwidth) add() {
	slices.SortFunc(b.Points, func(p, q BandwidthPoint) int { return cmp.Or(cmp.Compare(p.Time, q.Time), cmp.Compare(p.GBs, q.GBs)) })
	level, moved := 0.0, 0.0
	var busy model.Dur
	open := 0
	for i := range b.Points {
		if passed := b.Points[i].Time.Sub(b.Points[max(0, i-1)].Time); open > 0 {
			moved += level * float64(passed)
			busy += passed
		}
		if b.Points[i].GBs > 0 {
			open++
		} else {
			open--
		}
		level += b.Points[i].GBs
		if open == 0 {
			level = 0 // rounding
		}
		b.Points[i].GBs = level
		b.Max = max(b.Max, level)
	}
	if busy > 0 {
		b.Mean = moved / float64(busy)
	}
}

// bandwidthKind is a copy's name without the kinds of memory.
func bandwidthKind(name string) string {
	if direction := naming.CopyDirection(name); direction != "Memset" && direction != "" {
		return "Memcpy " + direction
	}
	if strings.HasPrefix(name, "Memset") {
		return "Memset"
	}
	return naming.ShortKernelName(name)
}
