package cause

import (
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
			out = append(out, c.gpuShared(device, g.Name, *g.UtilisationByOthersPart))
			break
		}
	}
	return out
}

// gpuShared prices the part of the device's time, in ns over the accounted steps, that other programs took before the run.
func (c *Facts) gpuShared(device float64, name string, part float64) Draft {
	f := draft(Finding{Cause: Machine, Sub: "gpu-shared", Where: nowhere(), Share: c.share(device * part)}, nil)
	f.Title = wording.Say("machine.title-gpu-shared", wording.Share("share", part), wording.Named("gpu", name))
	f.Step = f.by(price.SharedGPU).Times(c.perStep(device * part))
	f.Run = c.overRun(f.Step)
	f.Evidence = []wording.Text{wording.Say("machine.device", wording.Time("t", c.perStep(device)), c.unit())}
	f.Fix.Advice = []wording.Text{wording.Say("machine.fix-gpu-shared")}
	f.Caveat = []wording.Text{wording.Say("machine.caveat-gpu-shared")}
	f.Confidence = Confidence{Level: Low, Why: []wording.Text{wording.Say("machine.basis-gpu-shared")}}
	return f
}
