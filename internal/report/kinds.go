package report

import (
	"fmt"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
	"bottleneck/internal/units"
)

// KindAccount says where the steps of another kind than the accounted one go. Its parts sum to TotalMs.
type KindAccount struct {
	Kind    string  `json:"kind"`
	TotalMs float64 `json:"total_ms"` // the median step, the mean one where steps are uneven
	Basis   string  `json:"basis"`
	Steps   int     `json:"steps"`
	Samples int     `json:"samples"`
	Parts   []Part  `json:"parts"`
}

const (
	kindShare   = 0.05 // of all steps' time, from which a kind has a table of its own
	kindSamples = 20   // fewer say nothing about parts
)

// otherKinds says which kind of step the account is of where there are several, how much of the steps' time the others have, and where
// that goes.
func (b *Builder) otherKinds(acc *Account, a *account.Breakdown) {
	kinds := account.KindsOfSteps(a.Process)
	if len(kinds) < 2 {
		return
	}
	all := 0.0
	for _, k := range kinds {
		all += k.Time
	}
	acc.Kind = b.S.Strings.Text(a.Kind)
	for _, k := range kinds {
		name := b.S.Strings.Text(k.Kind)
		if name == model.KindForward {
			acc.Notes = append(acc.Notes,
				"a forward step is a stretch before an update in which the model is only called, such as a rollout or a validation")
		}
		if k.Kind == a.Kind || all <= 0 {
			continue
		}
		acc.Notes = append(acc.Notes, fmt.Sprintf("not in this table: %s, %s of all steps' time",
			units.Counted(k.Steps, name+" step"), units.Percent(k.Time/all)))
		if k.Time >= kindShare*all {
			b.kindAccount(name, account.KindBreakdown(b.S, a.Process, k.Kind))
		}
	}
}

// kindAccount adds the account of one kind's steps.
func (b *Builder) kindAccount(name string, a *account.Breakdown) {
	if !a.PerStep || a.Total <= 0 || len(a.Samples) < kindSamples {
		return
	}
	k := KindAccount{Kind: name, TotalMs: a.Median / 1e6, Steps: a.Steps(), Samples: len(a.Samples), Basis: basisOf(a)}
	if mean := a.Mean() / 1e6; mean > unevenSteps*k.TotalMs {
		k.TotalMs = mean
		k.Basis = "the mean of " + k.Basis
	}
	k.Parts = partsOf(a, k.TotalMs)
	b.R.Kinds = append(b.R.Kinds, k)
}

// basisOf says what the account of steps rests on.
func basisOf(a *account.Breakdown) string {
	return fmt.Sprintf("%s, %s", units.Counted(a.Steps(), a.Phase.String()+" step"), units.Counted(len(a.Samples), "sample"))
}

// partsOf are an account's shares of a step that takes totalMs.
func partsOf(a *account.Breakdown, totalMs float64) []Part {
	out := []Part{}
	for _, part := range a.Parts {
		if part.Time <= 0 && part.ID != account.PartUnknown {
			continue
		}
		share := part.Time / a.Total
		row := Part{Part: part.ID.String(), Share: share, Ms: share * totalMs, Basis: string(part.Basis)}
		for _, k := range part.Kinds {
			s := k.Time / a.Total
			row.Of = append(row.Of, Part{Part: string(k.Kind), Share: s, Ms: s * totalMs})
		}
		out = append(out, row)
	}
	return out
}
