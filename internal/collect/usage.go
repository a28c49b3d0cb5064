package collect

import (
	"time"

	"bottleneck/internal/proc"
)

// What the processes hold and use is read at least so far apart, and seldom enough that it costs 0.08 % of a core at most: with what the
// agent asks inside (held.py), that is 0.2 %. A run has some usageRows of them in each e-fold of its length: a leak of days needs no more
// rows than one of minutes.
const (
	usageEvery = int64(250 * time.Millisecond)
	usageRows  = 400
	usageShare = 1250
)

// allocatorAfter is how long after its start a program has mapped what stands in for the C library's allocator: the loader does that before
// the program begins.
const allocatorAfter = int64(time.Second)

// noteUsage writes what each process of the tree holds and has used, and gives the time for the next look.
func (t *tree) noteUsage(now int64) (next int64) {
	cost := threadCPU()
	for _, p := range t.order {
		if u, err := proc.ReadUsage(p.PID); err == nil {
			t.s.log.usage(now, p.PID, u)
		}
		t.noteAllocator(p, now)
	}
	next = now + max(usageEvery, (now-t.s.start)/usageRows, usageShare*(threadCPU()-cost))
	for _, p := range t.order {
		t.noteOwned(p, now) // so seldom that it need not be in the share
	}
	return next
}

// ownedAfter is how long after a fork what is its own is read for the first time; each next time it is twice as old.
const ownedAfter = int64(500 * time.Millisecond)

// noteOwned writes how much of a fork's memory is its own by now: pages that it shared with its parent are copied when one of them writes,
// which in Python takes no more than to look at an object.
func (t *tree) noteOwned(p *treeProcess, now int64) {
	if !p.forked || p.python == nil || now-p.since < ownedAfter || now < p.owned {
		return
	}
	p.owned = now + (now - p.since)
	if o, err := proc.ReadOwned(p.PID); err == nil {
		t.s.log.owned(now, p.PID, o)
	}
}

// noteAllocator writes once which library serves a Python process's malloc.
func (t *tree) noteAllocator(p *treeProcess, now int64) {
	if p.python == nil || p.served || now-p.since < allocatorAfter {
		return
	}
	p.served = true
	if maps, err := proc.ReadMaps(p.PID); err == nil {
		t.s.log.allocator(now, p.PID, maps.Allocator())
	}
}
