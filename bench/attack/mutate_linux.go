package main

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// evilNumbers stand where a number stood.
var evilNumbers = strings.Fields(
	`0 -0 -1 1 1e308 -1e308 1e-320 1e400 NaN Infinity -Infinity 9223372036854775807 9223372036854775808 -9223372036854775808
	18446744073709551616 4294967296 2147483648 -2147483649 0.1 00 1.7976931348623157e308 99999999999999999999999999999999 null true "x" [] {} "" [[]]`)

// evilTexts are put anywhere.
var evilTexts = []string{"\x1b[31m\x1b]0;x\x07", "\u202eevil\u2066", "\x00", "\xff\xfe", "\xc3", "\ud7ff\uffff", "\"", "\\", "\\u0000",
	"\\ud800", "\n", "\r\n", "=cmd|' /C calc'!A0", "../../../../../../etc/passwd", "</script><script>", "%s%n%d", "{", "}", "[", "]", ",",
	":", "\"ph\": \"X\",", strings.Repeat("A", 1<<16), strings.Repeat("[", 1<<14), strings.Repeat("{\"a\":", 1<<13), "'; DROP TABLE x; --",
	"\u2028", "nan", "inf"}

var numbers = regexp.MustCompile(`-?\d+(\.\d+)?([eE][-+]?\d+)?`)
var strs = regexp.MustCompile(`"[^"\\\n]{0,80}"`)

// mutate changes a text in one to four places.
func mutate(rng *rand.Rand, text []byte) []byte {
	text = slices.Clone(text)
	for range 1 + rng.IntN(4) {
		if len(text) == 0 {
			return []byte(pick(rng, evilTexts...))
		}
		text = mutations[rng.IntN(len(mutations))](rng, text)
		if len(text) > 64<<20 {
			text = text[:64<<20]
		}
	}
	return text
}

var mutations = []func(*rand.Rand, []byte) []byte{
	flipBits, cutEnd, cutOut, repeatPiece, movePiece, swapNumber, swapNumber, swapNumber, swapString, swapString, insertText, insertText,
	sameNumbers, swapLines, overwrite,
}

// piece gives a random stretch of at most limit bytes.
func piece(rng *rand.Rand, text []byte, limit int) (from, to int) {
	from = rng.IntN(len(text))
	return from, min(len(text), from+1+rng.IntN(limit))
}

func flipBits(rng *rand.Rand, text []byte) []byte {
	for range 1 + rng.IntN(8) {
		text[rng.IntN(len(text))] ^= 1 << rng.IntN(8)
	}
	return text
}

func cutEnd(rng *rand.Rand, text []byte) []byte { return text[:rng.IntN(len(text))] }

func cutOut(rng *rand.Rand, text []byte) []byte {
	from, to := piece(rng, text, 1<<pick(rng, 2, 6, 12, 16))
	return slices.Delete(text, from, to)
}

func repeatPiece(rng *rand.Rand, text []byte) []byte {
	from, to := piece(rng, text, 1<<pick(rng, 4, 8, 12, 16))
	return slices.Insert(text, to, bytes.Repeat(text[from:to], 1+rng.IntN(20))...)
}

func movePiece(rng *rand.Rand, text []byte) []byte {
	from, to := piece(rng, text, 4096)
	moved := slices.Clone(text[from:to])
	text = slices.Delete(text, from, to)
	return slices.Insert(text, rng.IntN(len(text)+1), moved...)
}

// near finds what a pattern describes at a random place or behind it.
func near(rng *rand.Rand, text []byte, pattern *regexp.Regexp) []int {
	start := rng.IntN(len(text))
	at := pattern.FindIndex(text[start:min(len(text), start+1<<16)])
	if at == nil {
		return nil
	}
	return []int{start + at[0], start + at[1]}
}

func swapNumber(rng *rand.Rand, text []byte) []byte {
	for range 1 + rng.IntN(6) {
		if at := near(rng, text, numbers); at != nil {
			text = slices.Replace(text, at[0], at[1], []byte(pick(rng, evilNumbers...))...)
		}
	}
	return text
}

func swapString(rng *rand.Rand, text []byte) []byte {
	to, from := near(rng, text, strs), near(rng, text, strs)
	if to == nil || from == nil {
		return text
	}
	with := slices.Clone(text[from[0]:from[1]])
	if rng.IntN(3) == 0 {
		with = []byte(`"` + pick(rng, evilTexts...) + `"`)
	}
	return slices.Replace(text, to[0], to[1], with...)
}

func insertText(rng *rand.Rand, text []byte) []byte {
	return slices.Insert(text, rng.IntN(len(text)+1), []byte(pick(rng, evilTexts...))...)
}

// sameNumbers gives every number under one key the same value: durations of zero, one thread, one time.
func sameNumbers(rng *rand.Rand, text []byte) []byte {
	key := pick(rng, "dur", "ts", "tid", "pid", "External id", "correlation", "stream", "device", "Sequence number", "Python id",
		"Python parent id", "Total Allocated", "Bytes", "weight")
	pattern := regexp.MustCompile(`"` + key + `": *-?[0-9.eE+]+`)
	value := pick(rng, "0", "0", "1", "-1", "1e18", "9007199254740993")
	return pattern.ReplaceAll(text, []byte(`"`+key+`": `+value))
}

func swapLines(rng *rand.Rand, text []byte) []byte {
	lines := bytes.Split(text, []byte("\n"))
	for range 1 + rng.IntN(5) {
		i, k := rng.IntN(len(lines)), rng.IntN(len(lines))
		lines[i], lines[k] = lines[k], lines[i]
	}
	return bytes.Join(lines, []byte("\n"))
}

func overwrite(rng *rand.Rand, text []byte) []byte {
	from, to := piece(rng, text, 1<<pick(rng, 1, 3, 8))
	fill := byte(rng.IntN(256))
	for i := from; i < to; i++ {
		text[i] = fill
	}
	return text
}
