package machine

import (
	"slices"
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
	// keepLargest is the largest block that glibc's own threshold can come to: it has to be set as keepTop ends that threshold's changes.
	keepLargest = "glibc.malloc.mmap_threshold=33554432"
	// hugeBlocks has glibc ask for huge pages, for what it maps and for its heap.
	hugeBlocks = "glibc.malloc.hugetlb=1"
	// hugeTensors has PyTorch ask for huge pages, for tensors of 2 MiB and more.
	hugeTensors = "THP_MEM_ALLOC_ENABLE"
	byRequest   = "madvise" // what the kernel says where it gives huge pages to who asks for them
)

// keeping are variables that have glibc keep memory, or not, as somebody chose.
var keeping = []string{"MALLOC_TRIM_THRESHOLD_", "MALLOC_TOP_PAD_"}

// FindAllocator names a C library that gives memory back to the kernel and takes it anew at each step: the kernel clears each page again.
func FindAllocator(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	set := c.S.Environment.Threads
	if strings.Contains(set[tunables], keepMappings) || strings.Contains(set[tunables], "trim_threshold") ||
		slices.ContainsFunc(keeping, func(name string) bool { return set[name] != "" }) {
		return nil
	}
	heap := c.Heap()
	g, system, ok := c.PagesAgain()
	if !ok {
		return heapsEnd(c, &heap)
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Machine, Sub: "allocator", Throughout: true, Where: finding.Nowhere()}, nil)
	saved := f.By(pagesThatStay(&f.Finding, &c.S.Environment, heap.EndTaken(g.Process.Faults))).Times(system)
	// How much is given back hangs on what lies on top of the heap, and can change within a run.
	f.Step = finding.Bounds(saved.Low*g.Least/g.Process.Faults, saved.Mid, saved.High*g.Most/g.Process.Faults)
	// What a traced window left can have ended most of it: the program alone has what the steps before had.
	ended := heap.Seen > price.AllocatorDiffers*g.Process.Faults
	if ended {
		alone := f.By(price.Heap).Times(price.FaultUsual * heap.Seen)
		f.Step.Mid, f.Step.High = (f.Step.Mid+alone.Mid)/2, max(f.Step.High, alone.High)
	}
	f.Run = c.OverRun(f.Step)
	windows := float64(len(c.B.Windows))
	f.Share = c.Share(system * windows)
	f.Claim.Parts = finding.Parts{account.PartOps: f.Step.Mid * windows}
	f.Title = wording.Say("machine.title-allocator")
	f.Evidence = []wording.Text{wording.Say("machine.faults", wording.Count("faults", g.Process.Faults), c.Said(),
		wording.Size("bytes", g.Process.Faults*price.PageSize), wording.Time("system", system),
		wording.Count("steps", int(g.Steps)))}
	f.Evidence = append(f.Evidence, unsteady(&g)...)
	if ended {
		f.Evidence = append(f.Evidence, takesAgain(c, heap.Seen), wording.Say("machine.heap-luck"))
	}
	f.Confidence = finding.Confidence{
		Level: finding.Medium, Why: []wording.Text{wording.Say("machine.basis-allocator", wording.Count("looks", g.Looks))},
	}
	return []finding.Draft{f}
}

// pagesThatStay proposes what ends most of the faults without harm here, and is its price. To keep all memory ends them, and is safe where
// memalign, which PyTorch takes tensors by, reuses what was freed: before glibc 2.39 it often does not (its bug 30723), and a program
// that keeps all can grow by a tensor with each step. Huge pages make the faults fewer, and nothing stays.
//
// Where the heap's own end goes back, and no blocks with mappings of their own, keeping that end is safe with every glibc: it lies where it
// would have grown to anyway.
func pagesThatStay(f *finding.Finding, e *model.Environment, end bool) price.Row {
	set := e.Threads[tunables]
	glibc, known := strings.CutPrefix(e.Libc, "glibc ")
	_, huge := e.Threads[hugeTensors]
	elsewhere := wording.Say("machine.fix-allocator-jemalloc")
	with := func(settings ...string) finding.Action {
		return finding.SetVariable(tunables, strings.Trim(set+":"+strings.Join(settings, ":"), ":"))
	}
	switch huge = huge || strings.Contains(set, hugeBlocks); {
	case end:
		keepsEnd(f, e)
		return price.Allocator
	case known && facts.AtLeast(glibc, 2, 39):
		f.Fix.Advice = []wording.Text{wording.Say("machine.fix-allocator"), wording.Say("machine.fix-allocator-else")}
		f.Fix.Action = with(keepMappings, keepTop)
		f.Caveat = []wording.Text{wording.Say("machine.caveat-allocator"), wording.Say("machine.caveat-allocator-kept")}
		return price.Allocator
	case e.HugePages == byRequest && !huge && facts.AtLeast(e.Torch, 2, 2):
		f.Fix.Advice = []wording.Text{wording.Say("machine.fix-huge"), elsewhere}
		f.Fix.Action = finding.SetVariable(hugeTensors, "1")
		return price.HugePages
	case e.HugePages == byRequest && !huge && known && facts.AtLeast(glibc, 2, 35):
		f.Fix.Advice = []wording.Text{wording.Say("machine.fix-huge"), elsewhere}
		f.Fix.Action = with(hugeBlocks)
		return price.HugePages
	default:
		f.Fix.Advice = []wording.Text{elsewhere, wording.Say("machine.fix-allocator-else")}
		f.Caveat = []wording.Text{wording.Say("machine.caveat-allocator-kept")}
		return price.Allocator
	}
}

// keepsEnd proposes that glibc keeps the end of its heap.
func keepsEnd(f *finding.Finding, e *model.Environment) {
	f.Fix.Advice = []wording.Text{wording.Say("machine.fix-allocator"), wording.Say("machine.fix-allocator-else")}
	f.Fix.Action = finding.SetVariable(tunables, strings.Trim(e.Threads[tunables]+":"+keepLargest+":"+keepTop, ":"))
	f.Caveat = []wording.Text{wording.Say("machine.caveat-allocator"), wording.Say("machine.caveat-allocator-kept")}
}

// heapsEnd names a heap whose end the C library gives back now and then, in a program whose steps often lose nothing by it while the tool
// looks: what lies behind that end is a matter of luck, and what a traced window leaves there can keep it.
func heapsEnd(c *facts.Facts, heap *facts.Heap) []finding.Draft {
	glibc, known := strings.CutPrefix(c.S.Environment.Libc, "glibc ")
	if !heap.GoesBack || known && !facts.AtLeast(glibc, 2, 26) { // which reads no such variable
		return nil
	}
	f := finding.NewDraft(finding.Finding{Cause: finding.Machine, Sub: "allocator", Throughout: true, Where: finding.Nowhere()}, nil)
	f.Step = f.By(price.Heap).Times(price.FaultUsual * heap.Seen)
	f.Run = c.OverRun(f.Step)
	if f.Run.Mid < price.HeapWorth*c.Wall {
		return nil // one run sees it and the next one does not: for so little of a run it is not worth a word
	}
	windows := float64(len(c.B.Windows))
	f.Share = c.Share(f.Step.Mid * windows)
	f.Claim.Parts = finding.Parts{account.PartOps: f.Step.Mid * windows}
	f.Title = wording.Say("machine.title-heap")
	f.Evidence = append(f.Evidence, takesAgain(c, heap.Seen))
	if heap.Free > 0 {
		f.Evidence = append(f.Evidence, wording.Say("machine.heap-free", wording.Size("free", heap.Free*price.PageSize)))
	}
	f.Evidence = append(f.Evidence, wording.Say("machine.heap-luck"))
	keepsEnd(&f.Finding, &c.S.Environment)
	f.Caveat = append(f.Caveat, wording.Say("machine.caveat-heap"))
	f.Confidence = finding.Confidence{Level: finding.Medium, Why: []wording.Text{wording.Say("machine.basis-heap")}}
	return []finding.Draft{f}
}

func takesAgain(c *facts.Facts, seen float64) wording.Text {
	return wording.Say("machine.heap-seen", wording.Count("faults", seen), c.Said(), wording.Size("bytes", seen*price.PageSize))
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
