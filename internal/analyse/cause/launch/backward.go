package launch

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/code"
)

// claimBackward gives a draft so much time of the backward pass, ns over the windows, of which traced steps alone know whose it is: samples
// of the pass, one in so many, that stand for it, so that no other finding has their calling as well. working are those to choose from.
func claimBackward(c *facts.Facts, working []facts.Chain, f *finding.Draft, time float64) {
	claimPart(c, doing(c, working, code.ActBackward), f, time)
}

// doing are the samples in a backward pass or in an optimizer.
func doing(c *facts.Facts, working []facts.Chain, what code.Activity) (out []facts.Chain) {
	for _, ch := range working {
		if c.C.Info(c.P.Samples.Stack[c.B.Samples[ch.Index].Index]).Acts&what != 0 {
			out = append(out, ch)
		}
	}
	return out
}

// claimPart gives a draft samples of some, one in so many, that stand for so much of their time.
func claimPart(c *facts.Facts, of []facts.Chain, f *finding.Draft, time float64) {
	var claimed []facts.Chain
	share, due := min(time/max(facts.Sum(of), 1), 1), 0.0
	for _, ch := range of {
		if due += share * ch.Weight; due >= ch.Weight/2 {
			claimed = append(claimed, ch)
			due -= ch.Weight
		}
	}
	c.ClaimAll(f, claimed, 1)
	f.Claim.Parts[account.PartOps] += max(time-facts.Sum(claimed), 0)
}
