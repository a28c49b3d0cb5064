package finding

import (
	"bottleneck/internal/wording"
	"slices"
)

// OwnPrice is a finding's price before it is put beside the others, and what was noted of it since then.
type OwnPrice struct {
	Step, Run Range
	notes     []string // ids of texts
}

// Unsettle gives a finding its own price back.
func Unsettle(f *Finding) {
	if f.Bare == nil {
		return
	}
	notes := f.Bare.notes
	f.Step, f.Run, f.Bare = f.Bare.Step, f.Bare.Run, nil
	f.Evidence = slices.DeleteFunc(f.Evidence, func(e wording.Text) bool { return slices.Contains(notes, e.ID) })
}

// OnlyPart leaves a part of a finding's saving beside the others, and says why.
func (f *Finding) OnlyPart(part float64, why wording.Text) {
	f.Step, f.Run = f.Step.Scale(part), f.Run.Scale(part)
	if !slices.ContainsFunc(f.Evidence, func(e wording.Text) bool { return e.ID == why.ID }) {
		f.Evidence = append(f.Evidence, why)
		f.Bare.notes = append(f.Bare.notes, why.ID)
	}
}

// CountedElsewhere says that a saving shrank since others have claimed its time.
var CountedElsewhere = wording.Say("counted-elsewhere")

// Price sets a finding's price anew, on its own and not yet beside the others.
func (f *Finding) Price(step, run Range) {
	Unsettle(f)
	f.Step, f.Run = step, run
}

func Btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}
