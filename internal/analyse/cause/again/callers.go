package again

import (
	"slices"

	"bottleneck/internal/analyse/cause/facts"
)

// callersOf cuts the chains of accounted samples to what is around the outermost module's call: the line that asks a model.
func callersOf(c *facts.Facts, chains []facts.Chain) []facts.Chain {
	out := slices.Clone(chains)
	for i := range out {
		outside, _ := c.OutsideModules(c.B.Samples[out[i].Index].Index)
		out[i].Frames = out[i].Frames[:min(outside, len(out[i].Frames))]
	}
	return out
}
