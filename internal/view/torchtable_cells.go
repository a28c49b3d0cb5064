package view

import (
	"math"
	"strconv"
)

func (t *torchTable) time(us float64) string {
	switch t.opt.TimeUnit {
	case "s":
		return fixed(us/1e6, 3) + "s"
	case "ms":
		return fixed(us/1e3, 3) + "ms"
	case "us":
		return fixed(us, 3) + "us"
	}
	switch {
	case us >= 1e6:
		return fixed(us/1e6, 3) + "s"
	case us >= 1e3:
		return fixed(us/1e3, 3) + "ms"
	}
	return fixed(us, 3) + "us"
}

func fixed(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }

func average(total float64, count int64) float64 {
	if count == 0 {
		return 0
	}
	return total / float64(count)
}

func torchShare(us, total float64) string {
	if total == 0 {
		return "NaN"
	}
	return fixed(us*100/total, 2) + "%"
}

func torchBytes(n int64) string {
	switch size := math.Abs(float64(n)); {
	case size >= 1<<30:
		return fixed(float64(n)/(1<<30), 2) + " GB"
	case size >= 1<<20:
		return fixed(float64(n)/(1<<20), 2) + " MB"
	case size >= 1<<10:
		return fixed(float64(n)/(1<<10), 2) + " KB"
	}
	return strconv.FormatInt(n, 10) + " B"
}

// firstRunes is Python's s[:n]: a negative n counts from the end.
func firstRunes(s string, n int) string {
	runes := []rune(s)
	if n < 0 {
		n = max(0, len(runes)+n)
	}
	return string(runes[:min(n, len(runes))])
}

// trimPath keeps the end of a path that is too long.
func trimPath(path string, width int) string {
	runes := []rune(path)
	if len(runes) <= width {
		return path
	}
	runes = runes[len(runes)-width:]
	if len(runes) > 3 {
		return "..." + string(runes[3:])
	}
	return string(runes)
}
