package page

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// tileBoxes is how many boxes of a row can be told apart in a tile: what is shorter than a tile ÷ tileBoxes is put together with
// what stands beside it.
const tileBoxes = 1024

// Tile is what lies in one stretch of the timeline, at the resolution of its level. Boxes are in order of lane; those
// that reach beyond the tile are whole. Times are microseconds from the timeline's start.
type Tile struct {
	Complete bool      `json:"complete"` // nothing was put together: deeper levels tell no more
	Names    []string  `json:"names"`
	Lane     []int     `json:"lane"`
	Row      []int     `json:"row"`
	Start    []float64 `json:"start_us"`
	Us       []float64 `json:"us"`
	Name     []int     `json:"name"`  // row of Names; of the longest where several were put together
	Count    []int     `json:"count"` // events in the box
	Busy     []float64 `json:"busy_us"`
	// Arrows lead from a launch to its work on the device, from an operator to the one that works out its gradient, and back.
	Arrows []Arrow `json:"arrows"`
}

// tileNumber reads "level/index".
func tileNumber(name string) (level, index int, ok bool) {
	a, b, cut := strings.Cut(name, "/")
	level, err1 := strconv.Atoi(a)
	index, err2 := strconv.Atoi(b)
	return level, index, cut && err1 == nil && err2 == nil && level >= 0 && level < 48 && index >= 0 && index < 1<<level
}

func tileName(level, index int) string { return fmt.Sprintf("tile/%d/%d", level, index) }

// tile cuts one tile.
func (t *timeline) tile(level, index int) *Tile {
	width := float64(t.to-t.from) / float64(int64(1)<<level)
	c := cutter{t: t, from: t.from + model.Time(float64(index)*width), to: t.from + model.Time(float64(index+1)*width) + 1,
		finest: model.Time(width / tileBoxes), names: map[model.Str]int{},
		out: &Tile{Complete: true, Names: []string{}, Lane: []int{}, Row: []int{}, Start: []float64{},
			Us: []float64{}, Name: []int{}, Count: []int{}, Busy: []float64{}, Arrows: []Arrow{}}}
	for i := range t.lanes {
		for row := range t.lanes[i].Rows {
			c.row(i, row)
		}
	}
	return c.out
}

// cutter makes one tile.
type cutter struct {
	t        *timeline
	from, to model.Time
	finest   model.Time
	names    map[model.Str]int
	out      *Tile
}

// box is one event of a row; id is NoEvent where it is none of a trace.
func (l *lane) box(row, i int) (box, model.EventID) {
	if l.trace == nil {
		return l.boxes[row][i], model.NoEvent
	}
	id, ev := l.events[row][i], &l.trace.Events
	return box{ev.Start[id], ev.End(id), ev.Name[id]}, id
}

func (l *lane) length(row int) int {
	if l.trace == nil {
		return len(l.boxes[row])
	}
	return len(l.events[row])
}

// bundle is events that were put together.
type bundle struct {
	start, end, busy, longest model.Time
	name                      model.Str
	count                     int
	id                        model.EventID
}

// row adds one row's boxes. A row's boxes do not overlap, so that their ends are in order too.
func (c *cutter) row(number, row int) {
	l := &c.t.lanes[number]
	n := l.length(row)
	first := sort.Search(n, func(i int) bool { b, _ := l.box(row, i); return b.end >= c.from })
	var open bundle
	for i := first; i < n; i++ {
		b, id := l.box(row, i)
		if b.start >= c.to {
			break
		}
		length := b.end - b.start
		if open.count > 0 && length < c.finest && open.end-open.start < 8*c.finest && b.start-open.end < c.finest &&
			open.longest < c.finest {
			open.end, open.busy, open.count = b.end, open.busy+length, open.count+1
			if length > open.longest {
				open.longest, open.name = length, b.name
			}
			continue
		}
		c.flush(number, row, &open)
		open = bundle{b.start, b.end, length, length, b.name, 1, id}
	}
	c.flush(number, row, &open)
}

func (c *cutter) flush(number, row int, b *bundle) {
	if b.count == 0 {
		return
	}
	o := c.out
	name, ok := c.names[b.name]
	if !ok {
		name = len(o.Names)
		c.names[b.name] = name
		o.Names = append(o.Names, c.t.s.Strings.Text(b.name))
	}
	if b.count > 1 {
		o.Complete = false
	} else {
		c.arrows(number, len(o.Lane), b.id)
	}
	o.Lane, o.Row, o.Name, o.Count = append(o.Lane, c.t.lanes[number].shown), append(o.Row, row), append(o.Name, name),
		append(o.Count, b.count)
	o.Start, o.Us, o.Busy = append(o.Start, c.t.us(b.start)), append(o.Us, float64(b.end-b.start)/1e3), append(o.Busy, float64(b.busy)/1e3)
}

// maxFileBoxes bounds the boxes of all tiles that a file holds.
const maxFileBoxes = 200_000

// fileTiles names the tiles that a file holds, level by level: below a complete one none is needed.
func (t *timeline) fileTiles() []string {
	var names []string
	level, boxes := []int{0}, 0
	for n := 0; n < t.levels() && len(level) > 0; n++ {
		var next []int
		for _, index := range level {
			tile := t.tile(n, index)
			if boxes += len(tile.Lane); boxes > maxFileBoxes && n > 0 {
				return names
			}
			names = append(names, tileName(n, index))
			if !tile.Complete {
				next = append(next, 2*index, 2*index+1)
			}
		}
		level = next
	}
	return names
}

// Found is where a text occurs in the names of the timeline.
type Found struct {
	Count   int64   `json:"count"`
	TotalUs float64 `json:"total_us"`
	Longest []Spot  `json:"longest"` // in order of time
}

// Spot is one event of the timeline.
type Spot struct {
	Lane    int     `json:"lane"`
	Row     int     `json:"row"`
	StartUs float64 `json:"start_us"`
	Us      float64 `json:"us"`
	Name    string  `json:"name"`
}

// maxFound bounds the places of an answer.
const maxFound = 500

// find looks through all events; a text of no letters finds nothing.
func (t *timeline) find(text string) *Found {
	text = strings.ToLower(text)
	out := &Found{Longest: []Spot{}}
	known := map[model.Str]bool{}
	holds := func(name model.Str) bool {
		is, ok := known[name]
		if !ok {
			is = text != "" && strings.Contains(strings.ToLower(t.s.Strings.Text(name)), text)
			known[name] = is
		}
		return is
	}
	for number := range t.lanes {
		l := &t.lanes[number]
		for row := range l.Rows {
			for i := range l.length(row) {
				if b, _ := l.box(row, i); holds(b.name) {
					out.Count++
					out.TotalUs += float64(b.end-b.start) / 1e3
					out.Longest = append(out.Longest, Spot{l.shown, row, t.us(b.start), float64(b.end-b.start) / 1e3,
						t.s.Strings.Text(b.name)})
				}
			}
		}
		out.cut()
	}
	slices.SortStableFunc(out.Longest, func(a, b Spot) int { return cmp.Compare(a.StartUs, b.StartUs) })
	return out
}

// cut leaves the longest places.
func (f *Found) cut() {
	if len(f.Longest) > maxFound {
		slices.SortStableFunc(f.Longest, func(a, b Spot) int { return cmp.Compare(b.Us, a.Us) })
		f.Longest = f.Longest[:maxFound]
	}
}
