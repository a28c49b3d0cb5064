package compare

import (
	"bottleneck/internal/report"
	"bottleneck/internal/units"
	"cmp"
	"fmt"
	"math"
	"strings"
)

// bySize orders memory by device, and the largest difference first.
func bySize(x, y report.DiffBytes) int {
	abs := func(n int64) int64 { return max(n, -n) }
	return cmp.Or(strings.Compare(x.Device, y.Device), cmp.Compare(abs(y.Difference), abs(x.Difference)), strings.Compare(x.Name, y.Name))
}

func unlikeSentence(d *report.Diff) string {
	var parts []string
	for _, f := range d.Unlike {
		parts = append(parts, fmt.Sprintf("%s: %s and %s", f.What, cmp.Or(f.Before, "not known"), cmp.Or(f.After, "not known")))
	}
	return "not comparable: " + strings.Join(parts, "; ") + "; --anyway compares them all the same."
}

// sentence is the answer.
func sentence(d *report.Diff) string {
	s := &d.Step
	share := func(ms float64) string { return units.Percent(math.Abs(ms) / s.BeforeMs) }
	switch d.Verdict {
	case report.Slower, report.Faster:
		low, high := math.Abs(*s.LowMs), math.Abs(*s.HighMs)
		text := fmt.Sprintf("%s by %s a %s (%s – %s, %s)", d.Verdict, units.Milliseconds(math.Abs(s.DifferenceMs)), d.Per,
			units.Milliseconds(min(low, high)), units.Milliseconds(max(low, high)), share(s.DifferenceMs))
		if why := because(d, s.DifferenceMs); why != "" {
			text += ", because " + why
		}
		return text + "."
	case report.Equal:
		return fmt.Sprintf("equal within %s%s.", share(max(math.Abs(*s.LowMs), math.Abs(*s.HighMs))), countersSay(d))
	}
	if d.NoiseCovered {
		return fmt.Sprintf("cannot say: these runs could only show %s%s%s.", share(*d.SmallestMs), moreText(d), countersSay(d))
	}
	once := "this once no difference"
	if s.DifferenceMs != 0 {
		once = "this once " + share(s.DifferenceMs) + map[bool]string{true: " more", false: " less"}[s.DifferenceMs > 0]
	}
	sides := fmt.Sprintf("cannot say: %s against %s", runs(len(d.Before.Runs)), runs(len(d.After.Runs)))
	text := fmt.Sprintf("%s could show no difference of times (%s, noise of the machine not covered)", sides, once)
	if d.SmallestMs != nil {
		text = fmt.Sprintf("%s could only show %s, noise of the machine not covered (%s)", sides, share(*d.SmallestMs), once)
	}
	return text + moreText(d) + countersSay(d) + "."
}

func runs(n int) string {
	if n == 1 {
		return "one run"
	}
	return fmt.Sprintf("%d runs", n)
}

func moreText(d *report.Diff) string {
	switch {
	case d.MoreRuns == nil:
		return ""
	case *d.MoreRuns >= mostRuns:
		return "; no reasonable number of runs would show 2 % on this machine"
	case d.NoiseCovered:
		return fmt.Sprintf("; %d more a side would show 2 %%", *d.MoreRuns)
	}
	return fmt.Sprintf("; at least %d more a side are needed", *d.MoreRuns)
}

// countersSay is what is certain whatever the times are.
func countersSay(d *report.Diff) string {
	if c := topCounter(d, 0); c != nil {
		return "; for certain: " + counterText(c)
	}
	return ""
}

// because is the counter, else the row, that goes with the difference.
func because(d *report.Diff, difference float64) string {
	if c := topCounter(d, difference); c != nil {
		return counterText(c)
	}
	for _, kind := range []string{"line", "function", "kernel", "operator", "part"} {
		for i := range d.Rows {
			r := &d.Rows[i]
			if r.Kind == kind && r.Name != unexplained && r.DifferenceMs*difference > 0 && (r.Different || kind == "part") &&
				math.Abs(r.DifferenceMs) >= 0.3*math.Abs(difference) {
				return rowText(r)
			}
		}
	}
	return ""
}

func rowText(r *report.DiffRow) string {
	verb := "takes %s more"
	if r.DifferenceMs < 0 {
		verb = "takes %s less"
	}
	name := r.Name
	if r.Text != "" {
		name = fmt.Sprintf("%s (%s)", r.Text, r.Name)
	}
	return name + " " + fmt.Sprintf(verb, units.Milliseconds(math.Abs(r.DifferenceMs)))
}

// topCounter is the decided counter to name first: one that goes the way of the difference (any way if that is 0), with a line before one
// without, and a single operator before sums, which are larger by nature.
func topCounter(d *report.Diff, difference float64) *report.DiffCount {
	var best *report.DiffCount
	rank := func(c *report.DiffCount) (n int) {
		switch {
		case c.Where == nil:
		case c.Because == saysSo || c.Kind == "call":
			n += 16
		default:
			n += 8
		}
		switch c.Kind {
		case "graph-breaks", "synchronisations", "call":
			n += 4
		case "op", "function":
			n += 3
			if strings.Contains(c.Name, "::_") { // what another one calls
				n--
			}
		case "operators":
			n += 2
		}
		n *= 2
		if name := c.Name[strings.LastIndexByte(c.Name, ':')+1:]; name != "" && strings.Contains(c.Text, name+"(") {
			n++ // the operator that is written there, before what it calls in turn
		}
		return n
	}
	for i := range d.Counters {
		c := &d.Counters[i]
		if !c.Different || difference != 0 && c.Difference*difference < 0 {
			continue
		}
		if best == nil || rank(c) > rank(best) || rank(c) == rank(best) && math.Abs(c.Difference) > math.Abs(best.Difference) {
			best = c
		}
	}
	return best
}

// counterText is "1 more aten::item a step at train.py:21".
func counterText(c *report.DiffCount) string {
	word := "more"
	if c.Difference < 0 {
		word = "fewer"
	}
	what := c.Name
	if what == "" {
		what = strings.ReplaceAll(c.Kind, "-", " ")
	}
	amount := units.Count(int64(math.Round(math.Abs(c.Difference))))
	if amount == "1" && c.Name == "" {
		what = strings.TrimSuffix(what, "s")
	}
	if c.Unit == "bytes" {
		amount = units.Bytes(math.Abs(c.Difference))
		word = strings.Replace(word, "fewer", "less", 1)
	}
	text := fmt.Sprintf("%s %s %s a %s", amount, word, what, c.Per)
	if c.Where != nil {
		text += " at " + shortPlace(c.Where)
	}
	return text
}
