package code

import (
	"strings"

	"bottleneck/internal/model"
)

// closure follows a stack, innermost frame first, and tells what an optimizer calls back: a trainer runs the whole step in the closure that
// it hands to the optimizer.
type closure struct {
	c     *FrameClasses
	inner model.FrameID // the last frame so far that is not PyTorch's nor the standard library's; -1 before there is one
	back  bool
}

// from says that the code at the innermost frame was called back by the optimizer of whose files the frame at hand is: what it called
// is somebody else's, and no step of an optimizer of the user's own, which PyTorch's wrapper calls.
func (k *closure) from(fr model.FrameID) bool {
	if k.back || k.inner < 0 {
		return k.back
	}
	f, inner := k.c.Stacks.Frames[fr], k.c.Stacks.Frames[k.inner]
	name := k.c.Strings.Text(inner.Function)
	wrapper := strings.HasSuffix(k.c.Strings.Text(f.File), "/torch/optim/optimizer.py")
	method := strings.HasSuffix(name, ".step") && !strings.HasSuffix(name, "<locals>.step")
	k.back = !(method || wrapper && strings.HasSuffix(name, "step"))
	return k.back
}
