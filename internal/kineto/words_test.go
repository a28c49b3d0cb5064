package kineto

import (
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestPlainStringIsQuoted holds the look at whole words against the search for single bytes, at every distance from the
// text's end.
func TestPlainStringIsQuoted(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	const bytesOfStrings = "abcdefghijklmnopqrstuvwxyz, :\"\\\n\xA2\x23\x5D\x0B"
	taken := 0
	for range 20_000 {
		text := []byte{'"'}
		for range random.IntN(40) {
			text = append(text, bytesOfStrings[random.IntN(len(bytesOfStrings))])
		}
		end := plainString(text, 0)
		if end == 0 {
			continue
		}
		taken++
		want, escaped := quoted(text, 0)
		if end != want || escaped || insideOut(text[1:end-1]) {
			t.Fatalf("%q: %d, not %d (escapes: %v)", text, end, want, escaped)
		}
	}
	if taken < 2_000 {
		t.Errorf("only %d strings were looked at by words", taken)
	}
}

// TestNumbersOfAnyLength reads integers and times of 1 to 20 digits that stand before a delimiter, near the text's end and
// far from it.
func TestNumbersOfAnyLength(t *testing.T) {
	for length := 1; length <= 20; length++ {
		for _, first := range []string{"1", "9"} {
			number := first + strings.Repeat("7", length-1)
			for _, behind := range []string{"}", ",                          ", ".25,                        "} {
				text := []byte(number + behind)
				s, e := NewBytesScanner(text), Event{}
				end := length + strings.IndexAny(behind, "},")
				if want, err := strconv.ParseInt(number, 10, 64); err == nil && behind[0] != '.' {
					if q := s.integer(text, 0, Correlation, &e); q != end || e.Ints[Correlation] != want {
						t.Errorf("integer %q: %d up to %d", text, e.Ints[Correlation], q)
					}
				}
				if length > 15 {
					continue // seventeen digits and more go through floats; sixteen may overflow nanoseconds
				}
				whole, _ := strconv.ParseInt(number, 10, 64)
				want := whole * 1000
				if behind[0] == '.' {
					want += 250
				}
				if q := s.time(text, 0, &e.TS, hasTS, &e); q != end || e.TS != want || !e.HasTS() {
					t.Errorf("time %q: %d up to %d, not %d", text, e.TS, q, want)
				}
			}
		}
	}
}

// TestLongTimes reads times of sixteen digits and more as the careful way does, or not at all.
func TestLongTimes(t *testing.T) {
	for _, number := range []string{"1697770410320665", "9223372036854774", "9223372036854775", "9999999999999999", "16977704103206651",
		"1697770410320665.1239"} {
		text := []byte(number + ",                ")
		var fast, careful Event
		s := NewBytesScanner(text)
		q := s.time(text, 0, &fast.TS, hasTS, &fast)
		if want := s.timeSlowly(text, 0, &careful.TS, hasTS, &careful); q != want || fmt.Sprint(fast) != fmt.Sprint(careful) {
			t.Errorf("%s: %d (%v) up to %d, not %d (%v) up to %d", number, fast.TS, fast.HasTS(), q, careful.TS, careful.HasTS(), want)
		}
	}
}
