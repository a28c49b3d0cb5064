package keyaverages

import (
	"strings"

	"bottleneck/internal/model"
)

// stackFinder gives rows their Python stacks: the "Call stack" that the trace holds, else the Python calls that enclose the
// row. Operators of the backward pass get the stack of the forward operator that they belong to.
type stackFinder struct {
	f        *functions
	written  bool                   // the trace has call stacks of its own
	split    map[model.Str][]string // texts already cut
	forward  map[forwardKey]int32   // the first forward row of a sequence number on a lane
	laneOf   map[int32]int32        // torch's internal thread number -> lane
	backward []int32                // by row: the enclosing backward function, -1
	names    map[model.Str]string   // names of Python calls; "" of those that torch drops
	last     int32                  // row of the Python call that was asked about last, -1 none
	around   []string               // it and those around it, as many as were asked for
}

// MaxStackEntries bounds a stack that is shown whole. Damaged times put all calls of a thread within each other, and the stacks of 11,000
// calls would be 1 GB; Python itself ends at 1,000 calls.
const MaxStackEntries = 500

type forwardKey struct {
	sequence int64
	lane     int32
}

func newStackFinder(f *functions) *stackFinder {
	s := &stackFinder{f: f, split: map[model.Str][]string{}, forward: map[forwardKey]int32{}, laneOf: map[int32]int32{},
		names: map[model.Str]string{}, last: -1}
	s.backward = make([]int32, len(f.rows))
	lanes := map[int64][]int32{} // lanes on which a sequence number occurs
	for i := range f.rows {
		row := &f.rows[i]
		s.backward[i] = -1
		switch {
		case row.flags&(rowDevice|rowMemory) != 0:
			continue
		case s.isBackward(row):
			s.backward[i] = int32(i)
		case row.parent >= 0:
			s.backward[i] = s.backward[row.parent]
		}
		d := f.detail(row)
		if d == nil {
			continue
		}
		s.written = s.written || f.args(row).Stack != 0
		key := forwardKey{d.Sequence, row.thread}
		if _, known := s.forward[key]; !known && s.backward[i] < 0 && row.flags&rowRemoved == 0 {
			s.forward[key] = int32(i)
			lanes[d.Sequence] = append(lanes[d.Sequence], row.thread)
		}
	}
	s.mapThreads(lanes)
	return s
}

const evaluateFunction = "autograd::engine::evaluate_function: "

// isBackward: an operator directly below the engine's record of the same name has torch's scope BACKWARD_FUNCTION.
func (s *stackFinder) isBackward(row *functionRow) bool {
	if row.parent < 0 || row.flags&(rowPython|rowAnnotation) != 0 {
		return false
	}
	outer := s.f.texts.Text(s.f.name(&s.f.rows[row.parent]))
	name, ok := strings.CutPrefix(outer, evaluateFunction)
	return ok && s.f.nameText(s.f.name(row)) == name
}

// mapThreads finds the lane of each internal thread number: the one on which most of its sequence numbers occur.
func (s *stackFinder) mapThreads(lanes map[int64][]int32) {
	votes := map[[2]int32]int{}
	for i := range s.f.rows {
		if s.backward[i] != int32(i) {
			continue
		}
		d := s.f.detail(&s.f.rows[i])
		if d == nil || d.FwdThread == 0 {
			continue
		}
		for _, lane := range lanes[d.Sequence] {
			vote := [2]int32{d.FwdThread, lane}
			votes[vote]++
			best, ok := s.laneOf[d.FwdThread]
			if !ok || votes[vote] > votes[[2]int32{d.FwdThread, best}] {
				s.laneOf[d.FwdThread] = lane
			}
		}
	}
}

// source is the row whose stack row i shows: itself, or the forward operator; -1 for a backward operator without one.
func (s *stackFinder) source(i int32) int32 {
	outer := s.backward[i]
	if outer < 0 {
		return i
	}
	d := s.f.detail(&s.f.rows[outer])
	if d == nil {
		return -1
	}
	lane, ok := s.laneOf[d.FwdThread]
	if !ok {
		return -1
	}
	if at, ok := s.forward[forwardKey{d.Sequence, lane}]; ok {
		return at
	}
	return -1
}

// entries is the stack of a row, innermost first, cut to n entries. One finder is asked with one n.
func (s *stackFinder) entries(i int32, n int) []string {
	if i = s.source(i); i < 0 {
		return nil
	}
	if !s.written {
		return s.enclosing(i, n)
	}
	d := s.f.args(&s.f.rows[i])
	if d.Stack == 0 {
		return nil
	}
	all, ok := s.split[d.Stack]
	if !ok {
		all = splitStack(s.f.texts.Text(d.Stack))
		s.split[d.Stack] = all
	}
	if n < len(all) {
		all = all[:n:n]
	}
	return all
}

// enclosing are the n Python calls around a row. Rows that follow each other inside the same call share one slice.
func (s *stackFinder) enclosing(i int32, n int) []string {
	at := s.call(s.f.rows[i].parent)
	if at < 0 {
		return nil
	}
	if at != s.last {
		s.last, s.around = at, nil
		for ; at >= 0 && len(s.around) < n; at = s.call(s.f.rows[at].parent) {
			s.around = append(s.around, s.names[s.f.name(&s.f.rows[at])])
		}
		s.around = s.around[:len(s.around):len(s.around)]
	}
	return s.around
}

// call is the row itself or the first around it that is a Python call which torch shows; -1 if there is none.
func (s *stackFinder) call(at int32) int32 {
	for ; at >= 0; at = s.f.rows[at].parent {
		row := &s.f.rows[at]
		if row.flags&rowPython == 0 {
			continue
		}
		id := s.f.name(row)
		name, ok := s.names[id]
		if !ok {
			if name = s.f.nameText(id); !keepStackEntry(name) {
				name = ""
			}
			s.names[id] = name
		}
		if name != "" {
			return at
		}
	}
	return -1
}

func splitStack(text string) []string {
	var out []string
	for entry := range strings.SplitSeq(text, ";") {
		if entry != "" && keepStackEntry(entry) {
			out = append(out, entry)
		}
	}
	return out
}

// keepStackEntry drops the entries that torch drops.
func keepStackEntry(entry string) bool {
	for _, drop := range [...][2]string{
		{"autograd/__init__", "_make_grads"}, {"autograd/__init__", "backward"}, {"torch/tensor", "backward"},
		{"_internal/common_utils", "prof_callable"}, {"_internal/common_utils", "prof_func_call"},
		{"_internal/common_utils", "prof_meth_call"},
	} {
		if strings.Contains(entry, drop[0]) && strings.Contains(entry, drop[1]) {
			return false
		}
	}
	return true
}

// stackID numbers distinct stacks from 1; 0 is the empty one.
func (g *grouping) stackID(entries []string) int32 {
	if len(entries) == 0 {
		return 0
	}
	key := strings.Join(entries, "\x00")
	id, ok := g.stacks[key]
	if !ok {
		id = int32(len(g.stacks) + 1)
		g.stacks[key] = id
	}
	return id
}
