package facts

import (
	"slices"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// OnDevice says that a device was seen to compute in the accounted steps.
func (c *Facts) OnDevice() bool { return c.B.PerStep && c.B.Device.Computes > 0 }

// UsesDevice says that a trace holds work of a GPU: what operators take on the host is launching it.
func (c *Facts) UsesDevice() bool {
	return slices.ContainsFunc(c.S.Traces, func(t *model.Trace) bool {
		return slices.ContainsFunc(t.Lanes, func(l model.Lane) bool { return l.Kind == model.LaneStream })
	})
}

// HostRoom is how much longer a step lasts, in ns, than its device computes: what launching faster can save at most. A program without a
// device computes itself, and the whole step is its own.
func (c *Facts) HostRoom() float64 { return c.B.Mean() * (1 - c.B.Device.Computes) }

// HostTime is how long the host needs for a step besides waits for what its device computes, in ns: for the operators that it calls, for
// the interpreter around them, and for waits of other kinds. A step that computes less on the device does not become shorter than that.
func (c *Facts) HostTime() float64 {
	calling := c.PerStep(c.B.Part(account.PartOps) + c.B.Part(account.PartGPUCompute))
	return c.B.Mean() - calling + min(c.B.Device.Calls, calling)
}

// Fewer is what the accounted steps save, in ns, and of which parts of the account, where so large a part of the operators' time, 0..1, is
// no longer called, and a device, where the program has one, computes such a part of its work no longer.
func (c *Facts) Fewer(onHost, onDevice float64) (saved float64, of finding.Parts) {
	onHost, onDevice = min(onHost, 1), min(onDevice, 1)
	if !c.OnDevice() {
		saved = c.B.Part(account.PartOps) * onHost
		return saved, finding.Parts{account.PartOps: saved}
	}
	saved = c.FewerOnDevice(onDevice, c.HostTime()*onHost) * float64(c.B.Steps())
	return saved, c.InProportion(saved, []account.PartID{account.PartGPUCompute, account.PartOps})
}

// FewerOnDevice is what a step saves, in ns, whose device computes a share of its work no longer, and whose host needs so much less, in ns.
func (c *Facts) FewerOnDevice(share, onHost float64) float64 {
	mean := c.B.Mean()
	return max(mean-max(c.HostTime()-onHost, mean*c.B.Device.Computes*(1-share)), 0)
}

// DeviceIdles is the share of samples in traced steps, of the chains that keep chooses, at which no device has work, and how many samples
// these are.
func (c *Facts) DeviceIdles(keep func(*Chain) bool) (idle float64, samples int) {
	var steps []times.Interval
	for _, st := range account.TracedSteps(c.S, c.B) {
		steps = append(steps, st.Interval)
	}
	c.TracedChains(times.Disjoint(steps), func(ch Chain, at model.Time) {
		if keep(&ch) {
			samples++
			if !Inside(c.B.Device.Works, at) {
				idle++
			}
		}
	})
	return idle / max(float64(samples), 1), samples
}

// BesideDevice starts a finding about a part of the operators' time, 0..1, in which the device gets no work; per is that time in ns per
// step. ok is false without a device, where that sets the pace, and for less than is worth a word.
func (c *Facts) BesideDevice(cause, sub string, part float64, row price.Row) (f finding.Draft, per float64, ok bool) {
	t := part * c.B.Part(account.PartOps)
	if !c.OnDevice() || c.B.Device.Computes >= account.DeviceBound || c.Share(t) < finding.Floor {
		return f, 0, false
	}
	f = finding.NewDraft(finding.Finding{Cause: cause, Sub: sub, Where: finding.Nowhere(), Share: c.Share(t),
		Confidence: c.Basis(len(c.B.Samples))}, finding.Parts{account.PartOps: t})
	per = c.PerStep(t)
	f.Step = f.By(row).Times(min(per, c.HostRoom()))
	f.Run = c.OverRun(f.Step)
	return f, per, true
}

// FreedAt are the interpreter's samples on the line of a spot: no operator runs, and the line computes nothing else.
func (c *Facts) FreedAt(sp *Spot, l finding.Ledger) []Chain {
	return ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(i int, a *account.Attributed) bool {
		info := c.C.Info(c.P.Samples.Stack[a.Index])
		if a.Part != account.PartPython || l.Taken(i) || !info.UserLeaf {
			return false
		}
		f := &c.C.Stacks.Frames[info.User]
		return f.File == sp.Frame.File && f.Line == sp.Frame.Line
	})
}

// InProportion spreads time, in ns, over parts of the account as these share theirs; nothing where they have none.
func (c *Facts) InProportion(t float64, ids []account.PartID) finding.Parts {
	all, out := 0.0, finding.Parts{}
	for _, id := range ids {
		all += c.B.Part(id)
	}
	for _, id := range ids {
		if all > 0 {
			out[id] = t * c.B.Part(id) / all
		}
	}
	return out
}
