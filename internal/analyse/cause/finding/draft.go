package finding

import (
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// Parts is time by part of the account, in ns over the accounted windows.
type Parts = map[account.PartID]float64

// Claim is what a finding explains, so that no other one explains it as well.
type Claim struct {
	Parts   Parts
	Samples []int // indices of attributed samples that no later rule shall see
	// Small, Optimizer, Elementwise and Slow say of Parts' time in operators what cannot be told from Samples: ns in operators that are
	// small each, ns in the optimizer's, ns in element-wise ones that are not the optimizer's, and ns by which operators are slower than
	// their work.
	Small, Optimizer, Elementwise, Slow float64
}

// Draft is what a rule found: a finding with its own price, and what it claims. The rule books nothing: the engine does.
type Draft struct {
	Finding
	Claim Claim
}

func NewDraft(f Finding, claimed Parts) Draft { return Draft{Finding: f, Claim: Claim{Parts: claimed}} }

// By prices by a row of the price book, and remembers what that rests on.
func (d *Draft) By(r price.Row) price.Row {
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
	// SmallOps, OptimizerOps, ElementwiseOps and SlowOps are what findings have claimed as Claim's Small, Optimizer, Elementwise and Slow.
	SmallOps() float64
	OptimizerOps() float64
	ElementwiseOps() float64
	SlowOps() float64
}

func Cut(s string, n int) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > n {
		return string(r[:n]) + "…"
	}
	return s
}

// Join adds another finding of the same thing, such as the fsync after a torch.save.
func (f *Draft) Join(g Draft) {
	f.Share += g.Share
	f.Step, f.Run = f.Step.Add(g.Step), f.Run.Add(g.Run)
	f.Evidence = append(f.Evidence, wording.Say("io.also", wording.With("what", g.Evidence[0]), wording.Named("at", Place(g.Where))))
	for part, t := range g.Claim.Parts {
		f.Claim.Parts[part] += t
	}
}
