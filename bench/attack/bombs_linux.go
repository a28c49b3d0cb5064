package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// bomb is little that becomes much: how many bytes it unpacks to, and how it is made in the case's folder.
type bomb struct {
	what     string
	unpacked int64
	make     func(t *try) string // the path to ask about, "" where it cannot be made here
}

const goodEvent = `{"ph": "X", "cat": "cpu_op", "name": "aten::fine", "pid": 1, "tid": 1, "ts": 5, "dur": 1, "args": {}}`

const manifest = `{"schema": "bottleneck.session/1", "job": "j", "created_unix_ns": 1700000000000000000, "command": ["x"], "host": "h", "bottleneck": "1"}`

var bombs = []bomb{
	{"a gzip bomb of zeros", 4 << 30, func(t *try) string {
		return t.repeated("zeros.json.gz", nil, gzippedTimes("\x00", 64<<20), 64, nil)
	}},
	{"a gzip bomb in a trace's name", 4 << 30, func(t *try) string {
		return t.repeated("name.json.gz", gzipped([]byte(`{"traceEvents": [`+goodEvent+`, {"name": "`)), gzippedTimes("x", 64<<20), 64,
			gzipped([]byte(`"}]}`)))
	}},
	{"a zstd bomb of 10 GB", 10 << 30, func(t *try) string {
		return t.repeated("name.json.zst", zstded([]byte(`{"traceEvents": [`+goodEvent+`, {"name": "`)), zstdedTimes("x", 64<<20), 160, nil)
	}},
	{"a zstd frame with a window of 2 GB", 2 << 30, hugeWindow},
	{"a zip of 4,000 members", 1 << 20, func(t *try) string { return t.manyMembers(4000) }},
	{"a zip of 30,000 members", 4 << 20, func(t *try) string { return t.manyMembers(30000) }},
	{"a zip of bombs", 8 << 30, func(t *try) string {
		zeros := gzippedTimes(" ", 64<<20)
		var members []member
		for i := range 64 {
			members = append(members, member{name: fmt.Sprintf("rank%d.json.gz", i), text: bytes.Repeat(zeros, 2)})
		}
		return t.bytesFile("bombs.zip", zipped(members...))
	}},
	{"a tar of 30,000 members", 32 << 20, func(t *try) string {
		var members []member
		for i := range 30000 {
			members = append(members, member{name: fmt.Sprintf("r%d", i), text: []byte(`{"traceEvents": []}`)})
		}
		return t.bytesFile("many.tar.gz", gzipped(tarred(members...)))
	}},
	{"brackets, 50 million deep", 50 << 20, func(t *try) string {
		return t.repeated("deep.json.gz", gzipped([]byte(`{"traceEvents": [`+goodEvent+`, {"args": `)), gzippedTimes("[", 1<<20), 50, nil)
	}},
	{"objects, 10 million deep, without a key of a trace", 50 << 20, func(t *try) string {
		return t.repeated("deep2.json.gz", nil, gzippedTimes(`{"a":`, 1<<20), 10, nil)
	}},
	{"500,000 threads", 50 << 20, func(t *try) string {
		return t.events("threads.json", 500_000, `{"ph":"X","cat":"cpu_op","name":"aten::f","pid":1,"tid":%d,"ts":%[1]d,"dur":1}`)
	}},
	{"500,000 processes", 50 << 20, func(t *try) string {
		return t.events("processes.json", 500_000, `{"ph":"X","cat":"cpu_op","name":"aten::f","pid":%d,"tid":1,"ts":%[1]d,"dur":1}`)
	}},
	{"500,000 operators within each other", 60 << 20, func(t *try) string {
		return t.events("within.json", 500_000, `{"ph":"X","cat":"cpu_op","name":"f%d","pid":1,"tid":1,"ts":%[1]d,"dur":1000000}`)
	}},
	{"500,000 names", 60 << 20, func(t *try) string {
		return t.events("names.json", 500_000,
			`{"ph":"X","cat":"kernel","name":"k%d","pid":0,"tid":7,"ts":%[1]d,"dur":1,"args":{"device":0,"stream":7,"correlation":%[1]d}}`)
	}},
	{"operators that share one correlation", 60 << 20, func(t *try) string {
		return t.events("shared.json", 300_000,
			`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%d,"dur":1,"args":{"correlation":1}},`+
				`{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":7,"ts":%[1]d,"dur":1,"args":{"device":0,"stream":7,"correlation":1}}`)
	}},
	{"20 million step lines in a session", 1 << 30, func(t *try) string {
		return t.rows("events.jsonl.gz", `["step",1,"train","optimizer",%d,%d,"baseline",1,1]`, 200_000, 100)
	}},
	{"4 million steps in a session, each at its own time", 300 << 20, func(t *try) string {
		return t.rows("events.jsonl.gz", `["step",1,"train","optimizer",%d,%d,"baseline",1,1]`, 4_000_000, 1)
	}},
	{"20 million waits in a session", 1 << 30, func(t *try) string {
		return t.rows("events.jsonl.gz", `["wait",%d,%d,1,0,1]`, 200_000, 100)
	}},
	{"a million different spans in a session", 90 << 20, func(t *try) string {
		return t.rows("events.jsonl.gz", `["span","io",%d,%d,1,"n%[1]d","f%[1]d.py",1,"d%[1]d",1]`, 1_000_000, 1)
	}},
	{"processes that come and go, 10 million rows", 1 << 30, func(t *try) string {
		return t.treeRows(`["proc",%d,%d,1,1,["python","x.py"],"/usr/bin/python"]`, 100_000, 100)
	}},
	{"a JSON file of 1 GB in a session", 1 << 30, func(t *try) string {
		dir := t.plainSession()
		return t.sparse(dir, "h-1-1/process.json", 1<<30)
	}},
	{"a manifest of 1 GB", 1 << 30, func(t *try) string { return t.sparse(t.plainSession(), "manifest.json", 1<<30) }},
	{"5,000 process folders", 10 << 20, func(t *try) string {
		dir := t.plainSession()
		for i := range 5000 {
			t.file(fmt.Sprintf("in/session/h-%d-%d/process.json", i+10, i),
				fmt.Sprintf(`{"schema":"bottleneck.process/1","pid":%d,"host":"h","role":"rank","rank":%d}`, i+10, i))
		}
		return dir
	}},
	{"samples that unpack to zeros", 8 << 30, func(t *try) string {
		zeros := bytes.Repeat(zstdedTimes("\x00", 64<<20), 128)
		t.launcher(append(binary.LittleEndian.AppendUint32(nil, uint32(len(zeros))), zeros...))
		return t.path("in/session")
	}},
	{"samples that claim 4 GB", 1 << 20, func(t *try) string {
		t.launcher(append(binary.LittleEndian.AppendUint32(nil, 1<<32-1), zstded([]byte("x"))...))
		return t.path("in/session")
	}},
	{"samples in /dev/zero", 1 << 20, func(t *try) string {
		t.launcher(nil)
		path := t.path("in/session/launcher-h-1-1/samples.pb.zst")
		t.must(os.Remove(path))
		t.must(os.Symlink("/dev/zero", path))
		return t.path("in/session")
	}},
	{"a pickle that doubles itself 60 times", 1 << 10, func(t *try) string {
		return t.bytesFile("laughs.lprof", append([]byte("\x80\x04]q\x00"),
			append(bytes.Repeat([]byte("h\x00h\x00\x86q\x00"), 60), '.')...))
	}},
	{"a marshalled dict that claims 2 billion entries", 1 << 10, func(t *try) string {
		return t.bytesFile("claims.pstats", []byte("{\x5b\xff\xff\xff\x7f(\xff\xff\xff\x7f(\xff\xff\xff\x7f"))
	}},
	{"a memory timeline of 5 million rows", 90 << 20, func(t *try) string {
		return t.repeated("memory.json.gz", gzipped([]byte("[")), gzippedTimes(`[1,0,9,1],`, 500_000), 10, gzipped([]byte(`[1,0,9,1]]`)))
	}},
	{"folded stacks, 200 MB of one line", 200 << 20, func(t *try) string {
		return t.repeated("stacks.folded.gz", nil, gzippedTimes("main;", 200_000), 200, gzipped([]byte("f 1\n")))
	}},
}

func runBomb(t *try) {
	if t.number >= len(bombs) {
		t.skip("there are %d", len(bombs))
		return
	}
	b := bombs[t.number]
	t.say("%s", b.what)
	path := b.make(t)
	if t.unpacked = b.unpacked; path == "" {
		t.skip("it cannot be made here")
		return
	}
	t.bottleneck(text("report", path))
	others := []ask{data("report", "--json", os.DevNull, "-o", os.DevNull, path), text("what-if", "--remove", "sync", path),
		data("export", "--to", "chrome", "-o", t.out(), path)}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		others = append(others, data("pack", "-o", t.out(), path), data("pack", "--redact", "-o", t.out(), path))
	}
	t.rng.Shuffle(len(others), func(i, k int) { others[i], others[k] = others[k], others[i] })
	for _, a := range others[:2] {
		if t.hung() {
			return
		}
		t.bottleneck(a)
	}
}

func (t *try) bytesFile(name string, text []byte) string { return t.file("in/"+name, string(text)) }

// repeated writes a file of a beginning, a piece many times over and an end, each packed on its own.
func (t *try) repeated(name string, begin, piece []byte, times int, end []byte) string {
	f, err := os.Create(t.path("in/" + name))
	t.must(err)
	defer f.Close()
	_, err = f.Write(begin)
	t.must(err)
	for range times {
		_, err = f.Write(piece)
		t.must(err)
	}
	_, err = f.Write(end)
	t.must(err)
	return f.Name()
}

func hugeWindow(t *try) string {
	z, err := zstd.NewWriter(nil, zstd.WithWindowSize(512<<20), zstd.WithSingleSegment(false), zstd.WithEncoderConcurrency(1))
	t.must(err)
	defer z.Close()
	frame := z.EncodeAll([]byte(`{"traceEvents": [`+goodEvent+`]}`), nil)
	frame[4], frame[5] = 0, 0xF8 // no single segment, the largest window that the format has
	return t.bytesFile("window.json.zst", frame)
}

func (t *try) manyMembers(n int) string {
	var members []member
	for i := range n {
		members = append(members, member{name: fmt.Sprintf("r%d.json", i), text: []byte(`{"traceEvents": []}`)})
	}
	return t.bytesFile("many.zip", zipped(members...))
}

// events writes a trace of n rows; the row's number stands where the format has it.
func (t *try) events(name string, n int, format string) string {
	return t.streamed("in/"+name, func(w io.Writer) {
		_, _ = io.WriteString(w, `{"traceEvents": [`)
		for i := range n {
			fmt.Fprintf(w, format+",\n", i)
		}
		_, _ = io.WriteString(w, goodEvent+"]}")
	})
}

// streamed writes a file that may be larger than what the harness wants in memory: the machine has other work.
func (t *try) streamed(name string, write func(io.Writer)) string {
	t.must(os.MkdirAll(filepath.Dir(t.path(name)), 0o755))
	f, err := os.Create(t.path(name))
	t.must(err)
	w := bufio.NewWriterSize(f, 1<<20)
	write(w)
	t.must(errors.Join(w.Flush(), f.Close()))
	return f.Name()
}

// plainSession writes a session of one process without anything in it.
func (t *try) plainSession() string {
	t.file("in/session/manifest.json", manifest)
	t.file("in/session/h-1-1/process.json", `{"schema":"bottleneck.process/1","pid":1,"host":"h","role":"main","python":"3.13.0","start_unix_ns":1700000000000000000,"start_mono_ns":1}`)
	return t.path("in/session")
}

// rows writes n rows, many times over, into a file of the session's process; each piece is a member of its own.
func (t *try) rows(name, format string, n, times int) string {
	dir := t.plainSession()
	t.rowsTo("in/session/h-1-1/"+name, format, n, times)
	return dir
}

func (t *try) treeRows(format string, n, times int) string {
	t.launcher(nil)
	t.rowsTo("in/session/launcher-h-1-1/tree.jsonl.gz", format, n, times)
	return t.path("in/session")
}

func (t *try) rowsTo(name, format string, n, times int) {
	var piece bytes.Buffer
	z, err := gzip.NewWriterLevel(&piece, gzip.BestSpeed)
	t.must(err)
	for i := range n {
		fmt.Fprintf(z, format+"\n", 2*i+1, 2*i+2)
	}
	t.must(z.Close())
	t.streamed(name, func(w io.Writer) {
		_, _ = w.Write(gzipped([]byte("[\"clock\",1,1700000000000000000]\n")))
		for range times {
			_, _ = w.Write(piece.Bytes())
		}
	})
}

// launcher writes a session with a launcher's folder and samples.
func (t *try) launcher(samples []byte) {
	t.plainSession()
	t.file("in/session/launcher-h-1-1/launcher.json",
		`{"schema":"bottleneck.launcher/1","host":"h","pid":1,"command":["x"],"start_unix_ns":1700000000000000000}`)
	t.file("in/session/launcher-h-1-1/samples.pb.zst", string(samples))
}

// sparse makes a file of a session larger than it is on disk.
func (t *try) sparse(dir, name string, size int64) string {
	path := filepath.Join(dir, name)
	text, err := os.ReadFile(path)
	t.must(err)
	t.must(os.WriteFile(path, append(text[:len(text)-1], []byte(`,"x":"`)...), 0o644))
	t.must(os.Truncate(path, size))
	return dir
}
