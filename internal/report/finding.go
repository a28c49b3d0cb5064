package report

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/wording"
)

func (b *Builder) finding(f *finding.Finding) Finding {
	out := Finding{Cause: f.Cause, Sub: f.Sub, Title: f.Title.String(), Share: f.Share, Of: "run", Where: where(f.Where),
		Evidence: []Evidence{}, Fix: fix(&f.Fix), Caveat: wording.Sentences(f.Caveat), Confidence: confidence(f), Stops: f.Stops}
	if !f.OfRun && b.res.ctx != nil {
		out.Of = b.res.ctx.Unit()
	}
	if s := b.saved(f.Step, f.Run, f.OfRun); s != nil {
		out.Saving = &Saving{StepMs: s.StepMs, RunS: s.RunS}
		if f.InOrder != nil {
			out.Saving.InOrderMs, out.Saving.LeftMs = ptr(f.InOrder.Step/1e6), ptr(f.InOrder.After/1e6)
		}
	}
	if out.Fix.Action != nil {
		out.Fix.Action.Saving = b.saved(f.Fix.Action.Step, f.Fix.Action.Run, f.OfRun)
	}
	for _, e := range f.Evidence {
		out.Evidence = append(out.Evidence, evidence(e))
	}
	if f.Because != nil {
		out.Because = ptr(b.finding(f.Because))
	}
	return out
}

// saved is what ns per step and over the run come to, nil where they are nothing.
func (b *Builder) saved(step, run finding.Range, ofRun bool) *Saved {
	if run.High <= 0 {
		return nil
	}
	out := &Saved{RunS: timeRange(run, 1e9)}
	if step.High > 0 && !ofRun && b.res.account.PerStep {
		out.StepMs = timeRange(step, 1e6)
	}
	return out
}

// evidence is a text with the number that it is about, and all of its facts.
func evidence(t wording.Text) Evidence {
	out := Evidence{Text: t.String(), ID: t.ID, Facts: factsOf(t)}
	switch main := t.Main(); {
	case main == nil:
	case main.Unit == wording.Nanoseconds:
		out.Value, out.Unit = ptr(main.Value/1e6), "ms"
	case main.Unit == wording.Bytes:
		out.Value, out.Unit = ptr(main.Value), "bytes"
	default:
		out.Value = ptr(main.Value)
	}
	return out
}

func factsOf(t wording.Text) (out []Fact) {
	for i := range t.Facts {
		switch f := &t.Facts[i]; f.Unit {
		case wording.Name:
			out = append(out, Fact{ID: f.ID, Name: f.Name})
		case wording.Part:
			out = append(out, factsOf(*f.Of)...)
		default:
			out = append(out, Fact{ID: f.ID, Value: ptr(f.Value), Unit: string(f.Unit)})
		}
	}
	return out
}

func fix(f *finding.Fix) Fix {
	a := &f.Action
	out := Fix{Text: wording.Sentences(f.Advice), Change: a.Change(), Was: a.Old}
	for _, text := range f.Advice {
		out.IDs = append(out.IDs, text.ID)
	}
	if a.File != "" {
		out.Where = &Place{CleanPath(a.File), a.Line}
	}
	if a.Kind == finding.Advice {
		return out
	}
	out.Action = &Action{Kind: string(a.Kind), Call: a.Call, Variable: a.Variable, Value: a.Value, Line: a.Code + a.New}
	if a.Kind == finding.InsertLine {
		out.Action.Before, out.Was = a.Old, ""
	}
	for _, g := range a.Arguments {
		out.Action.Arguments = append(out.Action.Arguments, Argument(g))
	}
	return out
}

// confidence is that in a finding's cause and that in its saving.
func confidence(f *finding.Finding) *Confidence {
	out := &Confidence{Level: f.Confidence.Level, Why: wording.Parts(f.Confidence.Why)}
	if s := f.SavingConfidence(); s.Level != "" {
		out.Saving = &Confidence{Level: s.Level, Why: wording.Parts(s.Why)}
	}
	return out
}

func timeRange(r finding.Range, unit float64) *Range {
	return &Range{r.Low / unit, r.Mid / unit, r.High / unit}
}

func where(w finding.Where) Where {
	return Where{File: CleanPath(w.File), Line: w.Line, Function: w.Function, Source: w.Source, Op: w.Op,
		Rank: RankPtr(w.Rank), Process: w.Process}
}
