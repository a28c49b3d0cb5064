package export

import (
	"bufio"
	"context"
	"encoding/binary"
	"io"
	"math"
	"slices"

	"bottleneck/internal/model"
)

// writePstats writes the exact calls of a session as the dict that pstats.Stats loads, in CPython's marshal format.
// Without recorded calls they are taken from the Python rows of the traces. Several processes are added up by function.
func writePstats(ctx context.Context, s *model.Session, w io.Writer, opt Options) error {
	all := slices.DeleteFunc(slices.Clone(s.Calls), func(c *model.Calls) bool { return len(c.Functions) == 0 })
	if len(all) == 0 {
		for _, t := range tracesOf(s, opt) {
			if c := callsOfTrace(t, s.Strings); c != nil {
				all = append(all, c)
			}
		}
	}
	if len(all) == 0 {
		return &UnavailableError{"pstats", "record with --calls, or a trace with --with-stack"}
	}
	c := all[0]
	if len(all) > 1 {
		c = MergeCalls(all)
	}
	return buffered(w, func(b *bufio.Writer) error { return marshalCalls(ctx, b, c) })
}

type functionKey struct {
	file, name string
	line       int32
}

// MergeCalls adds up several profiles by function.
func MergeCalls(all []*model.Calls) *model.Calls {
	sum := &model.Calls{Input: -1, Process: -1}
	index, edges := map[functionKey]int32{}, edgeIndex{}
	for _, c := range all {
		ids := make([]int32, len(c.Functions))
		for i, f := range c.Functions {
			key := functionKey{f.File, f.Name, f.Line}
			id, ok := index[key]
			if !ok {
				id = int32(len(sum.Functions))
				index[key] = id
				sum.Functions = append(sum.Functions, model.CallFunction{File: f.File, Name: f.Name, Line: f.Line})
			}
			ids[i] = id
		}
		for i, f := range c.Functions {
			to := &sum.Functions[ids[i]]
			to.Primitive += f.Primitive
			to.Calls += f.Calls
			to.Own += f.Own
			to.Cumulative += f.Cumulative
			for _, e := range f.Callers {
				old := edges.edge(to, ids[i], ids[e.Caller])
				old.Primitive += e.Primitive
				old.Calls += e.Calls
				old.Own += e.Own
				old.Cumulative += e.Cumulative
			}
		}
	}
	return sum
}

// edgeIndex finds the edge (callee, caller) among the callee's callers.
type edgeIndex map[[2]int32]int32

// edge gives the callers' row of callee that stands for caller, adding it when it is new.
func (x edgeIndex) edge(f *model.CallFunction, callee, caller int32) *model.CallEdge {
	i, ok := x[[2]int32{callee, caller}]
	if !ok {
		i = int32(len(f.Callers))
		x[[2]int32{callee, caller}] = i
		f.Callers = append(f.Callers, model.CallEdge{Caller: caller})
	}
	return &f.Callers[i]
}

// marshalCalls writes {(file, line, name): (primitive, calls, own, cumulative, {caller: (calls, primitive, own,
// cumulative)})}. It uses no references, which every version of marshal accepts.
func marshalCalls(ctx context.Context, w *bufio.Writer, c *model.Calls) error {
	m := marshalWriter{w: w}
	m.byte('{')
	for i := range c.Functions {
		if i%4096 == 0 && ctx.Err() != nil {
			return ctx.Err()
		}
		f := &c.Functions[i]
		m.function(f)
		m.tuple(5)
		m.int(f.Primitive)
		m.int(f.Calls)
		m.seconds(f.Own)
		m.seconds(f.Cumulative)
		m.byte('{')
		for _, e := range f.Callers {
			m.function(&c.Functions[e.Caller])
			m.tuple(4)
			m.int(e.Calls)
			m.int(e.Primitive)
			m.seconds(e.Own)
			m.seconds(e.Cumulative)
		}
		m.byte('0')
	}
	m.byte('0')
	return nil
}

// marshalWriter encodes the few types that a profile needs (CPython, Python/marshal.c). The writer keeps the first error.
type marshalWriter struct {
	w   *bufio.Writer
	buf [8]byte
}

func (m *marshalWriter) byte(b byte) { m.w.WriteByte(b) }

func (m *marshalWriter) uint32(v uint32) {
	binary.LittleEndian.PutUint32(m.buf[:], v)
	m.w.Write(m.buf[:4])
}

func (m *marshalWriter) tuple(n byte) {
	m.byte(')')
	m.byte(n)
}

func (m *marshalWriter) text(s string) {
	m.byte('u')
	m.uint32(uint32(len(s)))
	m.w.WriteString(s)
}

// int writes 32 bits, or digits of 15 bits for larger numbers.
func (m *marshalWriter) int(v int64) {
	if v >= math.MinInt32 && v <= math.MaxInt32 {
		m.byte('i')
		m.uint32(uint32(int32(v)))
		return
	}
	rest, sign := uint64(v), int32(1)
	if v < 0 {
		rest, sign = uint64(-v), -1
	}
	var digits []uint16
	for ; rest > 0; rest >>= 15 {
		digits = append(digits, uint16(rest&0x7fff))
	}
	m.byte('l')
	m.uint32(uint32(sign * int32(len(digits))))
	for _, d := range digits {
		m.byte(byte(d))
		m.byte(byte(d >> 8))
	}
}

func (m *marshalWriter) seconds(d model.Dur) {
	m.byte('g')
	binary.LittleEndian.PutUint64(m.buf[:], math.Float64bits(float64(d)/1e9))
	m.w.Write(m.buf[:8])
}

func (m *marshalWriter) function(f *model.CallFunction) {
	m.tuple(3)
	m.text(f.File)
	m.int(int64(f.Line))
	m.text(f.Name)
}
