package timed

import (
	"cmp"
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// partsLine is a line that saves parts of tensors, each with all of the tensor.
type partsLine struct {
	file                model.Str
	line                int32
	calls, plain, loads float64 // of torch.save, that write more than is needed and not; of torch.load, of such files
	time, loading       float64 // in the calls that write more, and in these loads, ns
	used, stored        float64 // bytes that were needed and written
	saves, again        float64 // of time and of loading, what the bytes take that are not needed
	inWindows           float64 // what of both lies in accounted steps
}

// share is the part of what the line's files hold that nothing needs.
func (l *partsLine) share() float64 { return 1 - l.used/max(l.stored, 1) }

// savedParts are the lines of the driving thread's that save parts of tensors and whose excess is worth a word, most first, and of the
// spans in which they do and in which it is read again (indices of the process's) the share that would be left.
func savedParts(c *facts.Facts) ([]*partsLine, map[int]float64) {
	if len(c.P.Saved) == 0 || c.Wall <= 0 {
		return nil, nil
	}
	type call struct {
		start  model.Time
		thread int
	}
	rows, last := map[call]*model.Saved{}, model.Time(0)
	for i := range c.P.Saved {
		s := &c.P.Saved[i]
		rows[call{s.Start, s.Thread}] = s
		last = max(last, s.End)
	}
	type place struct {
		file model.Str
		line int32
	}
	type written struct { // a file
		by    *partsLine
		share float64
	}
	lines, files := map[place]*partsLine{}, map[model.Str]written{}
	of, left := map[int]*partsLine{}, map[int]float64{}
	var out []*partsLine
	// less notes that a share of a span's bytes is not needed, and gives what they take.
	less := func(i int, l *partsLine, share float64) float64 {
		sp := &c.P.Spans[i]
		d := float64(sp.End - sp.Start)
		excess := max(d-price.SavedCall, 0) * share
		if c.InWindows(sp.Start) {
			l.inWindows += c.InSteps(sp.Start, sp.End) * excess / d
		}
		of[i], left[i] = l, 1-excess/d
		return excess
	}
	for i := range c.P.Spans { // by their begin
		sp := &c.P.Spans[i]
		if sp.Kind != model.SpanIO || sp.End <= sp.Start || sp.Thread != c.B.Thread && sp.Thread != 0 {
			continue
		}
		switch c.Text(sp.Name) {
		case "torch.save":
			at := place{sp.File, sp.Line}
			l := lines[at]
			if l == nil {
				l = &partsLine{file: sp.File, line: sp.Line}
				lines[at], out = l, append(out, l)
			}
			share, part := 0.0, 1.0 // of its bytes; of such calls
			if s := rows[call{sp.Start, sp.Thread}]; s != nil {
				l.used, l.stored = l.used+float64(s.Used), l.stored+float64(s.Stored)
				share = 1 - float64(s.Used)/float64(s.Stored)
			} else if c.P.Counters["saves_unseen"] > 0 && sp.Start >= last && l.calls > 0 { // as those before it
				share, part = l.share(), l.calls/(l.calls+l.plain)
				l.used, l.stored = l.used*(1+part/l.calls), l.stored*(1+part/l.calls)
			}
			if share == 0 {
				l.plain++
				delete(files, sp.Detail)
				continue
			}
			l.calls, l.plain = l.calls+part, l.plain+1-part
			l.time += float64(sp.End-sp.Start) * part
			l.saves += less(i, l, share*part)
			files[sp.Detail] = written{l, share * part}
		case "torch.load":
			if f := files[sp.Detail]; sp.Detail != 0 && f.by != nil {
				f.by.loads++
				f.by.loading += float64(sp.End - sp.Start)
				f.by.again += less(i, f.by, f.share)
			}
		}
	}
	slices.SortStableFunc(out, func(a, b *partsLine) int { return cmp.Compare(b.saves+b.again, a.saves+a.again) })
	out = slices.DeleteFunc(out, func(l *partsLine) bool { return l.saves+l.again < finding.Floor*c.Wall })
	out = out[:min(len(out), maxIOFindings)]
	for i, l := range of {
		if !slices.Contains(out, l) {
			delete(left, i)
		}
	}
	return out, left
}

// FindViews names lines that save parts of tensors: torch.save writes all memory that a tensor is a part of, and torch.load reads all of it
// again. Wherever in the run that is, it is the run that pays.
func FindViews(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	var out []finding.Draft
	lines, _ := savedParts(c)
	for _, l := range lines {
		why := wording.Say("basis.intervals-run", wording.Count("intervals", l.calls+l.loads))
		f := finding.NewDraft(finding.Finding{Cause: finding.IO, Sub: "views", OfRun: true, Share: (l.saves + l.again) / c.Wall,
			Where:      c.At(l.file, l.line),
			Confidence: finding.Confidence{Level: finding.High, Why: []wording.Text{why}}}, finding.Parts{account.PartIO: l.inWindows})
		row := f.By(price.SavedParts)
		f.Run = row.Times(l.saves + l.again)
		f.Run.Low = row.Times(l.saves).Low
		f.Title = wording.Say("io.title-views", wording.Share("share", f.Share))
		f.Evidence = []wording.Text{wording.Say("io.views", wording.Time("time", l.time), wording.Count("n", l.calls),
			wording.Size("stored", l.stored), wording.Size("used", l.used))}
		if l.loads > 0 {
			f.Evidence = append(f.Evidence, wording.Say("io.views-loaded", wording.Time("time", l.loading), wording.Count("n", l.loads)))
		}
		f.Fix.Advice = []wording.Text{wording.Say("io.fix-views")}
		if code := copied(f.Where.Source); code != "" {
			f.Fix.Advice = []wording.Text{wording.Say("io.fix-views-here", wording.Named("code", code))}
		}
		f.Caveat = []wording.Text{wording.Say("io.caveat-views"), wording.Say("io.caveat-disk")}
		out = append(out, f)
	}
	return out
}

// sliced matches a part of what has a name, up to what follows it.
var sliced = regexp.MustCompile(`[A-Za-z_][\w.]*\[[^\[\]"'{}]*:[^\[\]"'{}]*\]\.?`)

// copied are the parts of tensors that a line saves, each as a copy; "" where it names none.
func copied(source string) string {
	var out []string
	for _, part := range sliced.FindAllString(source, -1) {
		if code := part + ".clone()"; !strings.HasSuffix(part, ".") && !slices.Contains(out, code) {
			out = append(out, code)
		}
	}
	return strings.Join(out, ", ")
}
