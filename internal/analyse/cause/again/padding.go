package again

import (
	"math"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
	"bottleneck/internal/wording"
)

// FindPadding names batches of sequences of which much is filling: places that the model computes like the others, and nobody needs.
func FindPadding(c *facts.Facts, l finding.Ledger) []finding.Draft {
	if skipsFilling(c) {
		return nil
	}
	loader, _ := mostAsked(c, c.InWindows)
	p := paddingOf(c, loader)
	if p.looks == 0 && loader >= 0 { // it hands out texts, say, that the program makes sequences of
		loader = -1
		p = paddingOf(c, loader)
	}
	if p.looks < price.PaddingLooks || p.all() < price.PaddingShare {
		return nil
	}
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, a *account.Attributed) bool {
		return a.Part == account.PartOps && !l.Taken(k) && c.C.Info(c.P.Samples.Stack[a.Index]).Acts&code.ActOptimizer == 0
	})
	on := 1.0 // the share of the device's work that is done for these places
	if lines := fillingLines(c, &p, loader); len(lines) > 0 {
		chains = slices.DeleteFunc(chains, func(ch facts.Chain) bool {
			return askerOf(c, c.P.Samples.Stack[c.B.Samples[ch.Index].Index], lines) == nil
		})
		if spans := spansOf(c.P.Asked, lines); len(spans) > 0 {
			_, on = launchedIn(c, spans)
		}
	}
	t := facts.Sum(chains)
	f := finding.NewDraft(finding.Finding{Cause: finding.Padding, Where: c.At(p.file, p.line), Confidence: c.Basis(len(chains))},
		finding.Parts{})
	row := f.By(price.Padding)
	off := p.off()
	least, most := max(min(max(p.own(), p.all()/2), p.all()-off), 0), min(row.High*(p.all()+off), 1)
	if c.OnDevice() { // as many operators are called for fewer places
		t = c.FewerOnDevice(on*p.all(), 0) * float64(c.B.Steps()) / p.all()
		f.Claim.Parts = c.InProportion(p.all()*t, waitedIn)
		f.Confidence = c.Basis(len(c.B.Samples))
		f.Step = finding.Bounds(row.Low*c.FewerOnDevice(on*least, 0), row.Mid*c.FewerOnDevice(on*p.all(), 0), c.FewerOnDevice(on*most, 0))
	} else {
		c.ClaimAll(&f, chains, p.all())
		left := 1 - min(l.SlowOps()/max(c.B.Part(account.PartOps), 1), 1) // what others make slow may stay so with fewer places
		f.Step = finding.Bounds(left*row.Low*least, left*row.Mid*p.all(), most).Scale(c.PerStep(t))
		if left < 1-price.PaddingSlow { // gradients can vanish sooner of fewer places
			f.Step.Low, f.Guess = 0, true
		}
	}
	if f.Share = c.Share(p.all() * t); f.Share < price.PaddingShare {
		return nil
	}
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("padding.title", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{
		wording.Say("padding.filling", wording.Share("share", p.all()), wording.Value("batches", float64(p.looks))),
		wording.Say("padding.lengths", wording.Value("mean", p.filled/p.rows), wording.Value("longest", p.longest/p.rows),
			wording.Value("width", p.width/p.rows)),
	}
	f.Fix.Advice = paddingAdvice(&p, loader >= 0)
	f.Caveat = []wording.Text{wording.Say("padding.caveat")}
	return []finding.Draft{f}
}

// fillingLines are the lines that call what computes the filling, where these are known: in an inference all else of a step stays as it is,
// in a training most of it is the passes of these calls.
func fillingLines(c *facts.Facts, p *padding, loader int32) (lines []*askedLine) {
	if len(account.TracedSteps(c.S, c.B)) == 0 || account.UntrackedWork(c.S, c.B) != nil {
		return nil
	}
	if loader < 0 {
		return []*askedLine{{file: p.file, line: p.line}}
	}
	for i := range c.P.Asked {
		if r := &c.P.Asked[i]; callsFrom(lines, r) < 0 {
			lines = append(lines, &askedLine{file: r.File, line: r.Line})
		}
	}
	return lines
}

// spansOf are the stretches of calls at lines that were looked at; sorted, disjoint.
func spansOf(asked []model.Asked, lines []*askedLine) (spans []times.Interval) {
	for i := range asked {
		r := &asked[i]
		if r.End > r.Time && callsFrom(lines, r) >= 0 {
			spans = append(spans, times.Interval{Start: r.Time, End: r.End})
		}
	}
	return facts.Merged(spans)
}

func paddingAdvice(p *padding, loader bool) []wording.Text {
	own := p.own() >= price.PaddingOwn
	switch {
	case own && loader:
		return []wording.Text{wording.Say("padding.fix-own"), wording.Say("padding.fix-group-too")}
	case own:
		return []wording.Text{wording.Say("padding.fix-own-call"), wording.Say("padding.fix-group-call")}
	case loader:
		return []wording.Text{wording.Say("padding.fix-group")}
	default:
		return []wording.Text{wording.Say("padding.fix-group-call")}
	}
}

// padding is what was seen of the filling of a loader's batches, or of those that models are called with: sums over the batches that were
// looked at, each in places of a sequence times its sequences.
type padding struct {
	looks                        int
	rows, width, longest, filled float64
	shares                       []float64 // of each look: the places that are filling
	file                         model.Str // with line: what builds the loader, or calls a model with the most of these places
	line                         int32
}

// all is the share of places that are filling.
func (p *padding) all() float64 { return 1 - p.filled/p.width }

// own is the share of places that would go if each batch were filled up to its own longest sequence.
func (p *padding) own() float64 { return 1 - p.longest/p.width }

// off is how far the share of all batches may lie from that of those that were looked at: two standard errors.
func (p *padding) off() float64 {
	_, variance := stats.MeanVariance(p.shares)
	return 2 * math.Sqrt(variance/float64(p.looks))
}

// paddingOf is the filling of a loader's batches, or, where loader is -1, of those that models are called with in steps of the accounted
// kind and before the first step.
func paddingOf(c *facts.Facts, loader int32) padding {
	p := padding{}
	type line struct {
		file model.Str
		line int32
	}
	widths := map[line]float64{}
	for i := range c.P.Padding {
		b := &c.P.Padding[i]
		if b.Loader != loader || loader < 0 && !ofAccounted(c, b.Time) {
			continue
		}
		rows := float64(b.Rows)
		p.looks++
		p.rows += rows
		p.width += rows * float64(b.Width)
		p.longest += rows * float64(b.Longest)
		p.filled += float64(b.Filled)
		p.shares = append(p.shares, 1-float64(b.Filled)/max(rows*float64(b.Width), 1))
		at := line{b.File, b.Line}
		widths[at] += rows * float64(b.Width)
		if widths[at] >= widths[line{p.file, p.line}] {
			p.file, p.line = at.file, at.line
		}
	}
	if loader >= 0 {
		p.file, p.line = c.P.Loaders[loader].File, c.P.Loaders[loader].Line
	}
	return p
}

// ofAccounted says that no step of another kind runs at an instant.
func ofAccounted(c *facts.Facts, t model.Time) bool {
	return !slices.ContainsFunc(c.P.Steps, func(st model.Step) bool { return st.Kind != c.B.Kind && st.Start <= t && t < st.End })
}

// mostAsked is the DataLoader that the accounted thread asks for most batches at times that count, and for how many; -1 where it asks none.
func mostAsked(c *facts.Facts, counts func(model.Time) bool) (loader int32, batches int64) {
	asked := make([]int64, len(c.P.Loaders))
	for i := range c.P.Spans {
		sp := &c.P.Spans[i]
		if sp.Kind == model.SpanDataWait && sp.Thread == c.B.Thread && sp.Loader >= 0 && int(sp.Loader) < len(asked) && counts(sp.Start) {
			asked[sp.Loader]++
		}
	}
	loader = -1
	for i, n := range asked {
		if n > batches {
			loader, batches = int32(i), n
		}
	}
	return loader, batches
}

// skipsFilling says that traced steps pack sequences or nest them, so that filling is not computed.
func skipsFilling(c *facts.Facts) (skips bool) {
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, _ bool) {
		name := c.Text(ev.Name[id])
		skips = skips || strings.Contains(name, "_pack_padded_sequence") || strings.Contains(name, "nested") ||
			strings.Contains(name, "varlen")
	})
	return skips
}
