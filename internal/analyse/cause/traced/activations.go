package traced

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// FindActivations names activations that backward passes compute again on the devices, since the program keeps none.
func FindActivations(t *Traced, _ finding.Ledger) []finding.Draft {
	var sum device.Recomputed
	most, at := model.Dur(0), code.Where{}
	for i := range t.Parts {
		a := &t.Parts[i].Again
		sum.Kernels += a.Kernels
		sum.Dur += a.Dur
		sum.Alone += a.Alone
		if a.Dur > most {
			most, at = a.Dur, a.Where
		}
	}
	if sum.Kernels == 0 {
		return nil
	}
	f := t.finding(finding.Again, float64(sum.Dur), at, "again.traced-activations")
	f.Sub = "activations"
	row := f.By(price.ActivationsTraced)
	f.Run = row.Times(float64(sum.Dur))
	f.Run.Low = row.Times(float64(sum.Alone)).Low
	f.Evidence = []wording.Text{wording.Say("again.activations-kernels", wording.Count("kernels", sum.Kernels),
		wording.Time("time", float64(sum.Dur)), wording.Time("hidden", float64(sum.Dur-sum.Alone)))}
	f.Fix.Advice = []wording.Text{wording.Say("again.fix-activations")}
	f.Caveat = []wording.Text{wording.Say("again.caveat-activations")}
	return []finding.Draft{f}
}
