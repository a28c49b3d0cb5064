package input

import (
	"regexp"
	"slices"

	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// deviceCopies is what fetches of the program's own put on a device.
type deviceCopies struct {
	device bool    // they use the device: a worker that is forked could not
	batch  float64 // copies to the device in a fetch
	sample float64 // tensors that each sample has copied, at least 1
	share  float64 // of the traced fetches' time, in the calls that copy
}

// copying looks at the fetches of the driving thread in traced steps. Where no trace shows them, the line that takes most of the fetch
// tells by its source that it makes tensors on a device.
func (v *inputView) copying(c *facts.Facts) (d deviceCopies) {
	fetches := v.ownFetches(c)
	inside, all, copies, n := 0.0, 0.0, 0, 0
	var calls []times.Interval
	last, shown := -1, false // shown: the traces hold work of a device
	c.EachTracedCall(func(call facts.TracedCall) {
		shown = shown || call.Works > 0
		i := times.Within(fetches, call.Start)
		if i < 0 {
			return
		}
		if i != last {
			last = i
			all += fetches[i].Dur()
			n++
		}
		d.device = d.device || call.Works > 0
		if call.Copies > 0 {
			inside += call.Dur()
			copies += call.Copies
			calls = append(calls, call.Interval)
		}
	})
	if n == 0 || !shown {
		return deviceCopies{device: v.hotOK && c.P.TimedOnDevice() && onDevice.MatchString(c.Where(v.hot).Source)}
	}
	d.batch, d.sample = float64(copies)/float64(n), 1
	if d.share = inside / all; v.loader != nil && v.loader.BatchSize > 0 {
		d.sample = max(d.batch/float64(v.loader.BatchSize), 1)
	}
	if d.singly() {
		v.atCopies(c, calls)
	}
	return d
}

// onDevice matches source lines that make a tensor on a device or move one there.
var onDevice = regexp.MustCompile(`\bdevice\s*=|\.cuda\(|\.to\(\s*(device|self\.device|["']cuda)`)

// ownFetches are when the driving thread fetches for the place, sorted and disjoint.
func (v *inputView) ownFetches(c *facts.Facts) []times.Interval {
	var fetches, waits []times.Interval
	for i := range c.P.Spans {
		sp := &c.P.Spans[i]
		if sp.Thread != c.B.Thread || sp.End <= sp.Start {
			continue
		}
		if at := known(c, sp.Loader); at >= 0 && len(v.ids) > 0 && !v.ids[c.P.Loaders[at].ID] {
			continue
		}
		switch sp.Kind {
		case model.SpanFetch:
			fetches = append(fetches, times.Interval{Start: sp.Start, End: sp.End})
		case model.SpanDataWait:
			waits = append(waits, times.Interval{Start: sp.Start, End: sp.End})
		}
	}
	if len(fetches) == 0 { // the program itself fetches while it waits
		fetches = waits
	}
	return times.Disjoint(fetches)
}

// singly says that the fetch copies its samples to the device one by one, and that it takes long.
func (d *deviceCopies) singly() bool {
	return d.batch >= price.CopiesLeast && d.share >= price.HotFetch
}

// atCopies makes the place the line at which samples in traced steps see most of the copies, where enough do: the line with most of the
// whole fetch may be another.
func (v *inputView) atCopies(c *facts.Facts, calls []times.Interval) {
	var seen []facts.Chain
	c.TracedChains(facts.Merged(calls), func(ch facts.Chain, _ model.Time) { seen = append(seen, ch) })
	sp, ok := facts.Hottest(seen, c.Drivers)
	if !ok || len(seen) < facts.BesideTraced || v.all <= 0 || facts.KeyOf(&sp.Frame) == facts.KeyOf(&v.hot.Frame) {
		return
	}
	of := 0.0
	for _, ch := range slices.Concat(v.awake, v.asleep) {
		if slices.ContainsFunc(ch.Frames, func(f model.Frame) bool { return facts.KeyOf(&f) == facts.KeyOf(&sp.Frame) }) {
			of += ch.Weight
		}
	}
	v.hot, v.hotOK, v.hotPart = sp, true, of/v.all
}

// copiedAtOnce prices one copy for all samples of a batch, ns per step: what the copies take by the traces, but for one of each tensor.
// What its line has around them goes in part with them: a tensor that is made on the CPU is made in less.
func (v *inputView) copiedAtOnce(c *facts.Facts) finding.Range {
	wait := c.PerStep(v.wait)
	copies := v.copies.share * (1 - v.copies.sample/v.copies.batch) * wait
	around := max(min(v.hotPart*wait-copies, copies), 0)
	row := price.CopiedAround.Bounds()
	return finding.Bounds(price.FetchAlone.Bounds().Low*copies+row.Low*around, copies+row.Mid*around, copies+row.High*around)
}

// copyAtOnce says how a batch gets to the device by one copy.
func (v *inputView) copyAtOnce(c *facts.Facts, f *finding.Finding) {
	f.Title = wording.Say("input.title-copies", wording.Share("share", f.Share), c.Said())
	f.Evidence = append(f.Evidence, wording.Say("input.copies", wording.Count("copies", v.copies.batch),
		wording.Share("share", v.copies.share)))
	f.Fix.Advice = []wording.Text{wording.Say("input.fix-copies"), wording.Say("input.fix-no-fork")}
}
