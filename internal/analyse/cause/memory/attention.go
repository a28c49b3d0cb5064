package memory

import (
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/attention"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/traced"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// writtenWork is what traced steps say of attention whose operators are written out one by one.
type writtenWork struct {
	time, all float64 // ns of outermost operators: of attention that one call would make faster, and of all
	backward  float64 // of time, in backward passes
	elements  float64 // of time, in element-wise operators
	calls     int     // of it, in forward passes
	dropped   bool    // some matrix has weights left out
	largest   int64   // elements of the largest matrix; 0 unknown
	spans     []times.Interval
}

// FindAttention names attention on the CPU that is written out operator by operator, where the matrix of weights is larger than caches: one
// call computes it in parts that stay there.
func FindAttention(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if c.Share(c.B.Part(account.PartOps)) < finding.Floor || c.UsesDevice() || !facts.AtLeast(c.S.Environment.Torch, 2, 2) {
		return nil
	}
	traces := attentions(c, false)
	if h := headsOf(c, traces); h.enough(c) {
		return nil // what computes them at once is this call
	}
	w := attentionOf(c, traces)
	if w.all <= 0 {
		return nil
	}
	t := c.B.Part(account.PartOps) * min(w.time/w.all, 1)
	if c.Share(t) < price.AttentionShare {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.MemoryBound, Sub: "attention", Where: finding.Nowhere(), Share: c.Share(t),
		Confidence: c.Basis(len(c.B.Samples))},
		finding.Parts{account.PartOps: t})
	f.Claim.Elementwise = t * w.elements / w.time
	library := attentionPlace(c, &f.Finding, w.spans)
	row := price.AttentionTrains
	switch {
	case w.dropped:
		row = price.AttentionDrops
	case w.backward == 0:
		row = price.AttentionInfers
	}
	// Each matrix of weights is given back to the kernel where the C library does so, and its pages are taken anew for the next.
	pages := 0.0
	if _, system, ok := c.PagesAgain(); ok {
		pages = min(system*t/c.B.Part(account.PartOps), c.PerStep(t))
	}
	f.Step = f.By(row).Times(c.PerStep(t) - pages).Add(f.By(price.Allocator).Times(pages))
	f.Step.High = min(f.Step.High, c.PerStep(t))
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("memory.attention", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("memory.attention-matrix", wording.Time("time", c.PerStep(t)), c.Said(),
		wording.Count("calls", w.calls))}
	if w.largest > 0 {
		f.Evidence = append(f.Evidence, wording.Say("memory.attention-largest", wording.Count("elements", w.largest)))
	}
	if pages > 0 {
		f.Evidence = append(f.Evidence, wording.Say("memory.attention-pages", wording.Time("time", pages), c.Said()))
	}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-attention")}
	if library {
		f.Fix.Advice = []wording.Text{wording.Say("memory.fix-attention-weights")}
		f.Fix.Action = leavesOutWeights(f.Where.Source)
	}
	f.Caveat = []wording.Text{wording.Say("memory.caveat-attention")}
	if w.dropped {
		f.Caveat = append(f.Caveat, wording.Say("memory.caveat-attention-dropout"))
	}
	return []finding.Draft{f}
}

// oneTrace are the outermost operators of one trace's steps, in their order, and the attentions among them.
type oneTrace struct {
	ev        *model.Events
	outermost []model.EventID
	finder    *attention.Finder
}

// knows says that shapes were recorded.
func (o *oneTrace) knows() bool {
	return slices.ContainsFunc(o.finder.Found(), func(s attention.Written) bool { return s.Elements > 0 })
}

// attentions looks for them in the traced steps; likely as the finder's.
func attentions(c *facts.Facts, likely bool) (traces []oneTrace) {
	account.EachTracedOp(c.S, c.B, func(ev *model.Events, id model.EventID, outer bool) {
		n := len(traces) - 1
		if n < 0 || traces[n].ev != ev {
			traces, n = append(traces, oneTrace{ev: ev, finder: attention.NewFinder(ev, c.S.Strings)}), n+1
			traces[n].finder.Likely = likely
		}
		if outer {
			traces[n].finder.Add(id)
			traces[n].outermost = append(traces[n].outermost, id)
		}
	})
	return traces
}

// attentionOf counts the operators of the traced steps: those of which shapes were recorded, or of all where none were.
func attentionOf(c *facts.Facts, traces []oneTrace) (w writtenWork) {
	known := slices.ContainsFunc(traces, func(o oneTrace) bool { return o.knows() })
	for i := range traces {
		if o := &traces[i]; !known || o.knows() {
			w.add(o, c.S.Strings)
		}
	}
	return w
}

// add counts the outermost operators of one trace, with the attentions among them.
func (w *writtenWork) add(o *oneTrace, texts *model.Strings) {
	ev, found := o.ev, o.finder.Found()
	passes, next := map[int64]bool{}, 0
	for i := range found {
		if s := &found[i]; large(ev, s) {
			s.AddPasses(ev, passes)
			w.calls++
			w.spans = append(w.spans, times.Interval{Start: ev.Start[s.First], End: ev.End(s.Last)})
			w.largest = max(w.largest, s.Elements)
			w.dropped = w.dropped || s.Dropped
		}
	}
	for _, id := range o.outermost {
		d := float64(ev.Dur[id])
		w.all += d
		for next < len(found) && found[next].Last < id {
			next++
		}
		number, ok := attention.Pass(ev, texts, id)
		switch {
		case ok && passes[number]:
			w.backward += d
		case ok, next == len(found), id < found[next].First, !large(ev, &found[next]), o.finder.Projects(id):
			continue
		}
		w.time += d
		if naming.OpKindOf(texts.Text(ev.Name[id])) == naming.OpElementwise {
			w.elements += d
		}
	}
}

// large says that the one call was measured to be faster for a matrix of this size. Where shapes were not recorded, what its softmax takes
// tells.
func large(ev *model.Events, s *attention.Written) bool {
	if s.Dropped && !s.Masked {
		return false
	}
	return float64(s.Elements) >= price.AttentionElements || s.Elements == 0 && float64(ev.Dur[s.Softmax]) >= price.AttentionSoftmax
}

// attentionPlace is the user's line, or function, in which traced steps compute attention; library says that PyTorch's own module does it.
func attentionPlace(c *facts.Facts, f *finding.Finding, spans []times.Interval) (library bool) {
	var inside []facts.Chain
	own := 0
	c.TracedChains(facts.Merged(spans), func(ch facts.Chain, _ model.Time) {
		inside = append(inside, ch)
		if c.Passes(c.P.Samples.Stack[ch.Index], functionalFile, "multi_head_attention_forward", true) {
			own++
		}
	})
	if sp, ok := facts.Hottest(inside, c.Drivers); ok {
		f.Where = c.Where(sp)
	}
	return 2*own > len(inside)
}

// NeedWeights is the argument by which PyTorch's own module hands out the matrix of weights, and so makes it.
const NeedWeights = "need_weights"

// dropsWeights match a call of which only the first result is used.
var dropsWeights = []*regexp.Regexp{
	regexp.MustCompile(`^\w+, _ = ([\w.]+)\(`), regexp.MustCompile(`\b([\w.]+)\([^()]*\)\[0\]`),
}

// leavesOutWeights sets the argument of the one call in a line, where the line itself says that the weights are not used.
func leavesOutWeights(source string) finding.Action {
	for _, m := range dropsWeights {
		if all := m.FindAllStringSubmatch(source, -1); len(all) == 1 && !strings.Contains(source, NeedWeights) {
			return finding.SetArguments(all[0][1], finding.Argument{Name: NeedWeights, Value: "False"})
		}
	}
	return finding.Action{}
}

// functionalFile ends the path of the file in which PyTorch's own module writes attention out.
const functionalFile = "/torch/nn/functional.py"

// TracedAttention names kernels of attention that is written out operator by operator: all but its matrix products vanish in one call.
func TracedAttention(t *traced.Traced, _ finding.Ledger) []finding.Draft {
	w := tracedAttention(t)
	if w.Dur == 0 {
		return nil
	}
	f := t.KernelFinding(finding.MemoryBound, float64(w.Dur), w.Where, "memory.traced-attention", price.AttentionTraced)
	f.Sub = "attention"
	f.Evidence = []wording.Text{wording.Say("memory.attention-kernels", wording.Time("time", float64(w.Dur)),
		wording.Count("kernels", w.Kernels), wording.Count("written", w.Written))}
	if w.Elements > 0 {
		f.Evidence = append(f.Evidence, wording.Say("memory.attention-largest", wording.Count("elements", w.Elements)))
	}
	f.Fix.Advice = []wording.Text{wording.Say("memory.fix-attention"), wording.Say("memory.fix-attention-weights")}
	f.Caveat = append(f.Caveat, wording.Say("memory.caveat-attention"))
	return []finding.Draft{f}
}

// tracedAttention is the attention of all traces, nothing where it is too little to name.
func tracedAttention(t *traced.Traced) (sum device.Attention) {
	most := model.Dur(0)
	for i := range t.Parts {
		a := &t.Parts[i].Attention
		sum.Written += a.Written
		sum.Kernels += a.Kernels
		sum.Dur += a.Dur
		sum.Elementwise += a.Elementwise
		sum.Elements = max(sum.Elements, a.Elements)
		if a.Dur > most {
			most, sum.Where = a.Dur, a.Where
		}
	}
	if float64(sum.Dur) < finding.Floor*t.Total {
		return device.Attention{}
	}
	return sum
}
