package report

import (
	"fmt"
	"slices"

	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/units"
)

// foreignFindings names what keeps devices from computing in traces from elsewhere. A trace holds no unprofiled step: savings are
// of the traced time.
func (b *Builder) foreignFindings(gpus []device.GPU) {
	t, ok := traced.NewTraced(gpus, b.kernels(), b.traceParts())
	if !ok {
		return
	}
	b.res.traced = t
	if len(b.R.Steps) > 0 && b.R.Steps[0].Traced != nil {
		t.Total = max(t.Total, b.stepsNs()*float64(len(gpus)))
	}
	found := cause.FindTraced(t, b.S)
	b.guard("replay", func() {
		r := b.replay()
		found.PriceByReplay(t, r)
		cause.InOrder(found.Findings, nil, r)
	})
	b.res.found = found
	b.R.Unread = append(b.R.Unread, found.Skipped...)
	for i := range found.Findings {
		b.R.Findings = append(b.R.Findings, b.finding(&found.Findings[i]))
	}
}

// replayed prepares the traces for questions, unless they are so large that the graph would need more memory than they do.
func (b *Builder) replayed() *replay.Session {
	if b.merged != nil || slices.ContainsFunc(b.S.Traces, func(t *model.Trace) bool { return t.Events.Len() > manyEvents }) {
		return nil
	}
	return replay.ForReport(b.S, nil)
}

// smallSaving is the share of the devices' time below which a finding's saving is not the verdict where most of that time is computing.
const smallSaving = 0.1

// tracedVerdict is the first finding as a sentence; without one, what the devices do.
func (b *Builder) tracedVerdict(bound string) Verdict {
	v := Verdict{Bound: bound, Confidence: Confidence{Level: "medium", Why: "a trace without an unprofiled baseline"}}
	if i := slices.IndexFunc(b.R.Findings, func(f Finding) bool { return f.Saving != nil }); i >= 0 {
		f := &b.R.Findings[i]
		v.Sentence = f.Title
		if at := AtPlace(f.Where); at != "" {
			v.Sentence += ", most at " + at
		}
		v.Sentence += fmt.Sprintf("; fixing it saves %s of the traced time.",
			units.Range(f.Saving.RunS.Low, f.Saving.RunS.High, units.Seconds))
		if about := b.aboutComputing(); about != "" && f.Saving.RunS.Mid < smallSaving*b.res.traced.Span/1e9 {
			v.Sentence = about + units.LowerFirst(v.Sentence)
		}
		if share := b.idleUnexplained(); share > f.Share {
			v.Sentence += fmt.Sprintf(" %s more is idle for reasons that the trace does not show.", units.Percent(share))
		}
		return v
	}
	v.Sentence = fmt.Sprintf("%s of the devices' time is %s; nothing above %s to save was found.", units.Percent(b.R.Breakdown[0].Share),
		b.R.Breakdown[0].Part, units.Percent(max(finding.Floor, b.res.found.Largest)))
	if b.res.traced != nil {
		if mfu, device, ok := b.res.traced.MFU(); ok {
			v.Sentence = fmt.Sprintf("%s of the devices' time is %s, at %s of %s's peak; nothing above %s to save was found.",
				units.Percent(b.R.Breakdown[0].Share), b.R.Breakdown[0].Part, units.Percent(mfu), device,
				units.Percent(max(finding.Floor, b.res.found.Largest)))
		}
	}
	if top := &b.R.Breakdown[0]; top.Part == "GPU idle" && b.idleUnexplained() > 0.5*top.Share {
		v.Sentence = fmt.Sprintf("%s of the devices' time is GPU idle; the trace does not show what the devices waited for.",
			units.Percent(top.Share))
	}
	return v
}

// aboutComputing says, before a first finding that saves little, that the devices compute for most of their time; "" where they do not.
func (b *Builder) aboutComputing() string {
	for i := range b.R.Findings {
		if f := &b.R.Findings[i]; f.Cause == finding.Compute {
			return fmt.Sprintf("%s of the devices' time is computing%s, in which nothing to save was found. Of the rest: ",
				units.Percent(f.Share), b.ofPeak())
		}
	}
	if top := &b.R.Breakdown[0]; top.Part == "GPU compute" && top.Share >= 0.5 {
		return fmt.Sprintf("%s of the devices' time is computing%s, and no fix is likely to save a tenth of the whole. The first: ",
			units.Percent(top.Share), b.ofPeak())
	}
	return ""
}

// idleUnexplained is the share of the devices' time in which they idle before work whose launch is not in the trace, or which was
// launched in time and waited for something else.
func (b *Builder) idleUnexplained() (share float64) {
	for i := range b.R.Breakdown {
		if p := &b.R.Breakdown[i]; p.Part == "GPU idle" {
			for _, of := range p.Of {
				if of.Part == device.IdleUnknown || of.Part == device.IdleWait {
					share += of.Share
				}
			}
		}
	}
	return share
}

// ofPeak says what share of its devices' peak a run reaches, "" where that is not known.
func (b *Builder) ofPeak() string {
	var gpus []device.GPU
	for _, of := range b.gpus() {
		gpus = append(gpus, of...)
	}
	if t, ok := traced.NewTraced(gpus, b.kernels(), b.traceParts()); ok {
		if mfu, device, ok := t.MFU(); ok {
			return fmt.Sprintf(", at %s of %s's peak", units.Percent(mfu), device)
		}
	}
	return ""
}
