package memory

import (
	"regexp"

	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindSeparable names filters with a large window that convolutions apply to each of few channels by itself: those of pictures, as a
// Gaussian or a box, are mostly products of a row and a column, and two passes along these multiply far less.
func FindSeparable(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	s := &windows{least: price.SeparableLeast}
	if c.OnDevice() {
		s.least = price.SeparableOnDevice
	}
	f, t, ok := sequenceAnywhere(c, s, finding.Finding{Cause: finding.MemoryBound, Sub: "separable"}, filters, price.Separable)
	if !ok {
		return nil
	}
	f.Title = wording.Say("memory.title-separable", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.separable", wording.Time("time", t), c.Said(), wording.Count("rows", s.largest[0]),
		wording.Count("columns", s.largest[1]), wording.Count("channels", s.channels))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-separable")}
	f.Caveat = []wording.Text{wording.Say("memory.caveat-separable")}
	return []finding.Draft{f}
}

// filters matches a line that may apply a filter.
var filters = regexp.MustCompile(`\bconv2d\(|gaussian_blur\(|GaussianBlur\(|(?:ssim|SSIM)\(`)

// windows are convolutions whose channels each have their own window, of few channels: networks learn more of them.
type windows struct {
	least    int64    // places on the shorter side of those that count
	largest  [2]int64 // rows and columns of the window that takes most multiplications
	channels int64    // of its pictures
}

func (w *windows) wants(name string) bool { return name == "aten::convolution" }

func (w *windows) next(op *outerOp) (whole []outerOp, counts float64) {
	if op == nil {
		return nil, 0
	}
	for i := range op.inside {
		in := &op.inside[i]
		if len(in.shapes) < 2 || len(in.shapes[0]) < 3 || len(in.shapes[1]) != 4 {
			continue
		}
		window, channels := in.shapes[1], in.shapes[0][len(in.shapes[0])-3]
		rows, columns := window[2], window[3]
		if window[1] != 1 || window[0] != channels || channels > price.SeparableChannels || min(rows, columns) < w.least {
			continue
		}
		if rows*columns > w.largest[0]*w.largest[1] {
			w.largest, w.channels = [2]int64{rows, columns}, channels
		}
		return []outerOp{*op}, 1 - price.SeparablePass*float64(rows+columns)/float64(rows*columns)
	}
	return nil, 0
}
