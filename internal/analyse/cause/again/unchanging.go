package again

import (
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// FindUnchanging names lines of a training that compute the same in each step: the program's text gives all that they are made of a value
// before the loop, no gradient goes through their operators, as through those of what is learned, and none draws random numbers.
func FindUnchanging(c *facts.Facts, l finding.Ledger) []finding.Draft {
	u := account.UntrackedWork(c.S, c.B)
	if u == nil || c.OnDevice() {
		return nil
	}
	draws := runsWith(c, u, func(name string) bool { return naming.OpKindOf(name) == naming.OpRandom })
	all, apart := map[facts.PlaceKey]int{}, map[facts.PlaceKey]int{}
	c.TracedChains(u.Steps, func(ch facts.Chain, when model.Time) {
		at := lastOf(&ch)
		all[at]++
		apart[at] += finding.Btoi(facts.Inside(u.Runs, when) && !facts.Inside(draws, when))
	})
	chains := slices.DeleteFunc(c.Working(l), func(ch facts.Chain) bool {
		at := lastOf(&ch)
		return float64(apart[at]) < price.AskedLine*float64(all[at])
	})
	if len(chains) < facts.MinSamples || c.Share(facts.Sum(chains)) < finding.Floor {
		return nil // the text need not be read
	}
	lines, traced := textLines{c: c, known: map[string]bool{}}, map[facts.PlaceKey]int{}
	chains = slices.DeleteFunc(chains, func(ch facts.Chain) bool {
		if !lines.stay(&ch) {
			return true
		}
		at := lastOf(&ch)
		traced[at] = apart[at]
		return false
	})
	looked := 0
	for _, n := range traced {
		looked += n
	}
	if looked < facts.BesideTraced {
		return nil
	}
	f := askedFinding(c, "unchanging", chains, 1, price.AskedInputs)
	if f == nil {
		return nil
	}
	f.Caveat = []wording.Text{wording.Say("again.caveat-unchanging")}
	return []finding.Draft{*f}
}

// textLines knows of which stacks of lines the last one computes the same at each turn, as the program's text tells.
type textLines struct {
	c     *facts.Facts
	known map[string]bool
	read  pysource.Reader
}

// stay says so of a chain.
func (t *textLines) stay(ch *facts.Chain) bool {
	var key strings.Builder
	var stack []pysource.At
	for i := range ch.Frames {
		f := &ch.Frames[i]
		src := t.c.S.Sources[t.c.Text(f.File)]
		if src == nil {
			return false
		}
		name := t.c.Text(f.Function)
		name = name[strings.LastIndexByte(name, '.')+1:]
		stack = append(stack, pysource.At{Source: src.Lines, Name: name, Line: f.Line})
		key.WriteString(t.c.Text(f.File) + ":" + strconv.Itoa(int(f.Line)) + "\n")
	}
	same, known := t.known[key.String()]
	if !known {
		same = t.read.Unchanging(stack)
		t.known[key.String()] = same
	}
	return same
}
