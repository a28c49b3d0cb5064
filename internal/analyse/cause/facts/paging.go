package facts

import (
	"cmp"

	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/usage"
	"bottleneck/internal/model"
)

// glibc is the one allocator that gives large blocks back at once.
const glibc = "glibc"

// PagesAgain is what the kernel counted where the C library gives memory back and takes it anew at each step, and the system time in ns
// that this takes of each step on the thread that drives it. ok is false where it does not, or not in most of the steps: what comes or
// goes within a run is a matter of what happens to lie on top of the heap, and the next run of the same program can be without it.
func (c *Facts) PagesAgain() (g usage.Paging, system float64, ok bool) {
	if c.P.Allocator != glibc || !c.B.PerStep {
		return g, 0, false
	}
	g, ok = usage.PagingOf(c.P, c.B.Kind)
	if !ok || g.Steps < price.AllocatorSteps || g.Swing < max(price.AllocatorSwing, g.OtherSwing) || g.Process.Faults <= 0 ||
		g.Lasting < price.AllocatorLasts {
		return g, 0, false
	}
	faults, system := c.driversPages(&g)
	// Pages by which the process grows are not taken again, and system time beyond what faults can take is of something else.
	again := min(max(1-g.Grown/price.PageSize/g.Process.Faults, 0), 1)
	return g, min(system, faults*price.FaultMost) * again, true
}

// HeapsEnd is what is known of the end of the C library's heap where that can go back, in pages: those that each step was seen to take
// again in some stretch of the run, however short, and those that are free at the ends of steps, 0 unknown. Whether the end goes back in
// each step, in some or in none hangs on which small block lies behind it: that changes from run to run, and with what a traced window
// leaves. So a heap counts, too, in which steps have left more free than the library always keeps, though none was seen to take any again.
func (c *Facts) HeapsEnd() (seen, free float64, ok bool) {
	if c.P.Allocator != glibc || !c.B.PerStep || c.OnDevice() || c.Steps < price.AllocatorSteps {
		return 0, 0, false
	}
	free, bySteps, _ := usage.FreeOf(c.P, c.B.Kind)
	if _, seen = usage.TakenAgain(c.P, c.B.Kind); seen >= price.HeapSeen {
		return seen, free / price.PageSize, !c.Mapped(seen)
	}
	return 0, bySteps / price.PageSize, bySteps >= price.HeapBeyond*price.HeapKeeps
}

// Mapped says that so many page faults of a step are of blocks with mappings of their own: they are far more than what is free in the heap,
// or more, and the same whatever traced windows have left there. false where it is not known what is free.
func (c *Facts) Mapped(faults float64) bool {
	free, _, told := usage.FreeOf(c.P, c.B.Kind)
	least, most := usage.TakenAgain(c.P, c.B.Kind)
	bytes := faults * price.PageSize
	return told && (bytes > price.HeapMapped*free || bytes > free && most > 0 && least >= price.HeapSame*most)
}

// FaultsCost is what so many page faults of a process usually take, in ns on the thread that drives the steps: threads that compute with it
// take theirs at the same time.
func (c *Facts) FaultsCost(faults float64) float64 {
	return faults * price.FaultUsual / max(min(TorchThreads(c), cmp.Or(c.Cores, 1)), 1)
}

// driversPages are the page faults and the system time, in ns, of each step on the thread that drives it: threads that compute with it take
// theirs at the same time. Where that thread is not the first one, they are an equal part.
func (c *Facts) driversPages(g *usage.Paging) (faults, system float64) {
	if g.First != nil && c.B.Thread == c.P.MainThread {
		return g.First.Faults, g.First.System
	}
	threads := max(min(TorchThreads(c), cmp.Or(c.Cores, 1)), 1)
	return g.Process.Faults / threads, g.Process.System / threads
}

// NewMemory is the private memory of the process in bytes, before a moment and at its peak after it, and what the kernel takes from then on
// to give more of it, in ns on the thread that drives the steps where it is the first one; of all threads else.
func (c *Facts) NewMemory(from model.Time) (least, most, system float64) {
	for i := range c.P.Usage {
		u := &c.P.Usage[i]
		switch bytes := float64(u.Private()); {
		case u.At <= from:
			least = bytes
		case c.P.End == 0 || u.At <= c.P.End:
			most = max(most, bytes)
		}
	}
	if u, ok := usage.ProcessorOf(c.P, from, c.P.End); ok {
		system = min(u.System, u.Faults*price.FreshFaultMost)
	}
	return least, most, system
}
