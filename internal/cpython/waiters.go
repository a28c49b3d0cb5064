package cpython

import (
	"path"
	"runtime"
	"strings"

	"bottleneck/internal/proc"
)

// Places in musl's pthread_cond_t and in its list of waiters (src/internal/pthread_impl.h, src/thread/pthread_cond_timedwait.c),
// for words of 64 bits.
const (
	muslCondHead    = 8  // the last that came
	muslNodeNext    = 8  // who came before it
	muslNodeBarrier = 20 // what it sleeps on
	maxWaiters      = 1024
)

// gilBytes bounds struct _gil_runtime_state, whose locks are largest on arm64.
const gilBytes = 224

// WaitsForGIL says whether a thread that sleeps on the futex at this address waits for the lock of a sample's GIL. glibc's
// threads sleep on a word in the lock itself; musl's each on one of their own stack, which the lock's list leads to.
func (r *Reader) WaitsForGIL(gil, futex uint64) bool {
	if gil == 0 {
		return false
	}
	if futex-gil < gilBytes {
		return true
	}
	if !r.in.musl {
		return false
	}
	cond := gil + uint64(r.l.GIL.Size) // it follows what is read of the lock
	node, err := proc.U64(r.mem, cond+muslCondHead)
	for i := 0; err == nil && node != 0 && i < maxWaiters; i++ {
		if node+muslNodeBarrier == futex {
			return true
		}
		node, err = proc.U64(r.mem, node+muslNodeNext)
	}
	return false
}

// Places of the word that counts waiters in glibc's pthread_cond_t (sysdeps/nptl/bits/thread-shared-types.h): up to 2.40, and
// from 2.41 on, where the groups' references are gone. Above three bits of flags it counts the threads that have called
// pthread_cond_wait and have not returned from it: also those that were woken and have not run yet.
var glibcCondWaiters = [...]int{36, 28}

const (
	glibcCondBytes     = 48
	glibcCondFlags     = 7
	glibcCondMonotonic = 2 // the flags of CPython's, which wait by the monotonic clock
	glibcCondShift     = 3
)

// mutexBytes is the size of glibc's pthread_mutex_t, which lies between a lock's two condition variables.
func mutexBytes() int {
	if runtime.GOARCH == "arm64" {
		return 48
	}
	return 40
}

// GILWaiters is the number of threads that wait for the lock of a sample's GIL, or, having given it away when asked to, until
// another has it: those that sleep, and those that were woken and have not run since, which the kernel calls running. ok is
// false where the C library does not tell.
func (r *Reader) GILWaiters(gil uint64) (n int, ok bool) {
	if gil == 0 || r.in.musl || r.noWaiters {
		return 0, false
	}
	second := glibcCondBytes + mutexBytes()
	buf := make([]byte, second+glibcCondBytes)
	if r.mem.Read(gil+uint64(r.l.GIL.Size), buf) != nil { // they follow what is read of the lock
		return 0, false
	}
	n, ok = r.countWaiters(buf)
	more, both := r.countWaiters(buf[second:])
	return n + more, ok && both
}

// CountsAsWaiter says whether GILWaiters counts a thread that sleeps on the futex at this address: not one that sleeps in the
// lock's mutexes.
func (r *Reader) CountsAsWaiter(gil, futex uint64) bool {
	at := futex - (gil + uint64(r.l.GIL.Size))
	return gil != 0 && (at < glibcCondBytes || at-uint64(glibcCondBytes+mutexBytes()) < glibcCondBytes)
}

// countWaiters reads the word in a condition variable. A place that ever holds other flags is not that word; while both could
// be, neither is believed.
func (r *Reader) countWaiters(cond []byte) (n int, ok bool) {
	left := 0
	for i, at := range glibcCondWaiters {
		w := word32(cond, at)
		if r.notWaiters[i] = r.notWaiters[i] || w&glibcCondFlags != glibcCondMonotonic || w>>glibcCondShift > maxThreads; !r.notWaiters[i] {
			n = int(w >> glibcCondShift)
			left++
		}
	}
	r.noWaiters = left == 0
	return n, left == 1
}

// usesMusl says whether a program runs with musl's C library, by the name that its file has in memory: glibc's is
// libc.so.6 or libc-2.31.so.
func usesMusl(maps proc.Maps) bool {
	for i := range maps {
		if base := path.Base(maps[i].Path); base == "libc.so" || strings.HasPrefix(base, "ld-musl-") {
			return true
		}
	}
	return false
}
