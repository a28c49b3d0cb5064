package cpython

import (
	"encoding/binary"
	"testing"
)

// condition lays out what glibc's pthread_cond_t holds, as its header has it: versions up to 2.40 have two references between
// the start of the first group and the groups' sizes.
func condition(old bool, waiters, size, signals uint32) []byte {
	b := make([]byte, glibcCondBytes)
	put := binary.LittleEndian.PutUint32
	at := 16
	if old {
		at += 8
	}
	put(b[at:], size)   // __g_size[0]
	put(b[at+4:], size) // __g_size[1]
	put(b[at+8:], 4)    // __g1_orig_size
	put(b[at+12:], waiters<<3|2)
	put(b[at+16:], signals)
	put(b[at+20:], signals)
	return b
}

// TestCountWaiters reads both layouts, also where another word looks like the counter for a while, and believes neither before
// they can be told apart.
func TestCountWaiters(t *testing.T) {
	for _, old := range []bool{true, false} {
		for _, c := range []struct {
			name          string
			waiters       uint32
			size, signals uint32
		}{{"nobody", 0, 0, 0}, {"three", 3, 1, 0}, {"many", 900, 5, 4}} {
			r := &Reader{}
			if n, ok := r.countWaiters(condition(old, c.waiters, c.size, c.signals)); !ok || n != int(c.waiters) {
				t.Errorf("old %v, %s: %d waiters, known %v; want %d", old, c.name, n, ok, c.waiters)
			}
		}
		r := &Reader{}
		if n, ok := r.countWaiters(condition(old, 2, 2, 2)); ok {
			t.Errorf("old %v: %d waiters believed where two words could be the counter", old, n)
		}
		r.countWaiters(condition(old, 2, 0, 0))
		if n, ok := r.countWaiters(condition(old, 2, 2, 2)); !ok || n != 2 {
			t.Errorf("old %v: %d waiters, known %v, once the words were told apart; want 2", old, n, ok)
		}
	}
	r := &Reader{}
	if n, ok := r.countWaiters(make([]byte, glibcCondBytes)); ok {
		t.Errorf("%d waiters of something that is no condition variable", n)
	}
}
