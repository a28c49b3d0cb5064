package again

import (
	"math"
	"regexp"
	"strings"

	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

var (
	// sparseProduct matches a call that multiplies a sparse matrix.
	sparseProduct = regexp.MustCompile(`\b(?:sparse\.(?:add)?mm|spmm|smm|hspmm)\s*\(`)
	// sparseMade matches the beginning of a call that makes a sparse matrix of coordinates.
	sparseMade = regexp.MustCompile(`\b(?:torch\.sparse_coo_tensor|torch(?:\.cuda)?\.sparse\.\w*Tensor)\s*\(`)
)

// ordering is what a program calls once to have a sparse matrix in order.
const ordering = ".coalesce()"

// FindOrdered names products that put the entries of a sparse matrix in order each time, forward and backward: the matrix does not say that
// they are.
func FindOrdered(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	times := c.B.Device.Ordered
	f, per, ok := c.BesideDevice(finding.Again, "ordered", c.B.Device.Ordering, price.Ordered)
	if !ok || times < price.OrderedLeast {
		return nil
	}
	if at, ok := c.OnlyLine(sparseProduct.MatchString); ok {
		f.Where = at.Where()
	}
	f.Title = wording.Say("again.title-ordered", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("again.ordered", wording.Time("time", per), c.Said(),
		wording.Count("times", math.Round(times)))}
	f.Fix.Advice = []wording.Text{wording.Say("again.fix-ordered")}
	f.Caveat = []wording.Text{wording.Say("again.caveat-ordered")}
	if at, ok := c.OnlyLine(sparseMade.MatchString); ok {
		if becomes, ok := inOrder(at.Text); ok {
			f.Fix.Action.Edit(at, becomes)
		}
	}
	return []finding.Draft{f}
}

// inOrder is the text of a line in which the matrix that it makes is put in order at once; false where the call does not end in the line.
func inOrder(text string) (string, bool) {
	begin := sparseMade.FindStringIndex(text)
	depth := 0
	for i := begin[0]; i < len(text); i++ {
		switch text[i] {
		case '\'', '"', '#':
			return "", false
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return text[:i+1] + ordering + text[i+1:], !strings.HasPrefix(text[i+1:], ordering)
			}
		}
	}
	return "", false
}
