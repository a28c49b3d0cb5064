package collect

import (
	"bottleneck/internal/cpython"
	"bottleneck/internal/proc"
)

// threadIDs finds native thread ids. From 3.11 on the interpreter notes them, in its own PID namespace; before that
// only the pthread handle is known, which is the address of the C library's record of the thread, and the id stands in
// that record at a place which the main thread's shows.
type threadIDs struct {
	pid    int
	mem    proc.Memory
	inner  map[int]int // from the ids of the target's PID namespace to ours; nil where they are the same
	offset int         // of the id in the C library's record; 0 unknown
	fixed  []int       // the threads of a process that has ended; nil for a running one
}

// maxHandle is how far into the C library's record the id is looked for.
const maxHandle = 2048

func newThreadIDs(pid int, in *cpython.Interpreter, mem proc.Memory) *threadIDs {
	t := &threadIDs{pid: pid, mem: mem}
	if proc.InnerPID(pid) != pid {
		t.refresh()
	}
	return t
}

func (t *threadIDs) refresh() {
	t.inner = map[int]int{}
	tids, err := proc.Threads(t.pid)
	if err != nil {
		return
	}
	for _, tid := range tids {
		t.inner[proc.InnerThread(t.pid, tid)] = tid
	}
}

// native maps a thread to its id as this process sees it; 0 where it cannot be found.
func (t *threadIDs) native(handle uint64, noted int) int {
	if noted <= 0 {
		noted = t.fromHandle(handle)
	}
	if t.inner == nil || noted == 0 {
		return noted
	}
	if _, ok := t.inner[noted]; !ok {
		t.refresh()
	}
	return t.inner[noted]
}

// known are the ids of all threads, in the process's own PID namespace.
func (t *threadIDs) known() map[uint32]bool {
	known := map[uint32]bool{}
	if t.fixed != nil {
		for _, tid := range t.fixed {
			known[uint32(tid)] = true
		}
		return known
	}
	tids, _ := proc.Threads(t.pid)
	for _, tid := range tids {
		known[uint32(proc.InnerThread(t.pid, tid))] = true
	}
	return known
}

func (t *threadIDs) fromHandle(handle uint64) int {
	if t.offset > 0 {
		v, err := proc.U32(t.mem, handle+uint64(t.offset))
		if err != nil {
			return 0
		}
		return int(v)
	}
	record := make([]byte, maxHandle)
	n := len(record)
	for ; n > 0 && t.mem.Read(handle, record[:n]) != nil; n /= 2 {
	}
	known := t.known()
	for at := 64; at+4 <= n; at += 4 { // the first words are pointers of the thread's own
		v := uint32(record[at]) | uint32(record[at+1])<<8 | uint32(record[at+2])<<16 | uint32(record[at+3])<<24
		if known[v] {
			t.offset = at
			return int(v)
		}
	}
	return 0
}
