package launch

import (
	"math"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// recurrentCalls is the number of calls of recurrent layers per step from which a loop around one must be at work: models are not that
// deep.
const recurrentCalls = 16

// recurrentOps are PyTorch's layers that go over a whole sequence in one call.
var recurrentOps = map[string]bool{"aten::lstm": true, "aten::gru": true, "aten::rnn_tanh": true, "aten::rnn_relu": true}

// FindRecurrent names recurrent layers that a loop of the program's own feeds one element of a sequence after the other. Their
// operators are too long to count as tiny, but most of each is preparing what one call for the whole sequence prepares once.
func FindRecurrent(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	calls, time, all := 0.0, 0.0, 0.0
	n := account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		name, d := c.Text(ev.Name[id]), float64(ev.Dur[id])
		if outer {
			all += d
			if strings.HasPrefix(name, "autograd::engine") && strings.Contains(name, "RnnLayerBackward") {
				time += d
			}
		}
		if recurrentOps[name] {
			calls++
		}
		if strings.HasSuffix(name, "_rnn_layer") {
			time += d
		}
	})
	if n == 0 || !c.B.PerStep || calls < recurrentCalls*float64(n) || all <= 0 {
		return nil
	}
	t := c.B.Part(account.PartOps) * min(time/all, 1)
	if c.Share(t) < price.LaunchShare {
		return nil
	}
	chains := facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(_ int, a *account.Attributed) bool {
		inside := c.Passes(c.P.Samples.Stack[a.Index], "/torch/nn/modules/rnn.py", "", false)
		return inside && (a.Part == account.PartOps || a.Part == account.PartPython)
	})
	f := finding.NewDraft(finding.Finding{Cause: finding.Launch, Where: finding.Nowhere(), Share: c.Share(t),
		Confidence: c.Basis(len(c.B.Samples))},
		finding.Parts{account.PartOps: t})
	per := c.PerStep(t)
	f.Step = f.By(price.Recurrent).Times(per)
	f.Fix.Advice = []wording.Text{wording.Say("launch.fix-recurrent")}
	if sp, ok := facts.Hottest(chains, c.Drivers); ok && sp.Samples >= facts.MinSamples {
		f.Where = c.Where(sp)
		elementByElement(c, &f.Finding, sp)
	}
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("launch.title-recurrent", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{
		wording.Say("launch.recurrent", wording.Time("time", per), wording.Count("calls", math.Round(calls/float64(n))), c.Said()),
	}
	f.Caveat = []wording.Text{wording.Say("launch.caveat-generating")}
	return []finding.Draft{f}
}
