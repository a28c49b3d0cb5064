package machine

import (
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/usage"
	"bottleneck/internal/wording"
)

// The settings with which glibc keeps what it has: no block gets a mapping of its own, and the top of the heap stays. One of them alone
// does harm: each ends the threshold that adapts itself, so that every block above 128 KiB would be mapped.
const (
	tunables     = "GLIBC_TUNABLES"
	keepMappings = "glibc.malloc.mmap_max=0"
	keepTop      = "glibc.malloc.trim_threshold=1000000000000"
)

// FindAllocator names a C library that gives memory back to the kernel and takes it anew at each step: the kernel clears each page again.
func FindAllocator(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	g, system, ok := c.PagesAgain()
	if !ok || strings.Contains(c.S.Environment.Threads[tunables], keepMappings) {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Machine, Sub: "allocator", Where: finding.Nowhere()}, nil)
	saved := f.By(price.Allocator).Times(system)
	// How much is given back hangs on what lies on top of the heap, and can change within a run.
	f.Step = finding.Bounds(saved.Low*g.Least/g.Process.Faults, saved.Mid, saved.High*g.Most/g.Process.Faults)
	f.Run = c.OverRun(f.Step)
	windows := float64(len(c.B.Windows))
	f.Share = c.Share(system * windows)
	f.Claim.Parts = finding.Parts{account.PartOps: f.Step.Mid * windows}
	f.Title = wording.Say("machine.title-allocator")
	f.Evidence = []wording.Text{wording.Say("machine.faults", wording.Count("faults", g.Process.Faults), c.Said(),
		wording.Size("bytes", g.Process.Faults*price.PageSize), wording.Time("system", system),
		wording.Count("steps", int(g.Steps)))}
	f.Evidence = append(f.Evidence, unsteady(&g)...)
	f.Fix.Advice = []wording.Text{wording.Say("machine.fix-allocator"), wording.Say("machine.fix-allocator-else")}
	value := strings.Trim(c.S.Environment.Threads[tunables]+":"+keepMappings+":"+keepTop, ":")
	f.Fix.Action = finding.SetVariable(tunables, value)
	f.Caveat = []wording.Text{wording.Say("machine.caveat-allocator"), wording.Say("machine.caveat-allocator-kept")}
	f.Confidence = finding.Confidence{
		Level: finding.Medium, Why: []wording.Text{wording.Say("machine.basis-allocator", wording.Count("looks", g.Looks))},
	}
	return []finding.Draft{f}
}

// unsteady says where steps that a profiler traced, or parts of the run, take other pages than the rest.
func unsteady(g *usage.Paging) (out []wording.Text) {
	differ := func(a, b float64) bool { return a > b*price.AllocatorDiffers || b > a*price.AllocatorDiffers }
	if g.Traced > 0 && differ(g.Traced, g.Process.Faults) {
		out = append(out, wording.Say("machine.faults-traced", wording.Count("traced", g.Traced), wording.Count("plain", g.Process.Faults)))
	}
	if differ(g.Least, g.Most) {
		out = append(out, wording.Say("machine.faults-uneven", wording.Count("least", g.Least), wording.Count("most", g.Most)))
	}
	return out
}
