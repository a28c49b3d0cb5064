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

// Heap is what is known of the end of the C library's heap, in pages. Whether that goes back in each step, in some or in none hangs on
// which small block lies behind it: that changes from run to run, and with what a traced window leaves.
type Heap struct {
	Seen     float64 // that each step was seen to take again in that stretch of the run, however short, in which it was most
	Free     float64 // at the ends of steps; 0 unknown
	GoesBack bool    // the end was seen to go back

	told        bool    // what is free is known
	least, most float64 // seen in the stretches in which it was least and most
}

// Heap reads what the driving process says of its heap.
func (c *Facts) Heap() (h Heap) {
	free, told := usage.FreeOf(c.P, c.B.Kind)
	h.told, h.Free = told, free/price.PageSize
	h.least, h.most = usage.TakenAgain(c.P, c.B.Kind)
	if h.most >= price.HeapSeen && c.P.Allocator == glibc && c.B.PerStep && !c.OnDevice() && c.Steps >= price.AllocatorSteps {
		h.Seen, h.GoesBack = h.most, !h.mapped(h.most)
	}
	return h
}

// EndTaken says that so many page faults of a step are of the heap's end; false where it is not known what is free.
func (h *Heap) EndTaken(faults float64) bool { return h.told && !h.mapped(faults) }

// mapped says that so many page faults of a step are of blocks with mappings of their own: they are far more than what is free in the heap,
// or more, and the same whatever traced windows have left there. false where it is not known what is free.
func (h *Heap) mapped(faults float64) bool {
	same := h.most > 0 && h.least >= price.HeapSame*h.most
	return h.told && (faults > price.HeapMapped*h.Free || faults > h.Free && same)
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
