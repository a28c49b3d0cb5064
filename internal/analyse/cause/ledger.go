package cause

import (
	"maps"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/stats"
)

// book is the ledger that the engine keeps. Time is booked apart from the rest, by settle: a trial has none to share out.
type book struct {
	account   *account.Breakdown // nil where findings claim no samples
	causes    map[string]bool
	samples   map[int]bool
	small     float64
	optimizer float64
	elements  float64
	slow      float64
	left      finding.Parts
}

// newBook has all time of an account left; b may be nil.
func newBook(b *account.Breakdown) *book {
	l := &book{account: b, causes: map[string]bool{}, samples: map[int]bool{}, left: finding.Parts{}}
	if b != nil {
		for _, p := range b.Parts {
			l.left[p.ID] = p.Time
		}
	}
	return l
}

func (l *book) Found(cause string) bool { return l.causes[cause] }

func (l *book) Taken(sample int) bool { return l.samples[sample] }

func (l *book) SmallOps() float64 { return l.small }

func (l *book) OptimizerOps() float64 { return l.optimizer }

func (l *book) ElementwiseOps() float64 { return l.elements }

func (l *book) SlowOps() float64 { return l.slow }

func (l *book) SampledOps() float64 {
	t := 0.0
	for m := range stats.InOrder(l.samples) {
		if a := &l.account.Samples[m]; a.Part == account.PartOps {
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
func (l *book) note(d *finding.Draft) {
	l.causes[d.Cause] = true
	for _, m := range d.Claim.Samples {
		l.samples[m] = true
	}
	l.small += d.Claim.Small
	l.optimizer += d.Claim.Optimizer
	l.elements += d.Claim.Elementwise
	l.slow += d.Claim.Slow
}

// take books the time that a finding claims, as far as others have left it. part is the share of it that is left, 0..1; others says that
// findings before it have the rest: else the account itself has less of this time.
func (l *book) take(claimed finding.Parts) (part float64, others bool) {
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
func (l *book) settle(f *finding.Finding) {
	if part, others := l.take(f.Booked); part < price.Settled {
		f.Step, f.Run, f.Share = f.Step.Scale(part), f.Run.Scale(part), f.Share*part
		if others {
			f.Evidence = append(f.Evidence, finding.CountedElsewhere)
		}
	}
}
