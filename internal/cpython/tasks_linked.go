package cpython

import (
	"encoding/binary"

	"bottleneck/internal/proc"
)

// From 3.14 on asyncio keeps its tasks in linked lists, one for each thread and one for threads that have ended, and tells
// its own offsets in a section of the file that holds it (Modules/_asynciomodule.c): of the task its size, name, awaiter,
// two flags, coroutine and list node; of the interpreter its size and the list; of the thread its size, the running loop,
// the running task and the list. All are 64-bit words.
const (
	asyncioSection = ".AsyncioDebug"
	asyncioWords   = 13
	asyncioNode    = 6
	asyncioInterp  = 8
	asyncioThread  = 12
)

// linkedTasks collects the tasks of an interpreter's lists.
func (r *Reader) linkedTasks(interp uint64) ([]uint64, error) {
	if r.in.asyncio == nil {
		return nil, nil
	}
	at, ok := r.in.asyncio()
	if !ok {
		return nil, nil // asyncio was not imported
	}
	var raw [8 * asyncioWords]byte
	if err := r.mem.Read(at, raw[:]); err != nil {
		return nil, err
	}
	var o [asyncioWords]uint64
	for i := range o {
		if o[i] = binary.LittleEndian.Uint64(raw[8*i:]); o[i] > maxStructLen {
			return nil, ErrVersion
		}
	}
	out := r.linked(nil, interp+o[asyncioInterp], o[asyncioNode])
	for _, t := range r.order {
		if word(t.head, r.l.Thread.Interp) == interp {
			out = r.linked(out, t.addr+o[asyncioThread], o[asyncioNode])
		}
	}
	return out, nil
}

// linked follows a circular list from its head; a list that changes meanwhile ends where it cannot be read.
func (r *Reader) linked(out []uint64, head, node uint64) []uint64 {
	next, err := proc.U64(r.mem, head)
	for n := 0; err == nil && next != head && next > node && n < maxTasks; n++ {
		out = append(out, next-node)
		next, err = proc.U64(r.mem, next)
	}
	return out
}
