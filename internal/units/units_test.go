package units

import "testing"

// A range has one unit, that of its high end, and its low end keeps what it says.
func TestRangeHasOneUnit(t *testing.T) {
	for _, c := range []struct {
		low, high float64
		unit      func(float64) string
		want      string
	}{
		{51.9, 118, Milliseconds, "51.9–118 ms"},
		{27.9, 1430, Milliseconds, "0.028–1.43 s"},
		{0, 210, Milliseconds, "0–210 ms"},
		{5, 5, Milliseconds, "5.00 ms"},
		{0.001, 90e3, Milliseconds, "1.00 µs – 90.0 s"},
		{0.093, 0.31, Percent, "9.3–31 %"},
	} {
		if got := Range(c.low, c.high, c.unit); got != c.want {
			t.Errorf("%v to %v: %q, want %q", c.low, c.high, got, c.want)
		}
	}
}
