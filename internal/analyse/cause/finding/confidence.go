package finding

import (
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// SavingConfidence says how far a finding's saving can be trusted: by how far apart its bounds are, and at most as far as the prices that
// it was made of. Zero where it has no saving.
func (f *Finding) SavingConfidence() Confidence {
	r := f.Run
	if r.High <= 0 {
		return Confidence{}
	}
	out := Confidence{Level: Low}
	switch {
	case r.Low*price.SureSaving >= r.High:
		out.Level = High
	case r.Low*price.RoughSaving >= r.High:
		out.Level = Medium
	}
	switch {
	case f.Measured:
		out.Why = append(out.Why, wording.Say("price.repeated"))
	case f.Guess, f.rests == price.Guess:
		out.Level = Low
		out.Why = append(out.Why, wording.Say("price.guess"))
	case f.rests == price.Fitted:
		if out.Level == High {
			out.Level = Medium
		}
		out.Why = append(out.Why, wording.Say("price.fitted"))
	}
	if len(out.Why) == 0 && out.Level != High {
		out.Why = append(out.Why, wording.Say("price.wide"))
	}
	return out
}
