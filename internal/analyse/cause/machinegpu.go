package cause

import (
	"fmt"
	"slices"

	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// findGPUMachine names devices that other programs use as well. Their clock is read before and after the run only, when
// they rest, and says nothing.
func findGPUMachine(c *Facts, _ Ledger) []Draft {
	var out []Draft
	if !slices.ContainsFunc(c.P.Steps, func(st model.Step) bool { return st.DeviceDur > 0 }) {
		return nil // the program does not use it
	}
	device := 0.0
	for i := range c.P.Steps {
		if st := &c.P.Steps[i]; st.Kind == c.B.Kind && st.Phase == c.B.Phase {
			device += float64(st.DeviceDur)
		}
	}
	device = min(device, c.B.Total)
	for i := range c.S.Environment.GPUs {
		g := &c.S.Environment.GPUs[i]
		if g.UtilisationByOthersPart != nil && *g.UtilisationByOthersPart >= price.OtherUsers {
			out = append(out, c.gpuFinding("gpu-shared", device, *g.UtilisationByOthersPart, price.SharedGPU,
				fmt.Sprintf("other programs used %s for %s of the time before the run", g.Name, percent(*g.UtilisationByOthersPart)),
				"Run on a device of your own, or when the others are done (nvidia-smi lists them).",
				"Looked at before the run: what the others did meanwhile is not known."))
			break
		}
	}
	return out
}

// gpuFinding prices a part of the device's time, in ns over the accounted steps.
func (c *Facts) gpuFinding(sub string, device, part float64, row price.Row, title, fix, caveat string) Draft {
	f := draft(Finding{Cause: Machine, Sub: sub, Where: nowhere(), Share: c.share(device * part), Title: wording.Raw(title), Caveat: []wording.Text{wording.Raw(caveat)},
		Confidence: Confidence{Low, []wording.Text{wording.Raw("the driver's numbers, not a run on another device")}}}, nil)
	f.Step = f.by(row).Times(c.perStep(device * part))
	f.Run = c.overRun(f.Step)
	f.Fix.Advice = []wording.Text{wording.Raw(fix)}
	f.Evidence = []wording.Text{wording.Raw(fmt.Sprintf("the device works for %s per %s, by its own events", ms(c.perStep(device)), c.Unit()), wording.RawFact(c.perStep(device)/1e6, "ms"))}
	return f
}
