package cause

import (
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/precision"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// Names of fixes under which recorded operators are run again. Threads and cores are followed by their number.
const (
	fixThreads      = "threads="
	fixCores        = "cores="
	fixChannelsLast = "channels-last"
)

// Untried are cheap changes, which leave the numbers as they are, of which nothing that was recorded says what they would bring: what no
// rule has a price for is not known to save nothing. By Measurable ones the recorded operators can be run again, Others are for the user to
// try.
type Untried struct{ Measurable, Others []wording.Text }

// Untried says which such changes the program could have, has not, and were not measured on so much of the operators' time that it counts.
func (res *Result) Untried(c *facts.Facts, fixes []MeasuredFix) (u Untried) {
	if c.B.Part(account.PartGPUCompute) > 0 || c.Share(c.B.Part(account.PartOps)) < finding.Floor {
		return u
	}
	ops := c.PerStep(c.B.Part(account.PartOps)) / 1e6
	measured := func(name string) bool {
		return slices.ContainsFunc(fixes, func(m MeasuredFix) bool {
			return strings.HasPrefix(m.Fix, name) && m.OfMs >= price.MeasuredSome*ops
		})
	}
	if threads, cores := facts.TorchThreads(c), max(int(c.OwnCores()), 1); !measured(fixThreads) && (threads > 1 || cores > 1) &&
		!c.OnlyLaunches() && !res.names(finding.Threads) {
		u.Measurable = append(u.Measurable, wording.Say("measured.untried-threads", wording.Count("threads", threads),
			wording.Count("cores", cores)))
	}
	if !measured(fixChannelsLast) && kindTime(c, naming.OpConv) >= finding.Floor*c.B.Total && planarConvolutions(c) &&
		!res.names(finding.Layout) {
		u.Measurable = append(u.Measurable, wording.Say("measured.untried-layout"))
	}
	if kindTime(c, naming.OpOptimizer) >= finding.Floor*c.B.Total && !callsFused(c) {
		u.Others = append(u.Others, wording.Say("measured.untried-fused"))
	}
	if precision.MeetsDenormals(c, 1) && !res.names(finding.Precision) {
		u.Others = append(u.Others, wording.Say("measured.untried-denormal"))
	}
	return u
}

// names says that a finding is about a cause.
func (res *Result) names(cause string) bool {
	return slices.ContainsFunc(res.Findings, func(f finding.Finding) bool { return f.Cause == cause })
}

// kindTime is the accounted time in operators of a kind, in ns over the windows.
func kindTime(c *facts.Facts, kind naming.OpKind) float64 {
	for i := range c.B.Parts {
		for _, k := range c.B.Parts[i].Kinds {
			if c.B.Parts[i].ID == account.PartOps && k.Kind == kind {
				return k.Time
			}
		}
	}
	return 0
}

// callsFused says that the traced steps call an optimizer's fused form.
func callsFused(c *facts.Facts) bool {
	return c.B.Ops != nil && slices.ContainsFunc(c.B.Ops.Names, func(o account.OpTime) bool {
		return strings.Contains(c.Text(o.Name), "::_fused_")
	})
}

// planarConvolutions says that traced convolutions of images were given inputs in the usual order, each channel's values together, as far
// as strides were recorded.
func planarConvolutions(c *facts.Facts) (planar bool) {
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, _ bool) {
		if planar || ev.Detail[id] < 0 || !strings.HasPrefix(c.Text(ev.Name[id]), "aten::convolution") &&
			!strings.HasPrefix(c.Text(ev.Name[id]), "aten::conv2d") {
			return
		}
		d := ev.OpArgsOf(ev.Detail[id])
		shape, strides := firstList(c.Text(d.Shapes)), firstList(c.Text(d.Strides))
		planar = len(shape) == 4 && shape[1] > 1 && (len(strides) != 4 || strides[1] != 1)
	})
	return planar
}

// firstList is the first of the lists that a trace writes of an operator's inputs, such as [[16, 32], [32]]; nil where that is no list of
// numbers.
func firstList(text string) (out []int64) {
	inner, ok := strings.CutPrefix(strings.TrimSpace(text), "[[")
	if !ok {
		return nil
	}
	inner, _, _ = strings.Cut(inner, "]")
	for part := range strings.SplitSeq(inner, ",") {
		n, err := strconv.ParseInt(strings.TrimSpace(part), 10, 64)
		if err != nil {
			return nil
		}
		out = append(out, n)
	}
	return out
}

// tryMeasured makes findings of what recorded operators gain under fixes of which no rule has spoken: another number of threads, another
// order of images' values. Where other programs wanted the same cores while it was measured, threads are not judged.
func (res *Result) tryMeasured(c *facts.Facts, fixes []MeasuredFix, ops, varied float64) {
	crowded := c.S.Environment.OthersBusyCores != nil && *c.S.Environment.OthersBusyCores >= price.CrowdedCores
	threads := slices.IndexFunc(fixes, func(m MeasuredFix) bool { return strings.HasPrefix(m.Fix, fixThreads) })
	if threads >= 0 && !crowded && !res.names(finding.Threads) && !res.names(finding.Machine) && facts.LocalRanks(c) == 1 {
		res.addMeasured(c, &fixes[threads], ops, otherThreads(c, &fixes[threads], ops, varied))
	}
	last := slices.IndexFunc(fixes, func(m MeasuredFix) bool { return m.Fix == fixChannelsLast })
	if last >= 0 && !res.names(finding.Layout) {
		res.addMeasured(c, &fixes[last], ops, channelsLast(c, &fixes[last], varied))
	}
}

// addMeasured adds a finding that a measurement made, where it saves more than the floor and enough of the operators' time was run again.
func (res *Result) addMeasured(c *facts.Facts, m *MeasuredFix, ops float64, f finding.Finding) {
	gain := f.Step.Mid / c.B.Mean()
	if gain < finding.Floor || m.OfMs < price.MeasuredSome*ops {
		res.Largest = max(res.Largest, min(gain, finding.Floor))
		return
	}
	f.Where, f.Measured, f.Share = finding.Nowhere(), true, m.OfMs*1e6/c.B.Mean()
	f.Run = c.OverRun(f.Step)
	f.Evidence = []wording.Text{wording.Say("measured.less", wording.Time("saved", m.SavedMs*1e6), wording.Count("ops", m.Ops),
		wording.Named("fix", m.Fix), wording.Share("share", m.SavedMs/m.OfMs))}
	f.Confidence = measuredConfidence(c, m, ops)
	certain(c, &f)
	res.Findings = append(res.Findings, f)
}

// otherThreads is what operators gain by another number of threads. Small ones are computed by one thread, however many there are.
func otherThreads(c *facts.Facts, m *MeasuredFix, ops, varied float64) finding.Finding {
	n, err := strconv.ParseUint(strings.TrimPrefix(m.Fix, fixThreads), 10, 16)
	if err != nil || m.OfMs <= 0 {
		return finding.Finding{}
	}
	if o := c.B.Ops; o != nil && o.Time > 0 {
		ops *= 1 - min(o.SmallTime/o.Time, 1)
	}
	share, of := min(m.SavedMs/m.OfMs, 1), min(m.OfMs, ops)
	f := finding.Finding{Cause: finding.Threads, Step: finding.Bounds(1e6*share*of*min(varied, 1), 1e6*share*ops,
		1e6*min(share*price.MeasuredSpread*max(varied, 1), 1)*ops)}
	f.Title = wording.Say("threads.title-few", wording.Count("threads", facts.TorchThreads(c)), wording.Count("n", int(n)))
	f.Fix.Advice = []wording.Text{wording.Say("threads.fix-count")}
	f.Fix.Action = finding.SetThreads(int(n))
	f.Caveat = []wording.Text{wording.Say("measured.caveat")}
	return f
}

// channelsLast is what convolutions gain by the order of images' values in which all channels of a point lie together.
func channelsLast(c *facts.Facts, m *MeasuredFix, varied float64) finding.Finding {
	if m.OfMs <= 0 {
		return finding.Finding{}
	}
	saved := 1e6 * min(m.SavedMs, m.OfMs)
	b := price.ChannelsLast.Bounds()
	f := finding.Finding{Cause: finding.Layout, Step: finding.Bounds(b.Low*saved*min(varied, 1), b.Mid*saved,
		min(b.High*saved*max(varied, price.MeasuredSpread), c.B.Mean()))}
	f.Title = wording.Say("layout.title-last", wording.Share("share", min(m.OfMs*1e6/c.B.Mean(), 1)), c.Said())
	f.Fix.Advice = []wording.Text{wording.Say("layout.fix-one")}
	f.Fix.Action = finding.NewLine("model = model.to(memory_format=torch.channels_last); x = x.to(memory_format=torch.channels_last)")
	f.Caveat = []wording.Text{wording.Say("measured.caveat"), wording.Say("layout.caveat-back")}
	return f
}
