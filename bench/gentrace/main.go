// Command gentrace makes large traces and large jobs out of a real trace: its events are repeated with shifted times,
// fresh ids and addresses and one per cent of new names; or copied for many ranks whose durations vary.
//
//	gentrace -size 4000 trace.json.gz > big.json        4,000 MB of one rank
//	gentrace -ranks 1000 -out DIR trace.json.gz          a folder of 1,000 ranks
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/klauspost/compress/gzip"
)

// slotKind is a value that is rewritten.
type slotKind uint8

const (
	none slotKind = iota
	timeStamp
	duration
	identity // ids and addresses: shifted by a stride per round
	name
)

// slotOf maps the text before a value to what the value is.
var slotOf = map[string]slotKind{
	`"ts": `: timeStamp, `"dur": `: duration, `"correlation": `: identity, `"External id": `: identity, `"Ev Idx": `: identity,
	`"id": `: identity, `"Addr": `: identity, `"Python id": `: identity, `"Python parent id": `: identity, `"name": "`: name,
}

// piece is literal text and the value behind it.
type piece struct {
	text  string
	kind  slotKind
	value int64 // nanoseconds for times
	whole bool  // a time without a fraction
}

type template struct {
	head, tail string
	pieces     []piece
	span       int64 // from the first to the last time stamp
	ids        int64 // more than the largest id
}

func main() {
	size := flag.Int64("size", 0, "write one trace of this many megabytes to standard output")
	ranks := flag.Int("ranks", 0, "write this many ranks to -out")
	out := flag.String("out", "", "folder for -ranks")
	flag.Parse()
	if err := run(*size<<20, *ranks, *out, flag.Arg(0)); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(size int64, ranks int, out, path string) error {
	t, err := load(path)
	if err != nil {
		return err
	}
	if ranks == 0 {
		return t.write(os.Stdout, size)
	}
	for rank := range ranks {
		if err := t.writeRank(filepath.Join(out, fmt.Sprintf("rank_%d.json.gz", rank)), rank, ranks); err != nil {
			return err
		}
	}
	return nil
}

func load(path string) (*template, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", path, err)
	}
	raw, err := io.ReadAll(z)
	if err != nil {
		return nil, fmt.Errorf("unpacking %s: %w", path, err)
	}
	text := string(raw)
	from := strings.Index(text, `"traceEvents": [`)
	to := strings.LastIndex(text, "]")
	if from < 0 || to < from {
		return nil, fmt.Errorf("%s has no traceEvents", path)
	}
	from += len(`"traceEvents": [`)
	t := &template{head: text[:from], tail: text[to:]}
	t.cut(strings.TrimRight(text[from:to], " \n\t,"))
	return t, nil
}

// cut finds the values to be rewritten.
func (t *template) cut(text string) {
	var first, last int64
	literal := 0
	for p := 0; p < len(text); p++ {
		if text[p] != '"' {
			continue
		}
		kind, n := slotAt(text[p:])
		if kind == none {
			continue
		}
		p += n
		end := p
		for end < len(text) && (text[end] >= '0' && text[end] <= '9' || text[end] == '.' && kind != identity) {
			end++
		}
		if kind == name {
			t.pieces = append(t.pieces, piece{text: text[literal:p], kind: name})
			literal = p
			continue
		}
		if end == p {
			continue
		}
		piece := piece{text: text[literal:p], kind: kind, whole: !strings.Contains(text[p:end], ".")}
		piece.value = parse(text[p:end], kind)
		if kind == timeStamp && piece.value > 0 {
			if first == 0 {
				first = piece.value
			}
			first, last = min(first, piece.value), max(last, piece.value)
		}
		if kind == identity {
			t.ids = max(t.ids, min(piece.value, 1<<40)+1)
		}
		t.pieces = append(t.pieces, piece)
		literal, p = end, end-1
	}
	t.pieces = append(t.pieces, piece{text: text[literal:]})
	t.span = last - first + 1_000_000
}

func slotAt(text string) (slotKind, int) {
	for key, kind := range slotOf {
		if strings.HasPrefix(text, key) {
			return kind, len(key)
		}
	}
	return none, 0
}

func parse(text string, kind slotKind) int64 {
	if kind == identity {
		v, _ := strconv.ParseInt(text, 10, 64)
		return v
	}
	whole, fraction, _ := strings.Cut(text, ".")
	v, _ := strconv.ParseInt(whole, 10, 64)
	f, _ := strconv.ParseInt((fraction + "000")[:3], 10, 64)
	return v*1000 + f
}

// round appends the events once more. stretch varies durations.
func (t *template) round(buf []byte, round int64, stretch func() float64) []byte {
	for i := range t.pieces {
		p := &t.pieces[i]
		buf = append(buf, p.text...)
		switch p.kind {
		case timeStamp:
			buf = p.time(buf, p.value+round*t.span)
		case duration:
			buf = p.time(buf, int64(float64(p.value)*stretch()))
		case identity:
			buf = strconv.AppendInt(buf, p.value+round*t.ids, 10)
		case name:
			if round > 0 && i%100 == 0 {
				buf = strconv.AppendInt(append(buf, "v"...), round, 10)
				buf = append(buf, '_')
			}
		}
	}
	return buf
}

func (p *piece) time(buf []byte, ns int64) []byte {
	buf = strconv.AppendInt(buf, ns/1000, 10)
	if p.whole {
		return buf
	}
	return fmt.Appendf(buf, ".%03d", ns%1000)
}

func one() float64 { return 1 }

func (t *template) write(w io.Writer, size int64) error {
	out := bufio.NewWriterSize(w, 1<<20)
	if _, err := out.WriteString(t.head); err != nil {
		return err
	}
	var buf []byte
	for round, written := int64(0), int64(0); written < size; round++ {
		buf = buf[:0]
		if round > 0 {
			buf = append(buf, ',')
		}
		buf = t.round(buf, round, one)
		written += int64(len(buf))
		if _, err := out.Write(buf); err != nil {
			return err
		}
	}
	if _, err := out.WriteString(t.tail); err != nil {
		return err
	}
	return out.Flush()
}

func (t *template) writeRank(path string, rank, ranks int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestSpeed)
	if err != nil {
		return err
	}
	random := rand.New(rand.NewPCG(uint64(rank), 1))
	head := rewriteRank(t.head, rank, ranks)
	text := append([]byte(head), t.round(nil, 0, func() float64 { return 0.9 + 0.2*random.Float64() })...)
	if _, err := z.Write(append(text, t.tail...)); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return f.Close()
}

// rewriteRank states the rank in distributedInfo.
func rewriteRank(head string, rank, ranks int) string {
	for key, v := range map[string]int{`"rank": `: rank, `"world_size": `: ranks} {
		if at := strings.Index(head, key); at >= 0 {
			at += len(key)
			end := at
			for end < len(head) && head[end] >= '0' && head[end] <= '9' {
				end++
			}
			head = head[:at] + strconv.Itoa(v) + head[end:]
		}
	}
	return head
}
