package page

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"bottleneck/internal/analyse/allocations"
	"bottleneck/internal/model"
	"bottleneck/internal/report"
)

// memoryCharts draw each device's memory over time, by category where torch told it, and the blocks of snapshots.
func memoryCharts(p *Page) []Chart {
	var charts []Chart
	for i := range p.report.Memory {
		m := &p.report.Memory[i]
		c := levelChart("Memory of "+ofRank(m.Device, m.Rank), m.Timeline, m.PeakReserved != nil)
		c.Aside = "of the traced time; the highest level of each stretch is kept"
		if !m.Absolute {
			c.Aside = "of the traced time, counted from its start: what was there before is not in it"
		}
		charts = append(charts, c)
	}
	charts = append(charts, categoryCharts(p.session)...)
	for i := range p.report.Snapshots {
		if r := &p.report.Snapshots[i]; r.Recorded != nil {
			c := levelChart("Recorded events of "+snapshotName(r), r.Recorded.Timeline, true)
			c.Aside = "in bytes as the program asked for them; the highest level of each stretch is kept"
			charts = append(charts, c)
		}
	}
	for _, m := range p.session.Snapshots {
		for i := range m.Devices {
			charts = append(charts, blockChart(p.session, m, &m.Devices[i]))
		}
	}
	return charts
}

func ofRank(device string, rank *int) string {
	if rank == nil {
		return device
	}
	return fmt.Sprintf("%s, rank %d", device, *rank)
}

func snapshotName(r *report.SnapshotRow) string {
	return fmt.Sprintf("device %d in %s", r.Device, path.Base(strings.ReplaceAll(r.File, `\`, "/")))
}

// Axes of memory over time.
var (
	recordedAxis = Axis{Head: "after the start of the recording", Unit: unitTime}
	memoryAxis   = Axis{Head: "memory", Unit: unitBytes}
)

func levelChart(title string, points []report.MemoryPoint, reserved bool) Chart {
	allocated, from := newSeries("allocated"), newSeries("reserved from the driver")
	for _, pt := range points {
		allocated.add(pt.AtUs, float64(pt.Bytes))
		if reserved && pt.Reserved != nil {
			from.add(pt.AtUs, float64(*pt.Reserved))
		}
	}
	return chartOf(title, chartLevels, recordedAxis, memoryAxis, allocated, from)
}

// memoryCategories are torch's, in the order of model.MemoryAction.
var memoryCategories = [model.MemoryCategories]string{"parameters", "optimizer state", "inputs", "temporaries",
	"activations", "gradients", "autograd", "unknown"}

// categoryCharts stack the categories of torch's own timelines.
func categoryCharts(s *model.Session) []Chart {
	var charts []Chart
	for _, t := range s.Traces {
		for i := range t.MemoryTimelines {
			if c := categoryChart(t, &t.MemoryTimelines[i]); len(c.Series) > 0 {
				charts = append(charts, c)
			}
		}
	}
	return charts
}

func categoryChart(t *model.Trace, m *model.MemoryTimeline) Chart {
	title := fmt.Sprintf("Memory by category, %s", m.Device)
	if t.Rank >= 0 {
		title += fmt.Sprintf(", rank %d", t.Rank)
	}
	actions := slices.Clone(m.Actions)
	slices.SortStableFunc(actions, func(a, b model.MemoryAction) int { return cmp.Compare(a.Time, b.Time) })
	first := slices.IndexFunc(actions, func(a model.MemoryAction) bool { return a.Time >= 0 })
	if first < 0 {
		return Chart{}
	}
	origin := actions[first].Time
	levels := categoryLevels(actions)
	series := make([]Series, model.MemoryCategories)
	each := max(len(levels)/1000, 1)
	for c := range series {
		series[c] = newSeries(memoryCategories[c])
	}
	// One instant of each stretch for all categories, that of the highest sum: what stands on one another belongs to one moment.
	for chunk := range slices.Chunk(levels, each) {
		l := slices.MaxFunc(chunk, func(a, b categoryLevel) int { return cmp.Compare(a.sum, b.sum) })
		for c := range series {
			series[c].add(max(float64(l.time-origin), 0)/1e3, float64(l.of[c]))
		}
	}
	series = slices.DeleteFunc(series, func(s Series) bool { return !slices.ContainsFunc(s.Y, func(v *float64) bool { return *v > 0 }) })
	c := chartOf(title, chartStack, recordedAxis, memoryAxis, series...)
	c.Aside = "torch's own categories; the highest moment of each stretch is kept"
	return c
}

type categoryLevel struct {
	time int64
	of   [model.MemoryCategories]int64
	sum  int64
}

// categoryLevels are the levels after each instant at which something changed.
func categoryLevels(actions []model.MemoryAction) []categoryLevel {
	var out []categoryLevel
	var now categoryLevel
	for i, a := range actions {
		now.of[a.Category] += a.Bytes // with its sign, also where memory goes from one category to another
		now.sum += a.Bytes
		now.time = a.Time
		if i+1 == len(actions) || actions[i+1].Time != a.Time {
			out = append(out, now)
		}
	}
	return out
}

// maxSegments and maxBlocks bound the map of a snapshot: the largest segments are drawn.
const (
	maxSegments = 300
	maxBlocks   = 20_000
)

// blockChart is the map of a snapshot: a row for each segment, a box for each block.
func blockChart(s *model.Session, m *model.MemorySnapshot, d *model.SnapshotDevice) Chart {
	order := make([]int, len(d.Segments))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(d.Segments[b].Size, d.Segments[a].Size) })
	states := map[model.BlockState]*Series{}
	names := map[model.BlockState]string{model.BlockActive: "active", model.BlockPending: "pending", model.BlockFree: "free"}
	for state, name := range names {
		sr := newSeries(name)
		states[state] = &sr
	}
	places := allocations.SnapshotPlaces(m, s.Strings)
	rows, blocks := []string{}, 0
	for _, i := range order {
		g := &d.Segments[i]
		if len(rows) == maxSegments || blocks+int(g.EndBlock-g.FirstBlock) > maxBlocks {
			break
		}
		rows = append(rows, fmt.Sprintf("0x%x", g.Addr))
		for n := g.FirstBlock; n < g.EndBlock; n++ {
			b := &d.Blocks[n]
			sr := states[b.State]
			sr.addIn(len(rows)-1, float64(b.Addr-g.Addr), float64(b.Size))
			sr.Width = append(sr.Width, float64(b.Size))
			sr.Texts = append(sr.Texts, holderText(places(b.Stack)))
			blocks++
		}
	}
	c := Chart{Title: fmt.Sprintf("Blocks of device %d", d.Index), Kind: chartBlocks, X: Axis{Head: "within the segment", Unit: unitBytes},
		Y: Axis{Head: "size", Unit: unitBytes}, Rows: rows, Series: []Series{}}
	for _, state := range []model.BlockState{model.BlockActive, model.BlockPending, model.BlockFree} {
		if sr := states[state]; len(sr.X) > 0 {
			c.Series = append(c.Series, *sr)
		}
	}
	c.Aside = fmt.Sprintf("at the moment of the snapshot: the segments that the allocator took from the driver, largest first (%d of %d)",
		len(rows), len(d.Segments))
	return c
}

// holderText is who allocated a block, in a line.
func holderText(h allocations.SnapshotHolder) string {
	text := placeText(h.Where.File, int(h.Where.Line))
	if h.Where.Function != "" {
		text = h.Where.Function + " at " + text
	}
	if h.Native != "" {
		text = strings.TrimSpace(h.Native + " " + text)
	}
	return text
}
