package cause

import (
	"maps"

	"bottleneck/internal/analyse"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/stats"
)

// Parts is time by part of the account, in ns over the accounted windows.
type Parts = map[analyse.PartID]float64

// Claim is what a finding explains, so that no other one explains it as well.
type Claim struct {
	Parts   Parts
	Samples []int // indices of attributed samples that no later rule shall see
	// Small and Optimizer say of Parts' time in operators what cannot be told from Samples: ns in operators that are small each, and ns in
	// the optimizer's.
	Small, Optimizer float64
}

// Draft is what a rule found: a finding with its own price, and what it claims. The rule books nothing: the engine does.
type Draft struct {
	Finding
	Claim Claim
}

func draft(f Finding, claimed Parts) Draft { return Draft{Finding: f, Claim: Claim{Parts: claimed}} }

// by prices by a row of the price book, and remembers what that rests on.
func (d *Draft) by(r price.Row) price.Row {
	d.rests = max(d.rests, r.Rests())
	return r
}

// Ledger is what earlier rules found and claimed, as later ones may read it.
type Ledger interface {
	// Found says that a rule before had a finding of a cause.
	Found(cause string) bool
	// Taken says that an attributed sample is another finding's.
	Taken(sample int) bool
	// SampledOps is the time of the taken samples that lie in operators, ns over the windows.
	SampledOps() float64
	// SmallOps and OptimizerOps are what findings have claimed as Claim's Small and Optimizer.
	SmallOps() float64
	OptimizerOps() float64
}

// book is the ledger that the engine keeps. Time is booked apart from the rest, by settle: a trial has none to share out.
type book struct {
	account   *analyse.Breakdown // nil where findings claim no samples
	causes    map[string]bool
	samples   map[int]bool
	small     float64
	optimizer float64
	left      Parts
}

// newBook has all time of an account left; b may be nil.
func newBook(b *analyse.Breakdown) *book {
	l := &book{account: b, causes: map[string]bool{}, samples: map[int]bool{}, left: Parts{}}
	if b != nil {
		for _, p := range b.Parts {
			l.left[p.ID] = p.Time
		}
	}
	return l
}

func (l *book) Found(cause string) bool { return l.causes[cause] }
func (l *book) Taken(sample int) bool   { return l.samples[sample] }
func (l *book) SmallOps() float64       { return l.small }
func (l *book) OptimizerOps() float64   { return l.optimizer }

func (l *book) SampledOps() float64 {
	t := 0.0
	for m := range stats.InOrder(l.samples) {
		if a := &l.account.Samples[m]; a.Part == analyse.PartOps {
			t += a.Weight
		}
	}
	return t
}

// clone is a copy in which a trial of rules can be booked.
func (l *book) clone() *book {
	out := *l
	out.causes, out.samples, out.left = maps.Clone(l.causes), maps.Clone(l.samples), maps.Clone(l.left)
	return &out
}

// note books what a draft claims, except for its time.
func (l *book) note(d *Draft) {
	l.causes[d.Cause] = true
	for _, m := range d.Claim.Samples {
		l.samples[m] = true
	}
	l.small += d.Claim.Small
	l.optimizer += d.Claim.Optimizer
}

// take books the time that a finding claims, as far as others have left it. part is the share of it that is left, 0..1; others says that
// findings before it have the rest: else the account itself has less of this time.
func (l *book) take(claimed Parts) (part float64, others bool) {
	want, got := 0.0, 0.0
	for id, t := range stats.InOrder(claimed) {
		g := min(t, max(l.left[id], 0))
		others = others || g < t && l.left[id] < l.account.Part(id)
		l.left[id] -= g
		want += t
		got += g
	}
	if want <= 0 {
		return 1, false
	}
	return got / want, others
}

// settle books a finding's time; where another finding has claimed part of it already, its saving shrinks in proportion.
func (l *book) settle(f *Finding) {
	if part, others := l.take(f.claim); part < price.Settled {
		f.Step, f.Run, f.Share = f.Step.Scale(part), f.Run.Scale(part), f.Share*part
		if others {
			f.Evidence = append(f.Evidence, countedElsewhere)
		}
	}
}
