package price

import "math"

// Range is an estimate with its bounds. A saving's middle is the cause gone altogether, as a replay without it would give it, except
// where the fix cannot but leave a part (a checkpoint written rarely, one compilation); what fixes usually leave is in its lower bound.
type Range struct{ Low, Mid, High float64 }

// Scale multiplies all three.
func (r Range) Scale(f float64) Range { return Range{r.Low * f, r.Mid * f, r.High * f} }

// AtMost bounds all of a range.
func (r Range) AtMost(most float64) Range {
	return Range{min(r.Low, most), min(r.Mid, most), min(r.High, most)}
}

// Add adds bound by bound, as of prices that err together.
func (r Range) Add(s Range) Range { return Range{r.Low + s.Low, r.Mid + s.Mid, r.High + s.High} }

// AfterStart is what is left of a run's saving where the fix itself takes time once: nothing at the worst, and at the best all, as where
// the start was paid for in an earlier run.
func AfterStart(saving, start Range) Range {
	return Range{max(saving.Low-start.High, 0), max(saving.Mid-start.Mid, 0), max(saving.High-start.Low, 0)}
}

// Kind says how far a number can be trusted.
type Kind uint8

// Kinds of origins, the best first.
const (
	Measured Kind = iota // with the fix and without it, apart from the programs that test the price
	Fitted               // so that prices of programs came out right
	Guess                // by experience or by reasoning, never measured
)

func (k Kind) String() string { return [...]string{"measured", "fitted", "guess"}[k] }

// Origin is where a row's numbers come from.
type Origin struct {
	Kind   Kind
	On     string // what was measured, what it was fitted to, or what speaks for a guess
	Points int    // measurements; 0 where they were not counted
	Span   string // the range that they cover; "" where it is not known
	Repeat string // what measures it again; "" where nothing does
}

// Row is one price.
type Row struct {
	ID    string
	Range        // in Unit; a row whose three numbers are equal is known no better than that
	Unit  string // of the numbers
	Of    string // what the rule measures and scales them by, with its unit
	Origin
	// Sure is, of time that samples tell, the share that the lower bound takes for certain beside their number; 0 in other rows.
	Sure float64
}

// Bounds are the row's numbers as prices take them: the interval of what was never measured is wider than the book's, by a part of its
// middle. No share becomes more than all by that.
func (r Row) Bounds() Range {
	wider := [...]float64{Measured: 0, Fitted: WiderFitted, Guess: WiderGuess}[r.Kind] * r.Mid
	return Range{max(r.Low-wider, 0), r.Mid, max(min(r.High+wider, 1), r.High)}
}

// Times is the saving in ns where the rule has measured so many ns.
func (r Row) Times(ns float64) Range { return r.Bounds().Scale(ns) }

// Sampled are a row's shares of time that so many samples tell: the fewer, the wider.
func (r Row) Sampled(samples int) Range {
	spread, b := Ninety/math.Sqrt(float64(samples)), r.Bounds()
	return Range{max(min(b.Low, (r.Sure-(r.Low-b.Low))*(1-spread)), 0), r.Mid, b.High + spread}
}

// Rests says how far a price by the row can be trusted: as what was measured where its middle was, or is the time itself but for a tenth
// at most.
func (r Row) Rests() Kind {
	if r.Mid >= NearlyAll && r.Mid <= 1 {
		return Measured
	}
	return r.Kind
}

// exactly is a number without bounds.
func exactly(v float64) Range { return Range{v, v, v} }
