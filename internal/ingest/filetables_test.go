package ingest

import (
	"bytes"
	"context"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

func openTable(t *testing.T, path string) *model.FileTable {
	t.Helper()
	s, err := Open(context.Background(), []string{path}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	if len(s.FileTables) != 1 {
		t.Fatalf("%d tables, %+v", len(s.FileTables), s.Inputs)
	}
	return s.FileTables[0]
}

// cell finds a number by the text of its row's first cell.
func cell(t *testing.T, table *model.FileTable, row string, column int) float64 {
	t.Helper()
	for _, r := range table.Rows {
		if r[0].Text == row {
			return r[column].Number
		}
	}
	t.Fatalf("no row %q in %+v", row, table.Rows)
	return 0
}

// TestMemoryTimelines: the peaks are those that a few lines of Python find in the same files.
func TestMemoryTimelines(t *testing.T) {
	for name, want := range map[string][3]float64{ // activations, parameters and what is not known at the peak
		"adamw8bit-memory-timeline.json.gz":        {1401746944, 400468480, 17039360},
		"galore_adamw-128-memory-timeline.json.gz": {1400947712, 541422080, 17039360},
	} {
		table := openTable(t, realDatabase(t, "memory-timeline/"+name))
		got := [3]float64{cell(t, table, "activations", 1), cell(t, table, "parameters", 1), cell(t, table, "unknown", 1)}
		if got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	table := openTable(t, realDatabase(t, "memory-timeline/hta_memory_timeline.raw.gz"))
	for _, row := range table.Rows {
		if row[4].Number < 0 || row[3].Number < row[1].Number {
			t.Errorf("%s: %+v", row[0].Text, row)
		}
	}
	if !strings.Contains(table.Sentence, "activations") {
		t.Error(table.Sentence)
	}
}

// TestExecutionTraces: calls as Python counts them, in the three schemas.
func TestExecutionTraces(t *testing.T) {
	for name, want := range map[string]struct {
		operator     string
		calls, bytes float64
	}{
		"et-chakra/resnet_et_1.1.0-chakra.0.0.4.json.gz": {"aten::conv2d", 159, 4375820544},
		"param-linear/linear_et.json.gz":                 {"aten::addmm", 21, 132206592},
		"hta-et-link/simple_add_et.json.gz":              {"aten::add", 2, 1048576},
	} {
		table := openTable(t, realDatabase(t, name))
		if calls, size := cell(t, table, want.operator, 1), cell(t, table, want.operator, 2); calls != want.calls || size != want.bytes {
			t.Errorf("%s: %s has %v calls and %v bytes, want %+v", name, want.operator, calls, size, want)
		}
	}
	s, err := Open(context.Background(), []string{realDatabase(t, "et-chakra/1.0.2-chakra.0.0.4_llama.tgz")}, Options{})
	if err != nil || len(s.FileTables) != 1 {
		t.Errorf("an archive: %v, %d tables", err, len(s.FileTables))
	}
}

// TestScaleneAndMemray read what the tools wrote of testdata/scalene/prog.py, whose time is in lines 5 and 8, and whose memory is in 8.
func TestScaleneAndMemray(t *testing.T) {
	table := openTable(t, "testdata/scalene/profile.json.gz")
	sum := 0.0
	for _, row := range table.Rows {
		sum += row[1].Number
		if parts := row[2].Number + row[3].Number + row[4].Number; parts < row[1].Number-1e-9 || parts > row[1].Number+1e-9 {
			t.Errorf("%+v: parts do not sum to the whole", row)
		}
	}
	if top := table.Rows[0][0].Text; top != "/home/user/prog.py:5" && top != "/home/user/prog.py:8" || sum < 0.5 || sum > 1.001 {
		t.Errorf("most time at %s, %.3f in all", top, sum)
	}
	if !strings.Contains(table.Sentence, "of prog.py: ") {
		t.Error(table.Sentence)
	}
	table = openTable(t, "testdata/memray/stats.json")
	if cell(t, table, "<listcomp>:prog.py:8", 1) != 6400848 || cell(t, table, "<listcomp>:prog.py:8", 3) != 6075 ||
		!strings.Contains(table.Sentence, "96 % of it at <listcomp>:prog.py:8") {
		t.Errorf("%s: %+v", table.Sentence, table.Rows)
	}
}

func TestDamagedTables(t *testing.T) {
	for text, kind := range map[string]string{
		`[[1,2,3],[[0,1,1,1,1,1,1,1,1],[0,2,2,2,2,2,2,2,2]`:                                                        "memory-timeline",
		`[[-1,1,100,0],[5,2,50,1],[6,4,-50,1],[7,9,1,1]]`:                                                          "memory-timeline",
		`{"schema":"1.0.1","nodes":[{"name":"aten::a","inputs":[[1,2,0,5,4,"cpu"]],"input_shapes":[[5]]},{"name":`: "execution-trace",
	} {
		s, err := Open(context.Background(), []string{write(t, filepath.Join(t.TempDir(), "x"), []byte(text))}, Options{})
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if in := s.Inputs[0]; in.Format != kind || len(in.Diagnostics) != 1 {
			t.Errorf("%s: %+v", text, in)
		}
	}
}

// FuzzFileTables: no text breaks the readers of tables.
func FuzzFileTables(f *testing.F) {
	f.Add([]byte(`[[1,2],[[0,1,1,1,1,1,1,1,1],[0,2,2,2,2,2,2,2,2]]]`))
	f.Add([]byte(`[[-1,1,100,0],[5,2,50,1],[6,4,-50,1]]`))
	f.Add([]byte(`{"schema":"1.1.0","nodes":[{"name":"aten::a","inputs":{"values":[[1,2,0,5,4,"cpu"]],"shapes":[[5]]}}]}`))
	f.Add([]byte(`{"alloc_samples":1,"elapsed_time_sec":2,"files":{"a.py":{"lines":[{"lineno":1,"n_cpu_percent_c":5}]}}}`))
	f.Add([]byte(`{"total_num_allocations":1,"total_bytes_allocated":2,"top_allocations_by_size":[{"location":"a","size":1}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, read := range []func(*opening, source, io.Reader) (func() error, error){readMemoryTimeline, readExecutionTrace,
			readScalene, readMemray} {
			o := &opening{s: &model.Session{Strings: &model.Strings{}}}
			add, err := read(o, source{path: "fuzz"}, bytes.NewReader(text))
			if err != nil {
				continue
			}
			if err := add(); err != nil {
				t.Fatal(err)
			}
			if err := o.s.Check(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
