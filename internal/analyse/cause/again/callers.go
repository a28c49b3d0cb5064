package again

import (
	"slices"
	"strings"

	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
)

// callersOf cuts the chains of accounted samples to what is around the outermost module's call: the line that asks a model.
func callersOf(c *facts.Facts, chains []facts.Chain) []facts.Chain {
	out := slices.Clone(chains)
	for i := range out {
		outside, _ := outsideModules(c, c.B.Samples[out[i].Index].Index)
		out[i].Frames = out[i].Frames[:min(outside, len(out[i].Frames))]
	}
	return out
}

// outsideModules is how many of the user's frames of a sample are around the outermost module's call, all of them where none is called.
func outsideModules(c *facts.Facts, sample int) (frames int, called bool) {
	c.C.Walk(c.P.Samples.Stack[sample], func(fr model.FrameID) bool {
		f := &c.C.Stacks.Frames[fr]
		switch {
		case strings.HasSuffix(c.Text(f.File), model.ModuleFile):
			frames, called = 0, true
		case c.C.File(f.File) == code.FileUser:
			frames++
		}
		return true
	})
	return frames, called
}
