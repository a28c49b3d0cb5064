package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/sqlite"
)

// rowSums is what SELECT count(*), sum(end-start) says of the real databases.
var rowSums = []struct {
	path, format         string
	kernels, kernelNS    int64
	calls, copies, sets  int64
	ranges, syncs, steps int64
	gpu                  string
}{
	{"nsys-sqlite/cs336_rtx3070ti_nsys2025.1.sqlite", "nsys", 17032, 1733804486, 20436, 272, 1510, 31, 169, 5,
		"NVIDIA GeForce RTX 3070 Ti"},
	{"nsys-sqlite/cloverleaf_a100_nsys2024.5.sqlite", "nsys", 1312, 294404540, 3048, 279, 0, 0, 1312, 0, "NVIDIA A100-SXM4-80GB"},
	{"nvprof-sqlite/pyprof_net_bert.sql", "nvprof", 284, 8270633, 3439, 35, 12, 952, 41, 0, "Tesla V100-SXM2-16GB"},
}

func realDatabase(tb testing.TB, path string) string {
	tb.Helper()
	path = filepath.Join(realTraces, path)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("no real traces here: %v", err)
	}
	return path
}

func openDatabase(tb testing.TB, path string) (*model.Session, *model.Trace) {
	tb.Helper()
	s, err := Open(context.Background(), []string{path}, Options{})
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.Check(); err != nil {
		tb.Fatal(err)
	}
	if len(s.Traces) != 1 {
		tb.Fatalf("%d traces; %+v", len(s.Traces), s.Inputs)
	}
	return s, s.Traces[0]
}

func countKinds(t *model.Trace) (n map[model.Kind]int64, kernelNS int64) {
	n = map[model.Kind]int64{}
	for i, kind := range t.Events.Kind {
		n[kind]++
		if kind == model.KindKernel {
			kernelNS += int64(t.Events.Dur[i])
		}
	}
	return n, kernelNS
}

func TestDatabasesEqualSQL(t *testing.T) {
	for _, want := range rowSums {
		t.Run(filepath.Base(want.path), func(t *testing.T) {
			s, tr := openDatabase(t, realDatabase(t, want.path))
			n, ns := countKinds(tr)
			got := want
			got.format, got.kernels, got.kernelNS, got.calls = s.Inputs[0].Format, n[model.KindKernel], ns, n[model.KindRuntime]
			got.copies, got.sets, got.syncs = n[model.KindMemcpy], n[model.KindMemset], n[model.KindSync]
			got.ranges, got.steps = n[model.KindAnnotation]+n[model.KindOp], int64(len(tr.Steps))
			got.gpu = s.Environment.GPUs[0].Name
			if got != want {
				t.Errorf("%+v\nwant\n%+v", got, want)
			}
			for id, kind := range tr.Events.Kind {
				if kind == model.KindKernel && tr.Events.Link[id] == model.NoEvent {
					t.Fatalf("kernel %d has no call that launched it", id)
				}
			}
		})
	}
}

// TestLoadNvprof: what torch.autograd.profiler.load_nvprof gave: operators with their kernels by NVTX range.
func TestLoadNvprof(t *testing.T) {
	s, tr := openDatabase(t, realDatabase(t, "nvprof-sqlite/pyprof_net_bert.sql"))
	ops, found := 0, false
	for id, kind := range tr.Events.Kind {
		if kind != model.KindKernel || tr.Events.Op[id] == model.NoEvent {
			continue
		}
		ops++
		op := tr.Events.Op[id]
		name, kernel := s.Strings.Text(tr.Events.Name[op]), s.Strings.Text(tr.Events.Name[id])
		if name == "embedding" && strings.HasPrefix(kernel, "void indexSelectLargeIndex<float, unsigned int, 2, 2, -2, true>(") {
			found = true
			if detail := tr.Events.OpDetails[tr.Events.Detail[op]]; detail.Sequence != 115 && detail.Sequence != 117 {
				t.Errorf("sequence number %d of embedding", detail.Sequence)
			}
		}
	}
	if ops < 280 || !found {
		t.Errorf("%d of 284 kernels have an operator; embedding's kernel under it: %v", ops, found)
	}
}

func TestDatabasePackedAndByPipe(t *testing.T) {
	path := realDatabase(t, "nvprof-sqlite/pyprof_net_bert.sql")
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(raw)
	w.Close()
	_, tr := openDatabase(t, write(t, filepath.Join(t.TempDir(), "unknown"), packed.Bytes()))
	s, err := Open(context.Background(), []string{"-"}, Options{Stdin: bytes.NewReader(raw)})
	if err != nil || len(s.Traces) != 1 || s.Traces[0].Events.Len() != tr.Events.Len() {
		t.Fatal(err, s)
	}
}

func TestDatabaseCutShort(t *testing.T) {
	raw, err := os.ReadFile(realDatabase(t, "nsys-sqlite/cs336_rtx3070ti_nsys2025.1.sqlite"))
	if err != nil {
		t.Fatal(err)
	}
	for part := 1; part < 10; part++ {
		s, err := Open(context.Background(), []string{write(t, filepath.Join(t.TempDir(), "cut"), raw[:len(raw)*part/10])}, Options{})
		if err != nil {
			t.Fatalf("%d tenths: %v", part, err)
		}
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
		if in := s.Inputs[0]; len(in.Diagnostics) == 0 || in.Diagnostics[0].Kind != "cut-short" {
			t.Errorf("%d tenths: %+v", part, in.Diagnostics)
		}
	}
}

// database runs SQL by Python's sqlite3 on a copy of a file, or a new one.
func database(t testing.TB, from, sql string) string {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("no Python to make databases with: %v", err)
	}
	path := filepath.Join(t.TempDir(), "made.sqlite")
	if from != "" {
		raw, err := os.ReadFile(from)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command(python, "-c",
		"import sqlite3,sys\nc=sqlite3.connect(sys.argv[1])\nc.executescript(sys.stdin.read())\nc.commit()\nc.close()", path)
	cmd.Stdin = strings.NewReader(sql)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return path
}

func TestViewsInPlaceOfTables(t *testing.T) {
	path := database(t, realDatabase(t, "nsys-sqlite/cs336_rtx3070ti_nsys2025.1.sqlite"),
		"ALTER TABLE CUPTI_ACTIVITY_KIND_KERNEL RENAME TO kernels; "+
			"CREATE VIEW CUPTI_ACTIVITY_KIND_KERNEL AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n) SELECT i AS start "+
			"FROM n;")
	s, tr := openDatabase(t, path)
	n, _ := countKinds(tr)
	if n[model.KindKernel] != 0 || n[model.KindRuntime] != 20436 {
		t.Errorf("%v", n)
	}
	if text := s.Inputs[0].Diagnostics; len(text) == 0 || !strings.Contains(text[0].Text, "CUPTI_ACTIVITY_KIND_KERNEL is a view") {
		t.Errorf("%+v", text)
	}
}

const nsysSchema = "CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT NOT NULL); CREATE TABLE " +
	"TARGET_INFO_SESSION_START_TIME (utcEpochNs INTEGER);INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1700000000000000000);" +
	"CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER);" +
	"CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, streamId INTEGER, correlationId INTEGER, " +
	"globalPid INTEGER, demangledName INTEGER, gridX INTEGER, blockX INTEGER);CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, " +
	"eventType INTEGER, text TEXT, textId INTEGER, globalTid INTEGER);CREATE TABLE OSRT_API (start INTEGER, end INTEGER, nameId INTEGER, " +
	"globalTid INTEGER);"

// TestTwoProcessesInOneDatabase: correlations are those of a process, so each becomes a trace; operators of emit_nvtx have their
// sizes, and waits of the system's libraries stand on their threads.
func TestTwoProcessesInOneDatabase(t *testing.T) {
	s, err := Open(context.Background(), []string{database(t, "", nsysSchema+"INSERT INTO StringIds VALUES "+
		"(1,'cudaLaunchKernel_v7000'),(2,'gemm'),(3,'poll'),(4,'aten::addmm, op_id = 7, sizes = [[2, 3], []]');"+
		"INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME SELECT 1000, 2000, (p<<24)|p, 5, 1 FROM (SELECT 100 p UNION SELECT 200);"+
		"INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL SELECT 3000, 3000+p, 0, 7, 5, p<<24, 2, 8, 256 FROM (SELECT 100 p UNION SELECT 200);"+
		"INSERT INTO NVTX_EVENTS VALUES (900, 2100, 59, NULL, 4, (100<<24)|100), (800, NULL, 59, 'never ends', NULL, (100<<24)|100);"+
		"INSERT INTO OSRT_API VALUES (5000, 9000, 3, (200<<24)|201);")}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	if len(s.Traces) != 2 || len(s.Inputs) != 1 || s.Inputs[0].Counts["kernel"] != 2 {
		t.Fatalf("%d traces, inputs %+v", len(s.Traces), s.Inputs)
	}
	for i, want := range []model.Dur{100, 200} {
		ev := &s.Traces[i].Events
		for id, kind := range ev.Kind {
			switch kind {
			case model.KindKernel:
				if ev.Dur[id] != want || ev.Start[id] != 1700000000000003000 || ev.Link[id] == model.NoEvent {
					t.Errorf("trace %d: kernel of %d ns at %d, launched by %d", i, ev.Dur[id], ev.Start[id], ev.Link[id])
				}
				if op := ev.Op[id]; (op != model.NoEvent) != (i == 0) || op != model.NoEvent &&
					s.Strings.Text(ev.OpArgsOf(ev.Detail[op]).Shapes) != "[[2, 3], []]" {
					t.Errorf("trace %d: operator %d", i, op)
				}
			case model.KindOther:
				if s.Strings.Text(ev.Name[id]) != "poll" || i != 1 {
					t.Errorf("trace %d: %q", i, s.Strings.Text(ev.Name[id]))
				}
			}
		}
	}
}

func TestNVTXText(t *testing.T) {
	for text, want := range map[string]nvtxRange{
		"aten::mm, seq = 12, op_id = 3, sizes = [[2, 3], [3, 4]], input_op_ids = [(1,0)]": {"aten::mm", true, 12, "[[2, 3], [3, 4]]"},
		"t, seq = 0":                {"t", true, 0, ""},
		"MmBackward, stashed seq=5": {"MmBackward", true, 5, ""},
		"forward":                   {"forward", false, -1, ""},
		"aten::add_":                {"aten::add_", true, -1, ""},
		"x, sizes = [[[[":           {"x", true, -1, ""},
		"x, sizes = 5":              {"x", true, -1, ""},
		"x, sizes = [\"a\"]":        {"x", true, -1, ""},
		"":                          {"", false, -1, ""},
		"autograd::engine::evaluate_function: AddBackward0, seq = 99999999999999999999": {
			"autograd::engine::evaluate_function: AddBackward0", true, -1, "",
		},
	} {
		if got := parseNVTX(text); got != want {
			t.Errorf("%q: %+v, want %+v", text, got, want)
		}
	}
}

func FuzzNVTX(f *testing.F) {
	f.Add("aten::mm, seq = 12, op_id = 3, sizes = [[2, 3], [3, 4]], input_op_ids = [(1,0)]")
	f.Fuzz(func(t *testing.T, text string) {
		if r := parseNVTX(text); !strings.HasPrefix(text, r.name) {
			t.Fatalf("%+v of %q", r, text)
		}
	})
}

// FuzzDatabase: whatever a database of either profiler holds, the model stays whole.
func FuzzDatabase(f *testing.F) {
	small := func(sql string) []byte {
		text, err := os.ReadFile(database(f, "", "PRAGMA page_size=512;"+sql))
		if err != nil {
			f.Fatal(err)
		}
		return text
	}
	f.Add(small(nsysSchema + "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,1,100<<24,1,1,1); INSERT INTO NVTX_EVENTS VALUES " +
		"(1,5,59,'aten::a, seq = 1',NULL,100<<24);INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (0,1,100<<24,1,1);"))
	f.Add(small("CREATE TABLE StringTable(_id_ INTEGER PRIMARY KEY, value TEXT); CREATE TABLE CUPTI_ACTIVITY_KIND_MARKER(timestamp INT, " +
		"id INT, name INT, objectId BLOB);CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(cbid INT, start INT, end INT, processId INT, threadId " +
		"INT, correlationId INT); INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (211,1,2,3,4,5);INSERT INTO StringTable VALUES " +
		"(1,'{''traceMarker'': [''a.py:3'']}'); INSERT INTO CUPTI_ACTIVITY_KIND_MARKER VALUES " +
		"(1,1,1,x'000102030405060708090a0b'),(2,1,0,x'00');"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if _, err := sqlite.Open(bytes.NewReader(text), int64(len(text))); err != nil {
			return
		}
		s, err := Open(context.Background(), []string{"-"}, Options{Stdin: bytes.NewReader(text)})
		if err != nil {
			return
		}
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
	})
}
