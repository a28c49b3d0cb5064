package compare

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Outputs says how what a program wrote differs from what it wrote before a change, beyond the order of lines, the rounding of numbers, and
// what differs between two runs of the unchanged program: times, speeds, random numbers. "" where nothing does. known is false where the
// unchanged runs themselves differ in more than numbers, so that there is nothing to compare with.
func Outputs(before, again, after string) (difference string, known bool) {
	a, b, c := outputLines(before), outputLines(again), outputLines(after)
	if len(a) != len(b) {
		return "", false
	}
	for i := range a {
		if a[i].words != b[i].words {
			a, b, c = sorted(a), sorted(b), sorted(c)
			break
		}
	}
	for i := range a {
		if a[i].words != b[i].words {
			return "", false
		}
		a[i].varies = make([]bool, len(a[i].numbers))
		for k := range a[i].numbers {
			a[i].varies[k] = !near(a[i].numbers[k], b[i].numbers[k])
		}
	}
	if d := firstDifference(a, c); d == "" {
		return "", true
	}
	return firstDifference(sorted(a), sorted(c)), true
}

// outputLine is a line with its numbers apart.
type outputLine struct {
	text, words string
	numbers     []string
	varies      []bool // from run to run of the same program
}

var printedNumber = regexp.MustCompile(`[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?`)

func outputLines(text string) []outputLine {
	var out []outputLine
	for line := range strings.Lines(text) {
		if at := strings.LastIndexByte(strings.TrimRight(line, "\r\n"), '\r'); at >= 0 {
			line = line[at+1:] // of a bar that was drawn over and over, what stays
		}
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			out = append(out, outputLine{text: line, words: printedNumber.ReplaceAllString(line, "0"),
				numbers: printedNumber.FindAllString(line, -1)})
		}
	}
	return out
}

func sorted(lines []outputLine) []outputLine {
	out := slices.Clone(lines)
	slices.SortStableFunc(out, func(x, y outputLine) int { return strings.Compare(x.words+"\x00"+x.text, y.words+"\x00"+y.text) })
	return out
}

func firstDifference(before, after []outputLine) string {
	for i := range min(len(before), len(after)) {
		a, b := &before[i], &after[i]
		same := a.words == b.words
		for k := 0; same && k < len(a.numbers); k++ {
			same = k < len(a.varies) && a.varies[k] || near(a.numbers[k], b.numbers[k])
		}
		if !same {
			return fmt.Sprintf("%q became %q", a.text, b.text)
		}
	}
	switch n := len(before) - len(after); {
	case n > 0:
		return fmt.Sprintf("%q is no longer written", before[len(after)].text)
	case n < 0:
		return fmt.Sprintf("%q is new", after[len(before)].text)
	}
	return ""
}

// roundingShare is how far apart two printed numbers may be, as a share, to be the same but for rounding.
const roundingShare = 1e-3

// near says that two printed numbers are the same but for rounding: by their share, or in their last digit.
func near(x, y string) bool {
	if x == y {
		return true
	}
	a, errA := strconv.ParseFloat(x, 64)
	b, errB := strconv.ParseFloat(y, 64)
	if errA != nil || errB != nil {
		return false
	}
	if !strings.ContainsAny(x+y, ".eE") {
		return false // whole numbers are counted, not rounded
	}
	return math.Abs(a-b) <= max(roundingShare*max(math.Abs(a), math.Abs(b)), 1.001*lastDigit(x))
}

// lastDigit is what one more in a number's last digit is worth.
func lastDigit(x string) float64 {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(x), "e")
	_, decimals, _ := strings.Cut(mantissa, ".")
	e, _ := strconv.Atoi(exponent)
	return math.Pow10(e - len(decimals))
}
