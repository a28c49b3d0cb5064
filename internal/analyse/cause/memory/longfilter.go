package memory

import (
	"regexp"
	"strings"

	"bottleneck/internal/analyse/arguments"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindLongFilter names filters of many taps that convolutions apply to signals of few channels, at every place: reverberation, resampling.
// A product of their spectra takes time that hardly grows with the taps.
func FindLongFilter(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	l := &longFilter{}
	f, t, ok := sequenceDraft(c, l, finding.Finding{Cause: finding.MemoryBound, Sub: "long-filter"}, filtersSignal, price.LongFilter)
	if !ok {
		return nil
	}
	f.Title = wording.Say("memory.title-long-filter", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.long-filter", wording.Time("time", t), c.Said(), wording.Count("taps", l.taps),
		wording.Count("length", l.length))}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-long-filter")}
	f.Caveat = []wording.Text{wording.Say("memory.caveat-long-filter")}
	return []finding.Draft{f}
}

// filtersSignal matches a line that may apply a filter to a signal.
var filtersSignal = regexp.MustCompile(`\bconv1d\(|\bconvolve\(|(?i:conv|filter|reverb)\w*\(`)

// longFilter is a convolution along one dimension at each of its places.
type longFilter struct{ taps, length int64 } // of the longest filter, and the length of what it is applied to

func (l *longFilter) wants(name string) bool { return name == "aten::convolution" }

func (l *longFilter) next(op *outerOp) (whole []outerOp, counts float64) {
	if op == nil {
		return nil, 0
	}
	for i := range op.inside {
		in := &op.inside[i]
		if len(in.shapes) < 2 || len(in.shapes[0]) < 2 || len(in.shapes[1]) < 3 || arguments.Product(in.shapes[1]) == 0 {
			continue
		}
		window := in.shapes[1]
		taps := window[len(window)-1]
		// What else the window spans are other channels, which learn, or rows.
		if taps < price.LongFilterTaps || arguments.Product(window)/taps > price.LongFilterChannels || !atEachPlace(in) {
			continue
		}
		if taps > l.taps {
			l.taps, l.length = taps, in.shapes[0][len(in.shapes[0])-1]
		}
		return []outerOp{*op}, 1
	}
	return nil, 0
}

// atEachPlace says that a convolution goes on by one place, and takes neighbours: of others a product of spectra computes much for nothing.
func atEachPlace(in *shapedOp) bool {
	for _, argument := range []int{3, 5} { // stride, dilation
		if len(in.concrete) <= argument || strings.Trim(in.concrete[argument], "[]1, ") != "" {
			return false
		}
	}
	return true
}
