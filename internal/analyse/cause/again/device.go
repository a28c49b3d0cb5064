package again

import (
	"maps"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/model"
)

// ofDevice moves what a draft claims of samples in operators to the parts that the account has made of these: where a device works, most of
// them are waits for it, and the account has that time under other names. What is no longer computed is neither called nor waited for.
func ofDevice(c *facts.Facts, f *finding.Draft) {
	claimed, pool := 0.0, 0.0
	for _, id := range waitedIn {
		claimed += f.Claim.Parts[id]
		pool += c.B.Part(id)
	}
	if claimed > 0 && pool > c.B.Part(account.PartOps) {
		maps.Copy(f.Claim.Parts, c.InProportion(claimed, waitedIn))
	}
}

// waitedIn are the parts of the account in which samples of operators may stand.
var waitedIn = []account.PartID{account.PartOps, account.PartGPUCompute, account.PartSync}

// calling is what calling a step's operators takes, in ns: the least that a traced step spends outside of calls that wait for a device, as
// the driving thread has all of them to call whatever the device computes. It is 0 where no device's runtime was called.
func calling(c *facts.Facts) (least float64) {
	calls, cost := naming.NewCallClasses(c.S.Strings), 0.0
	if c.B.Ops != nil {
		cost = c.B.Ops.CostPer * c.B.Ops.Events
	}
	for _, st := range account.TracedSteps(c.S, c.B) {
		waits, called := 0.0, false
		st.EachRow(c.B.Thread, func(ev *model.Events, id model.EventID) bool {
			if ev.Kind[id] == model.KindRuntime {
				called = true
				if calls.Of(ev.Name[id]) == naming.CallBlocks {
					waits += float64(ev.Dur[id])
				}
			}
			return true
		})
		if ns := st.Dur() - waits - cost; called && ns > 0 && (least == 0 || ns < least) {
			least = ns
		}
	}
	return least
}

// deviceTimes is what devices compute of a traced step, in ns: all, and of it what a backward pass computes again.
type deviceTimes struct{ all, again float64 }

// computesAgain adds up the kernels of the accounted kind's traced steps. What a backward pass calls without gradients is its own; layers
// that are called again within it record gradients, and so their operators have numbers.
func computesAgain(c *facts.Facts) (out deviceTimes) {
	classes, steps := naming.NewKernelClasses(c.S.Strings), 0
	for _, st := range account.TracedSteps(c.S, c.B) {
		found := false
		st.EachKernel(classes, func(ev *model.Events, id, call model.EventID) {
			found = true
			out.all += float64(ev.Dur[id])
			if callsAgain(c, ev, call) {
				out.again += float64(ev.Dur[id])
			}
		})
		steps += finding.Btoi(found)
	}
	n := float64(max(steps, 1))
	return deviceTimes{out.all / n, out.again / n}
}

// callsAgain says that an operator which records gradients makes a call within a node of a backward pass.
func callsAgain(c *facts.Facts, ev *model.Events, call model.EventID) bool {
	records := false
	for id, n := ev.Parent[call], 0; id >= 0 && int(id) < ev.Len() && n < code.MaxStackDepth; id, n = ev.Parent[id], n+1 {
		if naming.IsBackward(c.Text(ev.Name[id])) {
			return records
		}
		if d := ev.Detail[id]; ev.Kind[id] == model.KindOp && d >= 0 && int(d) < len(ev.OpDetails) && ev.OpDetails[d].Sequence >= 0 &&
			ev.OpDetails[d].FwdThread == 0 {
			records = true
		}
	}
	return false
}
