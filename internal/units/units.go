package units

import (
	"math"
	"strconv"
	"strings"
)

// Milliseconds writes a time given in ms with three significant digits and the unit that reads best.
func Milliseconds(ms float64) string {
	a := math.Abs(ms)
	switch {
	case a == 0:
		return "0"
	case a < 1:
		return Digits(ms*1000) + " µs"
	case a < 1000:
		return Digits(ms) + " ms"
	case a < 120e3:
		return Digits(ms/1000) + " s"
	case a < 7200e3:
		return Digits(ms/60e3) + " min"
	}
	return Digits(ms/3600e3) + " h"
}

// Seconds writes a time given in seconds likewise.
func Seconds(s float64) string { return Milliseconds(s * 1000) }

// Digits writes three significant digits without an exponent.
func Digits(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	}
	return strconv.FormatFloat(v, 'f', 2, 64)
}

// Percent writes a share (0..1).
func Percent(share float64) string {
	p := share * 100
	switch {
	case p != 0 && math.Abs(p) < 0.1:
		return "<0.1 %"
	case math.Abs(p) < 10:
		return strconv.FormatFloat(p, 'f', 1, 64) + " %"
	}
	return strconv.FormatFloat(p, 'f', 0, 64) + " %"
}

// Bytes writes a size with binary prefixes.
func Bytes(n float64) string {
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB"}
	i := 0
	for math.Abs(n) >= 1024 && i < len(units)-1 {
		n /= 1024
		i++
	}
	if i == 0 {
		return strconv.FormatFloat(n, 'f', 0, 64) + " B"
	}
	return Digits(n) + " " + units[i]
}

// Count writes a whole number with thin groups of three.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Number writes up to three significant digits, without an exponent and without zeros behind the point.
func Number(v float64) string {
	text := Digits(v)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// Range writes low–high in the unit of the high end: "52–118 ms", "0.028–1.4 s". unit writes one number.
func Range(low, high float64, unit func(float64) string) string {
	from, to := unit(low), unit(high)
	if from == to {
		return to
	}
	first, firstOf, _ := strings.Cut(from, " ")
	number, of, _ := strings.Cut(to, " ")
	scaled, err := strconv.ParseFloat(number, 64)
	switch ratio := low / high; {
	case firstOf == of || low == 0:
	case err == nil && ratio >= 0.001 && ratio < 1:
		first = strconv.FormatFloat(ratio*scaled, 'g', 2, 64)
	default:
		return from + " – " + to
	}
	return strings.TrimRight(first+"–"+number+" "+of, " ")
}
