package ingest

import (
	"errors"
	"fmt"
	"io"
	"math"

	"bottleneck/internal/model"
)

// pstatsMaxBytes bounds a cProfile file; 100,000 functions take about 20 MB.
const pstatsMaxBytes = 256 << 20

// errNotPstats says that data is not a cProfile file, as opposed to a damaged one.
var errNotPstats = errors.New("not a cProfile file")

// IsPstats says whether a file that begins with head (2 bytes or more) looks like one that cProfile, profile or pstats
// wrote: a marshalled dict whose first key is a tuple, or which is empty.
func IsPstats(head []byte) bool {
	if len(head) < 2 || head[0]&^flagRef != '{' {
		return false
	}
	switch head[1] &^ flagRef {
	case ')', '(':
		return true
	case '0':
		return len(head) == 2
	}
	return false
}

// ReadPstats reads a cProfile file: marshal data of a dict {(file, line, name): (primitive calls, calls, own seconds,
// cumulative seconds, {caller: …})}. Format: Lib/cProfile.py and Lib/pstats.py of CPython; versions 2.7 to 3.14.
// What was read before damage is returned together with the error.
func ReadPstats(r io.Reader) (*model.Calls, error) {
	data, err := io.ReadAll(io.LimitReader(r, pstatsMaxBytes+1))
	if err != nil {
		return nil, fmt.Errorf("read cProfile file: %w", err)
	}
	if len(data) > pstatsMaxBytes {
		return nil, fmt.Errorf("read cProfile file: larger than %d MiB", pstatsMaxBytes>>20)
	}
	if !IsPstats(data) {
		return nil, errNotPstats
	}
	p := pstatsReader{
		marshalReader: marshalReader{data: data},
		calls:         &model.Calls{Input: -1, Process: -1},
		index:         map[pstatsKey]int32{},
	}
	err = p.read()
	p.reorder()
	if err != nil {
		return p.calls, fmt.Errorf("read cProfile file: %w", err)
	}
	return p.calls, nil
}

type pstatsKey struct {
	file, name string
	line       int32
}

// pstatsReader turns the marshalled dict into calls, one function at a time.
type pstatsReader struct {
	marshalReader
	calls *model.Calls
	index map[pstatsKey]int32
	order []int32 // functions in the order of their own records
}

// reorder puts the functions into the order of the file's dict, which decides among equals when rows are sorted;
// callers without a record of their own come last.
func (p *pstatsReader) reorder() {
	place := make([]int32, len(p.calls.Functions))
	sorted := make([]model.CallFunction, 0, len(p.calls.Functions))
	put := func(id int32) {
		if place[id] == 0 {
			sorted = append(sorted, p.calls.Functions[id])
			place[id] = int32(len(sorted))
		}
	}
	for _, id := range p.order {
		put(id)
	}
	for id := range p.calls.Functions {
		put(int32(id))
	}
	for i := range sorted {
		for k := range sorted[i].Callers {
			sorted[i].Callers[k].Caller = place[sorted[i].Callers[k].Caller] - 1
		}
	}
	p.calls.Functions = sorted
}

func (p *pstatsReader) read() error {
	if b := p.data[0]; b&flagRef != 0 {
		p.refs = append(p.refs, marshalValue{}) // the dict itself
	}
	p.pos = 1
	for {
		p.objects = 0
		key, err := p.value(1)
		if err != nil || key.kind == kindEnd {
			return err
		}
		entry, err := p.value(1)
		if err != nil {
			return err
		}
		if err := p.function(key, entry); err != nil {
			return p.fail("%w", err)
		}
	}
}

func (p *pstatsReader) function(key, entry marshalValue) error {
	id, err := p.id(key)
	if err != nil {
		return err
	}
	if entry.kind != kindTuple || len(entry.items) != 5 {
		return fmt.Errorf("the record of a function has %d parts instead of 5", len(entry.items))
	}
	f := &p.calls.Functions[id]
	it := entry.items
	f.Primitive, f.Calls, f.Own, f.Cumulative = it[0].i, it[1].i, it[2].duration(), it[3].duration()
	pairs := it[4].items
	if it[4].kind != kindDict {
		return errors.New("the callers of a function are not a dict")
	}
	edges := make([]model.CallEdge, 0, len(pairs)/2)
	for k := 0; k+1 < len(pairs); k += 2 {
		caller, err := p.id(pairs[k])
		if err != nil {
			return err
		}
		edge, err := pairs[k+1].edge()
		if err != nil {
			return err
		}
		edge.Caller = caller
		edges = append(edges, edge)
	}
	p.order = append(p.order, id)
	p.calls.Functions[id].Callers = edges // not through f: id may have grown the slice
	return nil
}

// id gives the index of a function, adding it when it is new: callers may come before their own record.
func (p *pstatsReader) id(key marshalValue) (int32, error) {
	it := key.items
	if key.kind != kindTuple || len(it) != 3 || it[0].kind != kindText || it[1].kind != kindInt || it[2].kind != kindText {
		return 0, errors.New("a function is not named by file, line and name")
	}
	line := int32(max(math.MinInt32, min(it[1].i, math.MaxInt32)))
	k := pstatsKey{file: it[0].s, name: it[2].s, line: line}
	if id, ok := p.index[k]; ok {
		return id, nil
	}
	id := int32(len(p.calls.Functions))
	p.index[k] = id
	p.calls.Functions = append(p.calls.Functions, model.CallFunction{File: k.file, Name: k.name, Line: line})
	return id, nil
}

// edge reads what a caller contributed: (calls, primitive calls, own, cumulative), in that order, of cProfile; a bare
// count of the module profile.
func (v marshalValue) edge() (model.CallEdge, error) {
	if v.kind == kindInt {
		return model.CallEdge{Calls: v.i, Primitive: v.i}, nil
	}
	if v.kind != kindTuple || len(v.items) != 4 {
		return model.CallEdge{}, errors.New("a caller's record has neither a count nor 4 parts")
	}
	it := v.items
	return model.CallEdge{Calls: it[0].i, Primitive: it[1].i, Own: it[2].duration(), Cumulative: it[3].duration()}, nil
}

// duration converts seconds; what is no number or out of range becomes 0.
func (v marshalValue) duration() model.Dur {
	seconds := v.f
	if v.kind == kindInt {
		seconds = float64(v.i)
	}
	ns := math.Round(seconds * 1e9)
	if math.IsNaN(ns) || math.Abs(ns) > 1e18 {
		return 0
	}
	return model.Dur(ns)
}
