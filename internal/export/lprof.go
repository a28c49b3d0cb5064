package export

import (
	"bufio"
	"cmp"
	"context"
	"encoding/binary"
	"io"
	"slices"

	"bottleneck/internal/model"
)

// writeLprof writes counted lines as the file that kernprof writes and `python -m line_profiler` reads: a pickle of line_profiler's
// LineStats with timings {(file, first line, function): [(line, hits, time), …]} and the unit of time in seconds. Several processes are
// added up by line.
func writeLprof(ctx context.Context, s *model.Session, w io.Writer, _ Options) error {
	functions := MergeLines(s.Calls)
	if len(functions) == 0 {
		return &UnavailableError{"lprof", "record with --lines FUNC"}
	}
	return buffered(w, func(b *bufio.Writer) error { return pickleLines(ctx, b, functions) })
}

// MergeLines adds up the counted lines of several processes: one list for each function, in order of files and lines.
func MergeLines(all []*model.Calls) [][]model.CallLine {
	type key struct {
		file, function string
		first, line    int32
	}
	sums := map[key]*model.CallLine{}
	var lines []*model.CallLine
	for _, c := range all {
		for _, l := range c.Lines {
			at := key{l.File, l.Function, l.First, l.Line}
			if sum := sums[at]; sum != nil {
				sum.Hits += l.Hits
				sum.Time += l.Time
				continue
			}
			sums[at] = &l
			lines = append(lines, &l)
		}
	}
	slices.SortStableFunc(lines, func(a, b *model.CallLine) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.First, b.First), cmp.Compare(a.Function, b.Function),
			cmp.Compare(a.Line, b.Line))
	})
	var out [][]model.CallLine
	for i, l := range lines {
		if before := lines[max(i-1, 0)]; i == 0 || before.File != l.File || before.First != l.First || before.Function != l.Function {
			out = append(out, nil)
		}
		out[len(out)-1] = append(out[len(out)-1], *l)
	}
	return out
}

// Operations of pickles (Python, Lib/pickletools.py).
const (
	pickleProto      = "\x80\x02"
	pickleGlobal     = 'c'
	pickleEmptyTuple = ')'
	pickleNewObject  = '\x81'
	pickleBuild      = 'b'
	pickleEmptyDict  = '}'
	pickleEmptyList  = ']'
	pickleMark       = '('
	pickleSetItems   = 'u'
	pickleAppends    = 'e'
	pickleTuple3     = '\x87'
	pickleText       = 'X'
	pickleInt        = 'J' // four bytes
	pickleLong       = '\x8a'
	pickleFloat      = 'G'
	pickleStop       = '.'
)

// pickleLines writes the object with its two attributes. Protocol 2 is what every Python of line_profiler's reads.
func pickleLines(ctx context.Context, b *bufio.Writer, functions [][]model.CallLine) error {
	p := pickleWriter{b}
	b.WriteString(pickleProto)
	p.op(pickleGlobal)
	b.WriteString("line_profiler.line_profiler\nLineStats\n")
	p.op(pickleEmptyTuple, pickleNewObject, pickleEmptyDict, pickleMark)
	p.text("timings")
	p.op(pickleEmptyDict, pickleMark)
	for _, lines := range functions {
		if err := ctx.Err(); err != nil {
			return err
		}
		p.text(lines[0].File)
		p.int(int64(lines[0].First))
		p.text(lines[0].Function)
		p.op(pickleTuple3, pickleEmptyList, pickleMark)
		for _, l := range lines {
			p.int(int64(l.Line))
			p.int(l.Hits)
			p.int(int64(l.Time))
			p.op(pickleTuple3)
		}
		p.op(pickleAppends)
	}
	p.op(pickleSetItems)
	p.text("unit")
	p.op(pickleFloat)
	b.Write([]byte{0x3e, 0x11, 0x2e, 0x0b, 0xe8, 0x26, 0xd6, 0x95}) // 1e-9
	p.op(pickleSetItems, pickleBuild, pickleStop)
	return nil
}

// pickleWriter writes the few types that a profile needs; the writer keeps the first error.
type pickleWriter struct{ w *bufio.Writer }

func (p pickleWriter) op(codes ...rune) {
	for _, c := range codes {
		p.w.WriteByte(byte(c))
	}
}

func (p pickleWriter) text(s string) {
	p.op(pickleText)
	p.w.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(s))))
	p.w.WriteString(s)
}

// int writes four bytes, or eight where a number needs them.
func (p pickleWriter) int(v int64) {
	if int64(int32(v)) == v {
		p.op(pickleInt)
		p.w.Write(binary.LittleEndian.AppendUint32(nil, uint32(v)))
		return
	}
	p.op(pickleLong, 8)
	p.w.Write(binary.LittleEndian.AppendUint64(nil, uint64(v)))
}
