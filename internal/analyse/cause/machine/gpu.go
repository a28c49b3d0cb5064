package machine

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/wording"
)

// FindGPUMachine names devices that other programs use as well, before the run and after it. The devices' clock is read before the run
// only, when they rest, and says nothing.
func FindGPUMachine(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	var out []finding.Draft
	if !c.P.TimedOnDevice() {
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
			out = append(out, gpuShared(c, device, g.Name, *g.UtilisationByOthersPart))
			break
		}
	}
	return out
}

// gpuShared prices the part of the device's time, in ns over the accounted steps, that other programs took before the run.
func gpuShared(c *facts.Facts, device float64, name string, part float64) finding.Draft {
	f := finding.NewDraft(finding.Finding{Cause: finding.Machine, Sub: "gpu-shared", Where: finding.Nowhere(),
		Share: c.Share(device * part)}, nil)
	f.Title = wording.Say("machine.title-gpu-shared", wording.Share("share", part), wording.Named("gpu", name))
	f.Step = f.By(price.SharedGPU).Times(c.PerStep(device * part))
	f.Run = c.OverRun(f.Step)
	f.Evidence = []wording.Text{wording.Say("machine.device", wording.Time("t", c.PerStep(device)), c.Said())}
	f.Fix.Advice = []wording.Text{wording.Say("machine.fix-gpu-shared")}
	f.Caveat = []wording.Text{wording.Say("machine.caveat-gpu-shared")}
	f.Confidence = finding.Confidence{Level: finding.Low, Why: []wording.Text{wording.Say("machine.basis-gpu-shared")}}
	return f
}
