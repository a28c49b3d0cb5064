package compare

import (
	"bottleneck/internal/stats"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Outputs says how what a changed program wrote differs from what the original wrote in some runs, two at least, beyond the order of lines
// and the rounding of numbers; "" where nothing does. What differs between any two runs of the original is not held against the change:
// lines that not all of them have are not compared, times and rates that vary neither, and other numbers that vary have to stay within what
// further runs of the original could give, where enough runs tell that. apart names what was not compared, "" where all was; some is false
// where no line at all repeats.
func Outputs(originals []string, after string) (difference, apart string, some bool) {
	o := original{lines: map[string][][]outputLine{}}
	for i, text := range originals {
		o.add(i, len(originals), text)
	}
	o.settle(len(originals))
	c := original{lines: map[string][][]outputLine{}}
	c.add(0, 1, after)
	difference = o.lacks(&c)
	if difference == "" {
		difference = o.firstNew(&c)
	}
	return difference, o.apart, o.steady > 0 || o.apart == ""
}

// original are the lines of some runs by their words, in the order in which the words first came.
type original struct {
	order    []string
	lines    map[string][][]outputLine // of each run
	steady   int                       // lines that all runs have
	unsteady int                       // lines of a run, at most, that not all runs have
	varying  int                       // numbers that differ from run to run
	apart    string
}

// add takes a run's lines.
func (o *original) add(run, runs int, text string) {
	for _, line := range outputLines(text) {
		if o.lines[line.words] == nil {
			o.order, o.lines[line.words] = append(o.order, line.words), make([][]outputLine, runs)
		}
		o.lines[line.words][run] = append(o.lines[line.words][run], line)
	}
}

// settle sets lines apart that not all runs have equally often, and counts numbers that vary.
func (o *original) settle(runs int) {
	unsteady := make([]int, runs)
	for _, words := range o.order {
		byRun := o.lines[words]
		if repeats(byRun) {
			o.steady += len(byRun[0])
			for i := range byRun[0] {
				for k := range byRun[0][i].numbers {
					if n := &(variation{byRun, i, k}); !n.steady() {
						o.varying++
						if !n.judged() && o.apart == "" {
							o.apart = fmt.Sprintf("%q", byRun[0][i].text)
						}
					}
				}
			}
			continue
		}
		for run := range byRun {
			unsteady[run] += len(byRun[run])
			if len(byRun[run]) > 0 && o.apart == "" {
				o.apart = fmt.Sprintf("%q", byRun[run][0].text)
			}
		}
	}
	o.unsteady = slices.Max(unsteady)
}

// repeats says that all runs have as many of a line.
func repeats(byRun [][]outputLine) bool {
	return !slices.ContainsFunc(byRun, func(lines []outputLine) bool { return len(lines) != len(byRun[0]) })
}

// lacks is the first line that repeats and that the changed program writes otherwise, or not any more.
func (o *original) lacks(after *original) string {
	for _, words := range o.order {
		byRun := o.lines[words]
		if !repeats(byRun) {
			continue
		}
		var changed []outputLine
		if after.lines[words] != nil {
			changed = after.lines[words][0]
		}
		d := o.firstDifference(byRun, changed)
		if d == "" {
			continue
		}
		ordered := make([][]outputLine, len(byRun))
		for run := range byRun {
			ordered[run] = sorted(byRun[run])
		}
		if d = o.firstDifference(ordered, sorted(changed)); d != "" {
			return d
		}
	}
	return ""
}

// firstNew is the first line that no run of the original has, where there are more of them than the original's own lines that come and go.
func (o *original) firstNew(after *original) string {
	first, n := "", 0
	for _, words := range after.order {
		if o.lines[words] == nil {
			n += len(after.lines[words][0])
			if first == "" {
				first = fmt.Sprintf("%q is new", after.lines[words][0][0].text)
			}
		}
	}
	if n <= o.unsteady {
		return ""
	}
	return first
}

// firstDifference compares lines of the same words one by one.
func (o *original) firstDifference(byRun [][]outputLine, after []outputLine) string {
	before := byRun[0]
	for i := range min(len(before), len(after)) {
		for k, number := range after[i].numbers {
			n := &variation{byRun, i, k}
			if !near(before[i].numbers[k], number) && (n.steady() || !n.holds(number, o.varying)) {
				return fmt.Sprintf("%q became %q", before[i].text, after[i].text)
			}
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

// variation is one number of a line in all runs of the original.
type variation struct {
	byRun [][]outputLine
	i, k  int
}

func (v *variation) of(run int) string { return v.byRun[run][v.i].numbers[v.k] }

// steady says that all runs have the same number, to the last digit: numbers that are only near to each other can be so by chance.
func (v *variation) steady() bool {
	for run := range v.byRun {
		if v.of(0) != v.of(run) {
			return false
		}
	}
	return true
}

// fewestOriginals is how many runs tell how far another one may lie from them.
const fewestOriginals = 4

// judged says that there are enough runs to compare a number that varies. Times and rates are what the change is to change.
func (v *variation) judged() bool {
	return len(v.byRun) >= fewestOriginals && !v.byRun[0][v.i].timed[v.k]
}

// outputLevel is how often a run that is like the others may be called different, over all numbers that vary.
const outputLevel = 0.01

// holds says that a number could be one of a further run: it lies in their prediction interval, or it is not judged.
func (v *variation) holds(number string, varying int) bool {
	if !v.judged() {
		return true
	}
	n, sum, squares := float64(len(v.byRun)), 0.0, 0.0
	for run := range v.byRun {
		x, err := strconv.ParseFloat(v.of(run), 64)
		if err != nil {
			return true
		}
		sum += x
	}
	for run := range v.byRun {
		x, _ := strconv.ParseFloat(v.of(run), 64)
		squares += (x - sum/n) * (x - sum/n)
	}
	x, err := strconv.ParseFloat(number, 64)
	t := stats.StudentQuantile(1-outputLevel/2/float64(max(varying, 1)), len(v.byRun)-1)
	return err != nil || math.Abs(x-sum/n) <= t*math.Sqrt(squares/(n-1)*(1+1/n))
}

// outputLine is a line with its numbers apart.
type outputLine struct {
	text, words string
	numbers     []string
	timed       []bool // numbers that are times or rates, by the words around them
}

var (
	printedNumber = regexp.MustCompile(`[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?`)
	timeAfter     = regexp.MustCompile(`^ ?([num\x{b5}\x{3bc}]?s|secs?|seconds?|min|minutes?|h|hours?)\b` +
		`|^ ?[\w./]*/ ?(s|sec|second|it|min)\b|^:\d\d`)
	timeBefore = regexp.MustCompile(`(?i)\b(time|took|takes|elapsed|eta|speed|throughput|per second|duration)\b[^\d]*$|\d:$`)
)

func outputLines(text string) []outputLine {
	var out []outputLine
	for line := range strings.Lines(text) {
		if at := strings.LastIndexByte(strings.TrimRight(line, "\r\n"), '\r'); at >= 0 {
			line = line[at+1:] // of a bar that was drawn over and over, what stays
		}
		if line = strings.Join(strings.Fields(line), " "); line != "" {
			o := outputLine{text: line, words: printedNumber.ReplaceAllString(line, "0")}
			for _, at := range printedNumber.FindAllStringIndex(line, -1) {
				o.numbers = append(o.numbers, line[at[0]:at[1]])
				o.timed = append(o.timed, timeAfter.MatchString(line[at[1]:]) || timeBefore.MatchString(line[:at[0]]))
			}
			out = append(out, o)
		}
	}
	return out
}

func sorted(lines []outputLine) []outputLine {
	out := slices.Clone(lines)
	slices.SortStableFunc(out, func(x, y outputLine) int { return strings.Compare(x.text, y.text) })
	return out
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
