package page

import (
	"math"
)

// Panels is a view of pictures, with the tables that belong to them below.
type Panels struct {
	Title  string   `json:"title"`
	Aside  string   `json:"aside,omitempty"`
	Charts []Chart  `json:"charts"`
	Tables []string `json:"tables"` // parts
}

// Kinds of charts.
const (
	chartPoints  = "points"  // Y over X; a series with Line is drawn through its points
	chartLevels  = "levels"  // each Y holds until the next X
	chartStack   = "stack"   // the same, series upon series
	chartColumns = "columns" // Y from X on, Width wide
	chartBars    = "bars"    // a row each, series behind series
	chartHeat    = "heat"    // a row each, the stronger the larger Y
	chartBlocks  = "blocks"  // a row each, from X on, Width wide; a series is a colour
)

// Chart is one picture. Its values are laid out here; the page draws and scales them.
type Chart struct {
	Title  string   `json:"title"`
	Aside  string   `json:"aside,omitempty"`
	Kind   string   `json:"kind"`
	X      Axis     `json:"x"`
	Y      Axis     `json:"y"`
	Rows   []string `json:"rows"` // names of rows, where the kind has some
	Series []Series `json:"series"`
}

// Axis is what an axis tells, in a unit of columns.
type Axis struct {
	Head string `json:"head"`
	Unit string `json:"unit"`
	Log  bool   `json:"log,omitempty"`
}

// Series is what is drawn in one colour. Its lists are of one length, or empty where the kind of chart does not use them.
type Series struct {
	Name  string     `json:"name"`
	Line  bool       `json:"line,omitempty"`
	X     []float64  `json:"x"`
	Y     []*float64 `json:"y"`
	Row   []int      `json:"row,omitempty"`
	Width []float64  `json:"width,omitempty"`
	Texts []string   `json:"texts,omitempty"`   // what a point is, beside its values
	From  []float64  `json:"from_us,omitempty"` // the stretch of the timeline that a point leads to
	To    []float64  `json:"to_us,omitempty"`
}

// add adds a point.
func (s *Series) add(x, y float64) { s.X, s.Y = append(s.X, x), append(s.Y, &y) }

// addIn adds a value in a row.
func (s *Series) addIn(row int, x, y float64) {
	s.add(x, y)
	s.Row = append(s.Row, row)
}

// maxPoints bounds the points of a series: more cannot be told apart.
const maxPoints = 3000

// thinned keeps the lowest and the highest point of every stretch of a series that is too long, in their order, so that nothing that
// stands out is lost.
func (s *Series) thinned() {
	n := len(s.X)
	if n <= maxPoints {
		return
	}
	keep := []int{}
	for b := range maxPoints / 2 {
		from, to := b*n/(maxPoints/2), (b+1)*n/(maxPoints/2)
		low, high := from, from
		for i := from; i < to; i++ {
			if at(s.Y, i) < at(s.Y, low) {
				low = i
			}
			if at(s.Y, i) > at(s.Y, high) {
				high = i
			}
		}
		keep = append(keep, min(low, high))
		if low != high {
			keep = append(keep, max(low, high))
		}
	}
	s.X, s.Y, s.Row, s.Width = picked(s.X, keep), picked(s.Y, keep), picked(s.Row, keep), picked(s.Width, keep)
	s.Texts, s.From, s.To = picked(s.Texts, keep), picked(s.From, keep), picked(s.To, keep)
}

func at(values []*float64, i int) float64 {
	if values[i] == nil {
		return math.Inf(-1)
	}
	return *values[i]
}

func picked[T any](list []T, keep []int) []T {
	if len(list) == 0 {
		return list
	}
	out := make([]T, len(keep))
	for i, k := range keep {
		out[i] = list[k]
	}
	return out
}

// newSeries is an empty series; its lists are never null.
func newSeries(name string) Series { return Series{Name: name, X: []float64{}, Y: []*float64{}} }

// chartOf makes a chart of the series that hold something.
func chartOf(title, kind string, x, y Axis, series ...Series) Chart {
	c := Chart{Title: title, Kind: kind, X: x, Y: y, Rows: []string{}, Series: []Series{}}
	for _, s := range series {
		if len(s.X) > 0 {
			s.thinned()
			c.Series = append(c.Series, s)
		}
	}
	return c
}
