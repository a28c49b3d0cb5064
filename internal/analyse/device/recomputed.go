package device

import (
	"strings"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
	"bottleneck/internal/stats"
)

// Recomputed is device work that a backward pass launched to compute activations again, since none were kept in the forward pass.
type Recomputed struct {
	Kernels int64
	Dur     model.Dur  // during which it runs on its device
	Alone   model.Dur  // of it, without a collective at the same time
	Where   code.Where // the program's call of the layers that keep nothing
}

// frameKind is what an event's name says of computing activations again.
type frameKind uint8

const (
	frameOther    frameKind = iota
	frameKeepsNot           // a call in the forward pass whose activations are not kept
	frameAgain              // a call in the backward pass that computes them
	frameBackward           // an operator's own backward pass
)

// Recomputed needs the Python calls of a trace, or the operator with which PyTorch's reentrant form marks it.
func (work *Work) Recomputed() (out Recomputed) {
	kinds, found := frameKinds(work.texts)
	if !found {
		return out
	}
	ev := &work.trace.Events
	for _, w := range work.list {
		again := stats.Set{}
		for _, id := range w.Rows {
			if ev.Kind[id] == model.KindKernel && ev.Link[id] != model.NoEvent && launchedAgain(ev, kinds, ev.Link[id]) {
				again = again.Push(times.OfEvent(ev, id))
				out.Kernels++
			}
		}
		out.Dur += model.Dur(again.Len())
		out.Alone += model.Dur(again.Len() - again.And(w.Sets().communication).Len())
	}
	for id := model.EventID(0); out.Kernels > 0 && id < model.EventID(ev.Len()); id++ {
		if kinds[ev.Name[id]] == frameKeepsNot && ev.Parent[id] != model.NoEvent {
			if at := work.list[0].lines.Of(ev.Parent[id]); at.Known() {
				out.Where = at
				break
			}
		}
	}
	return out
}

// frameKinds are the kinds of all texts, by their number; found is false where none computes again.
func frameKinds(texts *model.Strings) (kinds []frameKind, found bool) {
	for i := 0; i < texts.Len() && !found; i++ {
		found = frameKindOf(texts.Text(model.Str(i))) == frameAgain
	}
	if !found {
		return nil, false
	}
	kinds = make([]frameKind, texts.Len())
	for i := range kinds {
		kinds[i] = frameKindOf(texts.Text(model.Str(i)))
	}
	return kinds, true
}

// frameKindOf reads the name of an event. In PyTorch's later form a hook of saved tensors calls the layers again, in the reentrant one an
// operator of its own, from which nested backward passes start.
func frameKindOf(name string) frameKind {
	if naming.IsBackward(name) {
		return frameBackward
	}
	if name == "CheckpointFunctionBackward" {
		return frameAgain
	}
	file, function, ok := strings.Cut(name, "): ")
	if !ok || !strings.Contains(file, "heckpoint") {
		return frameOther
	}
	path, _, _ := strings.Cut(file, "(")
	if !code.ComputesAgain("/" + path) {
		return frameOther
	}
	switch function {
	case "checkpoint", "checkpoint_sequential", "forward":
		return frameKeepsNot
	case "unpack_hook", "recompute_fn", "backward":
		return frameAgain
	}
	return frameOther
}

// launchedAgain says that the innermost of an event's callers that is about backward passes computes activations again.
func launchedAgain(ev *model.Events, kinds []frameKind, launch model.EventID) bool {
	for at := ev.Parent[launch]; at != model.NoEvent; at = ev.Parent[at] {
		switch kinds[ev.Name[at]] {
		case frameAgain:
			return true
		case frameBackward, frameKeepsNot:
			return false
		}
	}
	return false
}
