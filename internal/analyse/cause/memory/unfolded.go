package memory

import (
	"regexp"
	"slices"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindUnfolded names convolutions that are written as a table of all windows and a product with weights that are the same at each place:
// the table has as many copies of a picture as a window has places, and a convolution writes out none.
func FindUnfolded(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	u := &unfolded{}
	f, t, ok := sequenceDraft(c, u, finding.Finding{Cause: finding.MemoryBound, Sub: "unfolded"}, unfolds, price.Unfolded)
	if !ok {
		return nil
	}
	f.Title = wording.Say("memory.title-unfolded", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.unfolded", wording.Time("time", t), c.Said(), wording.Count("times", u.times))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-unfolded")}
	return []finding.Draft{f}
}

// unfolds matches a line that may make such a table.
var unfolds = regexp.MustCompile(`(?i:unfold)\(|im2col`)

// unfolded is a table of windows, and the product of it with a matrix next, with nothing but views between.
type unfolded struct {
	made   []outerOp
	window int64 // numbers in one window
	times  int64 // copies of a number in the table, at most
}

func (u *unfolded) wants(name string) bool { return name == "aten::im2col" || products[name] }

func (u *unfolded) next(op *outerOp) (whole []outerOp, counts float64) {
	made := u.made
	if op != nil && made != nil && passing.MatchString(op.name) {
		return nil, 0
	}
	u.made = nil
	if op == nil || len(op.inside) == 0 {
		return nil, 0
	}
	in := &op.inside[0]
	switch {
	case op.name == "aten::im2col" && len(in.shapes) > 0 && len(in.shapes[0]) == 4 && len(in.concrete) > 1:
		window := arguments.Shapes("[" + in.concrete[1] + "]")
		if len(window) != 1 || arguments.Product(window[0]) < 2 || arguments.Product(in.shapes[0]) < price.UnfoldedLeast {
			return nil, 0
		}
		u.made, u.window = []outerOp{*op}, in.shapes[0][1]*arguments.Product(window[0])
	case made != nil && products[op.name] && u.multiplies(in):
		u.times = max(u.times, u.window/max(channelsOf(made), 1))
		return append(made, *op), 1
	}
	return nil, 0
}

// multiplies says that a product is of the table and of a matrix with a row, or a column, for each number in a window.
func (u *unfolded) multiplies(in *shapedOp) bool {
	has := func(matrix bool) bool {
		return slices.ContainsFunc(in.shapes, func(s []int64) bool {
			return (len(s) == 2) == matrix && len(s) > 1 && (s[len(s)-1] == u.window || s[len(s)-2] == u.window)
		})
	}
	return has(true) && has(false)
}

// channelsOf is the number of channels of what a table is made of.
func channelsOf(made []outerOp) int64 { return made[0].inside[0].shapes[0][1] }
