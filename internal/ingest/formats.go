package ingest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"

	"bottleneck/internal/model"
)

// FormatUnusable marks an Input that could not be read.
const FormatUnusable = "unusable"

// headSize is how much of a text is looked at to recognise it.
const headSize = 16 << 10

// format is a kind of file found by its content.
type format struct {
	name  string
	text  string // what it is, for a user
	match func(head []byte) bool
	read  func(o *opening, src source, r io.Reader) (func() error, error)
}

// formats are asked in order. What none of them knows and looks like JSON is read as a trace.
var formats []format

func init() {
	formats = []format{
		{"tar", "an archive", isTar, readTar},
		{"pstats", "exact call counts of cProfile", IsPstats, readPstatsInput},
		{"rocprof", "results of rocprof (ROCm)", isRocprofJSON, readRocprofJSON},
		{"rocprof", "results of rocprof (ROCm)", isRocprofChrome, readRocprofChrome},
		{"rocprof", "results of rocprof (ROCm)", isRocpd, readDatabase},
		{"rocprof", "results of rocprof (ROCm)", isRocprofCSV, readRocprofCSV},
		{"rocprof", "results of rocprof (ROCm)", isRocprofStats, readRocprofStats},
		{"ncu", "kernels measured by Nsight Compute (CSV)", isNcu, readNcu},
		{"nvprof-csv", "a table of nvprof (CSV)", isNvprofCSV, readNvprofCSV},
		{"vtune-csv", "hot functions of VTune (CSV)", isVTune, readVTune},
		{"nsys-csv", "a table of nsys stats (CSV)", isNsysStats, readNsysStats},
		{"nsys", "an Nsight Systems export (SQLite)", isNsys, readDatabase},
		{"nvprof", "an nvprof export (SQLite)", isNvprof, readDatabase},
		{"sqlite", "an SQLite database that is no known profile", isSQLite, readDatabase},
		{"memory-snapshot", "a CUDA memory snapshot (torch.cuda.memory._dump_snapshot)", isMemorySnapshot, readMemorySnapshot},
		{"line-profiler", "line_profiler's times per line (.lprof)", isLineProfile, readLineProfile},
		{"speedscope", "a speedscope profile: sampled stacks", isSpeedscope, readSpeedscope},
		{"gecko", "a Firefox Profiler (gecko) profile: sampled stacks", isGecko, readGecko},
		{"scalene", "a Scalene profile (JSON): times and memory by line", isScalene, readScalene},
		{"memray", "memray's statistics (memray stats --json)", isMemray, readMemray},
		{"execution-trace", "an execution trace (PyTorch ExecutionTraceObserver or Chakra)", isExecutionTrace, readExecutionTrace},
		{"memory-timeline", "a memory timeline (export_memory_timeline)", isMemoryTimeline, readMemoryTimeline},
		{"torch-trace", "a log of compilations (TORCH_TRACE, tlparse)", isTorchTrace, readTorchTrace},
		{"perfetto", "a Perfetto trace (protobuf)", isPerfetto, readPerfetto},
		{"pprof", "a pprof profile", isPprof, readPprof},
		{"html", "an HTML page", isHTML, named("html", "it holds no profile; report the file that the page was made of; of Python's own sampler (profiling.sampling) record "+
			"with --gecko, --collapsed or --pstats")},
		{"folded", "folded stacks with counts", isFolded, readFolded},
	}
}

// FormatText says what a format is, for a user; "" for traces and sessions, which speak for themselves.
func FormatText(name string) string {
	for i := range formats {
		if formats[i].name == name {
			return formats[i].text
		}
	}
	return ""
}

func recognise(head []byte) *format {
	for i := range formats {
		if formats[i].match(head) {
			return &formats[i]
		}
	}
	return nil
}

// named makes an Input that only says what the file is: its format's text, and what it holds and what to do instead.
func named(name, note string) func(*opening, source, io.Reader) (func() error, error) {
	return func(o *opening, src source, _ io.Reader) (func() error, error) {
		return func() error {
			o.s.Inputs = append(o.s.Inputs, model.Input{Path: src.path, Format: name, Bytes: src.size, Rank: model.NoRank,
				Note: FormatText(name) + ": " + note})
			return nil
		}, nil
	}
}

func readPstatsInput(o *opening, src source, r io.Reader) (func() error, error) {
	calls, err := ReadPstats(r)
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: "a cProfile file that cannot be read: " + err.Error(), err: err}
	}
	return o.takeCalls(src, "pstats", calls, len(calls.Functions)), nil
}

// takeCalls adds exact calls of a file of their own, with rows rows, to the session once it is their turn.
func (o *opening) takeCalls(src source, format string, calls *model.Calls, rows int) func() error {
	return func() error {
		calls.Input, calls.Process = len(o.s.Inputs), -1
		o.s.Inputs = append(o.s.Inputs, model.Input{Path: src.path, Format: format, Bytes: src.size, Rank: model.NoRank,
			Events: int64(rows)})
		o.s.Calls = append(o.s.Calls, calls)
		return nil
	}
}

func peek(r io.Reader, n int) ([]byte, io.Reader, error) {
	in := bufio.NewReaderSize(r, n)
	head, err := in.Peek(n)
	if err == io.EOF {
		err = nil
	}
	return head, in, err
}

func looksLikeJSON(head []byte) bool {
	head = bytes.TrimLeft(bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF")), " \t\r\n")
	return len(head) > 0 && (head[0] == '{' || head[0] == '[')
}

func isSQLite(head []byte) bool { return bytes.HasPrefix(head, []byte("SQLite format 3\x00")) }

// The tables' definitions stand on a database's first pages, the newest last; both tools create theirs in a fixed order.
func isNsys(head []byte) bool {
	return isSQLite(head) && (bytes.Contains(head, []byte("StringIds")) || bytes.Contains(head, []byte("TARGET_INFO_")) ||
		bytes.Contains(head, []byte("META_DATA_")))
}

func isNvprof(head []byte) bool {
	return isSQLite(head) && bytes.Contains(head, []byte("CUPTI_ACTIVITY_KIND_")) || isSQLite(head) &&
		bytes.Contains(head, []byte("StringTable"))
}

func isRocprofJSON(head []byte) bool {
	return looksLikeJSON(head) && bytes.Contains(head[:min(len(head), 256)], []byte(`"rocprofiler-sdk-tool"`))
}

// isRocpd: rocprofv3's database, whose tables begin with rocpd_.
func isRocpd(head []byte) bool { return isSQLite(head) && bytes.Contains(head, []byte("rocpd_")) }

func isPickle(head []byte) bool {
	return len(head) > 2 && head[0] == 0x80 && head[1] >= 2 && head[1] <= 5
}

func isMemorySnapshot(head []byte) bool {
	return isPickle(head) && bytes.Contains(head, []byte("segments")) && bytes.Contains(head, []byte("device"))
}

func isLineProfile(head []byte) bool {
	return isPickle(head) && bytes.Contains(head, []byte("LineStats"))
}

func isSpeedscope(head []byte) bool {
	return looksLikeJSON(head) && bytes.Contains(head, []byte("speedscope.app/file-format-schema"))
}

// isGecko: the raw form has "stackwalk" in its meta, the processed one its own version there.
func isGecko(head []byte) bool {
	return looksLikeJSON(head) && bytes.Contains(head, []byte(`"meta"`)) && bytes.Contains(head, []byte(`"interval"`)) &&
		!bytes.Contains(head, []byte(`"traceEvents"`)) &&
		(bytes.Contains(head, []byte(`"stackwalk"`)) || bytes.Contains(head, []byte(`"preprocessedProfileVersion"`)))
}

func isExecutionTrace(head []byte) bool {
	return looksLikeJSON(head) && bytes.Contains(head, []byte(`"schema"`)) && bytes.Contains(head, []byte(`"nodes"`)) &&
		!bytes.Contains(head, []byte(`"traceEvents"`))
}

// isMemoryTimeline: [[times…], [[sizes…], …]], or rows of [time, action, bytes, category].
func isMemoryTimeline(head []byte) bool {
	compact := bytes.Map(func(r rune) rune {
		if r == ' ' || r == '\n' || r == '\t' || r == '\r' {
			return -1
		}
		return r
	}, head[:min(len(head), 256)])
	return len(compact) > 3 && compact[0] == '[' && compact[1] == '[' && (compact[2] == '-' || compact[2]-'0' <= 9)
}

// isPprof checks that the first fields are ones of a pprof Profile with fitting types: the format has no magic bytes.
// The older binary CPU profile begins with the words 0, 3, 0, period, 0.
func isPprof(head []byte) bool {
	if len(head) >= 40 {
		word := func(i int) uint64 { return binary.LittleEndian.Uint64(head[8*i:]) }
		if word(0) == 0 && word(1) == 3 && word(2) == 0 && word(3) > 0 && word(3) < 1<<32 && word(4) == 0 {
			return true
		}
	}
	fields := 0
	for p := 0; p < len(head) && fields < 8; fields++ {
		size := pprofField(head[p:])
		if size < 0 {
			return false
		}
		p += size
	}
	return fields >= 4
}

// pprofField is the length of one field of a Profile message, -1 when it cannot be one.
func pprofField(b []byte) int {
	tag, n := binary.Uvarint(b)
	number, wire := tag>>3, tag&7
	if n <= 0 || number == 0 || number > 15 || wire != 0 && wire != 2 {
		return -1
	}
	if isMessage := number <= 6 || number == 11; number != 13 && isMessage != (wire == 2) {
		return -1
	}
	v, m := binary.Uvarint(b[n:])
	if m <= 0 || wire == 2 && v > 1<<28 {
		return -1
	}
	if wire == 2 {
		m += int(v)
	}
	return n + m
}

func isHTML(head []byte) bool {
	head = bytes.ToLower(bytes.TrimLeft(head[:min(len(head), 256)], " \t\r\n"))
	return bytes.HasPrefix(head, []byte("<!doctype html")) || bytes.HasPrefix(head, []byte("<html"))
}
