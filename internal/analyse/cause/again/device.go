package again

import (
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
	parts := [...]account.PartID{account.PartOps, account.PartGPUCompute, account.PartSync}
	claimed, pool := 0.0, 0.0
	for _, id := range parts {
		claimed += f.Claim.Parts[id]
		pool += c.B.Part(id)
	}
	if claimed <= 0 || pool <= c.B.Part(account.PartOps) {
		return
	}
	for _, id := range parts {
		f.Claim.Parts[id] = claimed * c.B.Part(id) / pool
	}
}

// calling is what calling a step's operators takes, in ns: the least that a traced step spends outside of calls that wait for a device, as
// the driving thread has all of them to call whatever the device computes. It is 0 where no device's runtime was called.
func calling(c *facts.Facts) (least float64) {
	calls, cost := naming.NewCallClasses(c.S.Strings), 0.0
	if c.B.Ops != nil {
		cost = c.B.Ops.CostPer * c.B.Ops.Events
	}
	for _, st := range account.TracedSteps(c.S, c.B) {
		waits, called := 0.0, false
		ev := &st.Trace.Events
		for _, l := range st.Trace.Lanes {
			if l.Kind != model.LaneThread || l.Thread != int64(c.B.Thread) || l.FirstEvent < 0 || int(l.EndEvent) > ev.Len() {
				continue
			}
			for id := l.FirstEvent; id < l.EndEvent; id++ {
				if ev.Kind[id] != model.KindRuntime || ev.Start[id] < st.Start || ev.Start[id] >= st.End {
					continue
				}
				called = true
				if calls.Of(ev.Name[id]) == naming.CallBlocks {
					waits += float64(ev.Dur[id])
				}
			}
		}
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
		ev, found := &st.Trace.Events, false
		for i := range ev.Len() {
			id := model.EventID(i)
			call := ev.Link[id]
			if !ev.Kind[id].Device() || call == model.NoEvent || ev.Start[call] < st.Start || ev.Start[call] >= st.End ||
				!classes.Of(ev, id).Compute() {
				continue
			}
			found = true
			out.all += float64(ev.Dur[id])
			if callsAgain(c, ev, call) {
				out.again += float64(ev.Dur[id])
			}
		}
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
