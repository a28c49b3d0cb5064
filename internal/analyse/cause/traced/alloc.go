package traced

import (
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/wording"
)

// FindAlloc names devices that stand still because memory is asked of the driver or given back, each of which waits for the
// device. PyTorch's own cache does so only while it grows, after an empty_cache(), or when it is fragmented.
func FindAlloc(t *Traced, _ finding.Ledger) []finding.Draft {
	time, at, gaps := t.idle(device.IdleAlloc)
	f := t.idleFinding(finding.Alloc, time, at, gaps, "alloc.driver")
	f.Run = f.By(price.TracedAlloc).Times(time)
	f.Fix.Advice = []wording.Text{wording.Say("alloc.fix-keep")}
	f.Fix.Action = finding.SetVariable("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
	longest := wording.Say("alloc.longest-outside")
	if at.Op != "" {
		longest = wording.Say("alloc.longest-in", wording.Named("op", at.Op))
	}
	f.Evidence = append(f.Evidence, longest)
	f.Caveat = []wording.Text{wording.Say("alloc.caveat-growth")}
	return []finding.Draft{f}
}

// FindAllocations names steps that take memory from the driver and give it back, again and again.
func FindAllocations(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	t := c.B.Device.Allocating * c.B.Part(account.PartOps)
	if !c.OnDevice() || c.Share(t) < finding.Floor {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Alloc, Where: finding.Nowhere(), Share: c.Share(t),
		Confidence: c.Basis(len(c.B.Samples))}, finding.Parts{account.PartOps: t})
	// The call is short beside what it makes the next step do: its line is told by its text.
	at, empties := c.OnlyLine(func(text string) bool { return strings.Contains(text, "empty_cache(") })
	if empties {
		f.Where = at.Where()
	}
	per := c.PerStep(t)
	f.Step = f.By(price.TracedAlloc).Times(per).AtMost(c.HostRoom())
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("alloc.steps", wording.Share("share", f.Share), c.Said())
	f.Evidence = []wording.Text{wording.Say("alloc.time", wording.Time("time", per), c.Said())}
	f.Fix.Advice = []wording.Text{wording.Say("alloc.fix-keep")}
	if !empties {
		f.Fix.Action = finding.SetVariable("PYTORCH_CUDA_ALLOC_CONF", "expandable_segments:True")
	}
	return []finding.Draft{f}
}
