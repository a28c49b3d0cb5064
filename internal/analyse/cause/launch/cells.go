package launch

import (
	"math"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/wording"
)

// recurrentFile is where PyTorch's recurrent layers and their cells are.
const recurrentFile = "/torch/nn/modules/rnn.py"

// FindCells names a loop that calls a cell of a recurrent layer for each element of a sequence. The layer does more than to call less: it
// multiplies all elements with its weights at once, and on a CPU oneDNN goes over the elements of an LSTM.
func FindCells(c *facts.Facts, l finding.Ledger) []finding.Draft {
	calls := cellCalls(c)
	if !c.B.PerStep || calls < recurrentCalls {
		return nil
	}
	var forth, back []facts.Chain
	lstm, first := 0.0, 0.0
	for _, ch := range c.Working(l) {
		id := c.P.Samples.Stack[c.B.Samples[ch.Index].Index]
		switch acts := c.C.Info(id).Acts; {
		case acts&code.ActOptimizer != 0:
			continue
		case acts&code.ActBackward != 0:
			back = append(back, ch)
			continue
		case c.Passes(id, recurrentFile, "Cell.", true):
			forth = append(forth, ch)
			if c.Passes(id, recurrentFile, "LSTMCell.", true) {
				lstm += ch.Weight
			}
		}
		first += ch.Weight
	}
	sp, ok := facts.Hottest(forth, c.Drivers)
	if !ok || sp.Samples < facts.MinSamples {
		return nil
	}
	part := facts.Sum(forth) / first // of the backward pass, which is as long as what was called for it
	t := facts.Sum(forth) + part*facts.Sum(back)
	if c.Share(t) < price.LaunchShare {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Launch, Where: c.Where(sp), Share: c.Share(t),
		Confidence: c.Basis(len(forth))}, finding.Parts{})
	c.ClaimAll(&f, forth, 1)
	for i := range back {
		f.Claim.Parts[c.B.Samples[back[i].Index].Part] += part * back[i].Weight
	}
	row := price.OtherCells
	switch {
	case c.B.Part(account.PartGPUCompute) > 0:
		row = price.Recurrent
	case 2*lstm > facts.Sum(forth):
		row = price.LSTMCells
	}
	f.Step = f.By(row).Times(c.PerStep(t))
	f.Fix.Advice = []wording.Text{wording.Say("launch.fix-cells")}
	elementByElement(c, &f.Finding, sp)
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("launch.title-cells", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{
		wording.Say("launch.cells", wording.Time("time", c.PerStep(t)), wording.Count("calls", math.Round(calls)), c.Said()),
	}
	if len(back) > 0 {
		f.Evidence = append(f.Evidence, wording.Say("launch.backward"))
	}
	f.Caveat = []wording.Text{wording.Say("launch.caveat-generating")}
	return []finding.Draft{f}
}

// elementByElement leaves less to promise, perhaps nothing, of a loop whose next element rests on what the last one gave.
func elementByElement(c *facts.Facts, f *finding.Finding, sp facts.Spot) {
	source := c.S.Sources[c.Text(sp.Frame.File)]
	if source == nil || !pysource.FeedsBack(source.Lines, sp.Frame.Line) {
		return
	}
	f.Step = finding.Bounds(0, f.Step.Low, f.Step.Mid)
	f.Fix.Advice = []wording.Text{wording.Say("launch.fix-sequence")}
}

// cellCalls is how often a traced step calls cells of recurrent layers.
func cellCalls(c *facts.Facts) float64 {
	calls := 0.0
	if c.B.Ops != nil {
		for _, op := range c.B.Ops.Names {
			if slices.Contains(cells, strings.TrimPrefix(c.Text(op.Name), "aten::")) {
				calls += op.Count
			}
		}
	}
	return calls
}

// cells are the operators of PyTorch's recurrent cells.
var cells = []string{"lstm_cell", "gru_cell", "rnn_tanh_cell", "rnn_relu_cell"}
