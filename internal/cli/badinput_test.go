package cli

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// generated is a text that is made while it is read: a head, many pieces, a tail. It is never held.
type generated struct {
	head, tail string
	piece      func(i int) string
	times, at  int
	rest       string
}

func (g *generated) Read(p []byte) (int, error) {
	for g.rest == "" {
		switch {
		case g.head != "":
			g.rest, g.head = g.head, ""
		case g.at < g.times:
			g.rest = g.piece(g.at)
			g.at++
		case g.tail != "":
			g.rest, g.tail = g.tail, ""
		default:
			return 0, io.EOF
		}
	}
	n := copy(p, g.rest)
	g.rest = g.rest[n:]
	return n, nil
}

func same(text string) func(int) string { return func(int) string { return text } }

const goodEvent = `{"ph": "X", "cat": "cpu_op", "name": "aten::fine", "pid": 1, "tid": 1, "ts": 5, "dur": 1, "args": {}}`

// packed is g, compressed while it is read.
func packed(g *generated) io.Reader {
	r, w := io.Pipe()
	go func() {
		z, _ := gzip.NewWriterLevel(w, gzip.BestSpeed)
		_, err := io.Copy(z, g)
		if err == nil {
			err = z.Close()
		}
		w.CloseWithError(err)
	}()
	return r
}

// What is made to hurt, through the command: it ends by itself with status 0, reports what is whole, says what is wrong and
// where, and takes no more memory than a small multiple of what it keeps.
func TestReportOfHostileInput(t *testing.T) {
	b := newBench(t)
	big := 256 << 10 // kilobytes of a string: 256 MB; a gigabyte in the long form
	threads := 100_000
	if os.Getenv("BOTTLENECK_LONG_TESTS") != "" {
		big, threads = 1<<20, 1_000_000
	}
	kilo := strings.Repeat("x", 1<<10)
	thread := func(i int) string {
		return fmt.Sprintf(`{"ph": "X", "cat": "cpu_op", "name": "aten::f", "pid": 1, "tid": %d, "ts": %d, "dur": 1},`, i, i)
	}
	cases := []struct {
		name    string
		in      io.Reader
		want    []string
		maxMiB  int64
		isTable string
	}{
		{"gzip bomb", packed(&generated{head: `{"traceEvents": [` + goodEvent + `, {"name": "`, piece: same(kilo),
			times: 700 << 10, tail: `"}]}`}),
			[]string{"bomb"}, 400, "aten::fine"},
		{"deep nesting", &generated{head: `{"traceEvents": [` + goodEvent + `, {"ph": "X", "args": {"a": `,
			piece: same(strings.Repeat("[", 1000)), times: 10_000},
			[]string{"truncated"}, 400, "aten::fine"},
		{"long string", &generated{head: `{"traceEvents": [` + goodEvent + `, {"ph": "X", "name": "`, piece: same(kilo), times: big,
			tail: `"}, ` + goodEvent + `]}`},
			[]string{"oversized"}, 400, "aten::fine"},
		{"many threads", &generated{head: `{"traceEvents": [`, piece: thread, times: threads, tail: goodEvent + `]}`}, nil, 900, "aten::f"},
		{"numbers", strings.NewReader(`{"traceEvents": [` + goodEvent +
			`, {"ph": "X", "cat": "cpu_op", "name": "a", "pid": 1, "tid": 1, "ts": 1e300, "dur": 1},
			{"ph": "X", "cat": "cpu_op", "name": "b", "pid": 1, "tid": 1, "ts": NaN, "dur": 1}, {"ph": "X", "cat": "cpu_op", "name": "c", "pid": 1, "tid": 1, "ts": 7, "dur": -3},
			{"ph": "X", "cat": "cpu_op", "name": "d", "pid": 1, "tid": 1, "ts": 9, "dur": Infinity}]}`),
			[]string{"no-time, 2", "negative-duration, 1", "no-duration, 1"}, 300, "aten::fine"},
		{"three clocks", strings.NewReader(`{"traceEvents": [` + strings.Repeat(goodEvent+",", 3) +
			`{"ph": "X", "cat": "cpu_op", "name": "boot", "pid": 1, "tid": 1, "ts": 123456789012345, "dur": 1},
			{"ph": "X", "cat": "cpu_op", "name": "unix", "pid": 1, "tid": 1, "ts": 1700000000000000, "dur": 1}]}`),
			[]string{"other-clock, 2", "19676 days"}, 300, "aten::fine"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			cmd := b.command("report", "-")
			cmd.Stdin = c.in
			r := b.finish(cmd)
			if r.code != 0 || r.signal != 0 {
				t.Fatalf("status %d, signal %v: %s", r.code, r.signal, r.stderr)
			}
			expect(t, "report", flat(r.stdout), append(c.want, c.isTable)...)
			if peak := peakMiB(cmd); peak > c.maxMiB {
				t.Errorf("%d MiB, at most %d", peak, c.maxMiB)
			}
		})
	}
}

// Files of ranks that do not fit together are reported with a word about it.
func TestReportOfOddRanks(t *testing.T) {
	b := newBench(t)
	rank := func(n int) string {
		return fmt.Sprintf(`{"distributedInfo": {"backend": "nccl", "rank": %d, "world_size": 8}, "traceEvents": [%s]}`, n, goodEvent)
	}
	b.file("ranks/a.json", rank(0))
	b.file("ranks/b.json", rank(0))
	b.file("ranks/c.json", rank(3))
	b.file("ranks/d.json", "{\"traceEvents\": [")
	b.file("ranks/notes.txt", "no trace")
	r := b.run("", "report", "ranks")
	if r.code != 0 {
		t.Fatalf("status %d: %s", r.code, r.stderr)
	}
	expect(t, "report", flat(r.stdout), "b.json: states rank 0, as", "no file of 1-2, 4-7", "missing-ranks, 6", "d.json")
	if r := b.run("", "report", "ranks", "--rank", "0,3"); r.code != 0 || strings.Contains(r.stdout, "missing-ranks") {
		t.Errorf("ranks that nobody asked for are missed: status %d\n%s", r.code, r.stdout)
	}
}

// Every file of the folder of damaged traces, and a real one cut at every tenth, says where the damage begins.
func TestReportOfDamage(t *testing.T) {
	folder := filepath.Join(realFiles, "malformed-derived")
	for name, want := range map[string]string{"truncated_gzip_stream.json.gz": "unreadable-end",
		"truncated_midevent.json.gz": "truncated, 1 ×, first at byte", "no_closing_brackets.json.gz": "unclosed",
		"unescaped_quotes_in_name.json.gz": "unescaped-text, 3 ×, first at byte"} {
		path := filepath.Join(folder, name)
		if _, err := os.Stat(path); err != nil {
			t.Skip("no folder of real traces beside the checkout")
		}
		code, stdout, _ := here("report", path)
		if code != 0 {
			t.Errorf("%s: status %d", name, code)
		}
		expect(t, name, flat(stdout), want)
	}
	file, err := os.ReadFile(filepath.Join("..", "analyse", "testdata", "torch-2.15.0", "steps.json.gz"))
	if err != nil {
		t.Fatal(err)
	}
	z, err := gzip.NewReader(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.json")
	for tenth := 3; tenth < 10; tenth++ {
		if err := os.WriteFile(cut, text[:len(text)*tenth/10], 0o600); err != nil {
			t.Fatal(err)
		}
		code, stdout, stderr := here("report", cut)
		if code != 0 || !strings.Contains(stdout, "! cut.json: ") || !strings.Contains(stdout, "truncated") &&
			!strings.Contains(stdout, "unclosed") {
			t.Errorf("cut at %d/10: status %d, %s%s", tenth, code, stdout, stderr)
		}
	}
}
