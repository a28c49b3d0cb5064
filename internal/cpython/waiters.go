package cpython

import (
	"path"
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
