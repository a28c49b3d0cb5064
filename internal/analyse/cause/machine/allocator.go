package machine

import (
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/usage"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

const (
	tunables = "GLIBC_TUNABLES"
	// keepMappings and keepTop have glibc keep what it has: no block gets a mapping of its own, and the top of the heap stays. One of them
	// alone does harm: each ends the threshold that adapts itself, so that every block above 128 KiB would be mapped.
	keepMappings = "glibc.malloc.mmap_max=0"
	keepTop      = "glibc.malloc.trim_threshold=1000000000000"
	// hugeBlocks has glibc ask for huge pages, for what it maps and for its heap.
	hugeBlocks = "glibc.malloc.hugetlb=1"
	// hugeTensors has PyTorch ask for huge pages, for tensors of 2 MiB and more.
	hugeTensors = "THP_MEM_ALLOC_ENABLE"
	byRequest   = "madvise" // what the kernel says where it gives huge pages to who asks for them
)

// FindAllocator names a C library that gives memory back to the kernel and takes it anew at each step: the kernel clears each page again.
func FindAllocator(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	g, system, ok := c.PagesAgain()
	if !ok || strings.Contains(c.S.Environment.Threads[tunables], keepMappings) {
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Machine, Sub: "allocator", Throughout: true, Where: finding.Nowhere()}, nil)
	saved := f.By(pagesThatStay(&f.Finding, &c.S.Environment)).Times(system)
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
	f.Confidence = finding.Confidence{
		Level: finding.Medium, Why: []wording.Text{wording.Say("machine.basis-allocator", wording.Count("looks", g.Looks))},
	}
	return []finding.Draft{f}
}

// pagesThatStay proposes what ends most of the faults without harm here, and is its price. To keep all memory ends them, and is safe where
// memalign, which PyTorch takes tensors by, reuses what was freed: before glibc 2.39 it often does not (its bug 30723), and a program
// that keeps all can grow by a tensor with each step. Huge pages make the faults fewer, and nothing stays.
func pagesThatStay(f *finding.Finding, e *model.Environment) price.Row {
	set := e.Threads[tunables]
	glibc, known := strings.CutPrefix(e.Libc, "glibc ")
	_, huge := e.Threads[hugeTensors]
	keeping := wording.Say("machine.fix-allocator-jemalloc")
	with := func(settings ...string) finding.Action {
		return finding.SetVariable(tunables, strings.Trim(set+":"+strings.Join(settings, ":"), ":"))
	}
	switch huge = huge || strings.Contains(set, hugeBlocks); {
	case known && facts.AtLeast(glibc, 2, 39):
		f.Fix.Advice = []wording.Text{wording.Say("machine.fix-allocator"), wording.Say("machine.fix-allocator-else")}
		f.Fix.Action = with(keepMappings, keepTop)
		f.Caveat = []wording.Text{wording.Say("machine.caveat-allocator"), wording.Say("machine.caveat-allocator-kept")}
		return price.Allocator
	case e.HugePages == byRequest && !huge && facts.AtLeast(e.Torch, 2, 2):
		f.Fix.Advice = []wording.Text{wording.Say("machine.fix-huge"), keeping}
		f.Fix.Action = finding.SetVariable(hugeTensors, "1")
		return price.HugePages
	case e.HugePages == byRequest && !huge && known && facts.AtLeast(glibc, 2, 35):
		f.Fix.Advice = []wording.Text{wording.Say("machine.fix-huge"), keeping}
		f.Fix.Action = with(hugeBlocks)
		return price.HugePages
	default:
		f.Fix.Advice = []wording.Text{keeping, wording.Say("machine.fix-allocator-else")}
		f.Caveat = []wording.Text{wording.Say("machine.caveat-allocator-kept")}
		return price.Allocator
	}
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
