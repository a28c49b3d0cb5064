package facts

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/pysource"
	"strings"
)

// StepLoop is the head of the user's loop that runs the steps: the outermost one of the outermost function with a loop, where nearly all
// time of the steps was spent within the same.
func (c *Facts) StepLoop() (at finding.UserLine, ok bool) {
	type line struct {
		file string
		line int32
	}
	heads := map[line]int32{} // of lines that were looked at
	spent, total := map[line]float64{}, 0.0
	for _, chain := range ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(int, *account.Attributed) bool { return true }) {
		total += chain.Weight
		for i := range chain.Frames {
			f := &chain.Frames[i]
			here := line{c.Text(f.File), f.Line}
			head, known := heads[here]
			if source := c.S.Sources[here.file]; !known && source != nil {
				head = pysource.OutermostLoop(source.Lines, f.Line)
				heads[here] = head
			}
			if head > 0 {
				spent[line{here.file, head}] += chain.Weight
				break
			}
		}
	}
	for l, time := range spent {
		if time >= driverShare*total {
			return finding.UserLine{File: l.file, Line: int(l.line), Text: strings.TrimSpace(c.S.Sources[l.file].Lines[l.line-1])}, true
		}
	}
	return at, false
}
