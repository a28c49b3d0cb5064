package ingest

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

func openRocprof(t *testing.T, paths ...string) *model.Session {
	t.Helper()
	s, err := Open(context.Background(), paths, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	return s
}

// kernelNs sums the kernels of a trace by name.
func kernelNs(s *model.Session, tr *model.Trace) map[string]model.Dur {
	out := map[string]model.Dur{}
	for i, kind := range tr.Events.Kind {
		if kind == model.KindKernel {
			out[s.Strings.Text(tr.Events.Name[i])] += tr.Events.Dur[i]
		}
	}
	return out
}

// TestRocprofTables: the tables of one process become one trace, with grids in work groups; those of others stand alone.
func TestRocprofTables(t *testing.T) {
	const dir = "testdata/rocprof/"
	s := openRocprof(t, dir+"7_kernel_trace.csv", dir+"7_memory_copy_trace.csv", dir+"15_hip_trace.csv", dir+"717_marker_api_trace.csv")
	if len(s.Traces) != 3 || len(s.Inputs) != 4 {
		t.Fatalf("%d traces of %d files", len(s.Traces), len(s.Inputs))
	}
	n, _ := countKinds(s.Traces[0])
	if n[model.KindKernel] != 8 || n[model.KindMemcpy] != 4 {
		t.Errorf("%v", n)
	}
	if ns := kernelNs(s, s.Traces[0])["subtract_kernel(float*, float const*, float const*, int, int)"]; ns != 10464+10905 {
		t.Errorf("subtract_kernel took %d ns", ns)
	}
	ev := &s.Traces[0].Events
	for i, kind := range ev.Kind {
		if a := ev.DeviceArgsOf(ev.Detail[i]); kind == model.KindKernel &&
			(a.Grid != [3]int32{16, 1024, 1} || a.Block != [3]int32{64, 1, 1}) {
			t.Errorf("grid %v, block %v", a.Grid, a.Block)
		}
	}
	if n, _ := countKinds(s.Traces[1]); n[model.KindRuntime] != 7 {
		t.Errorf("%v", n)
	}
	if n, _ := countKinds(s.Traces[2]); n[model.KindAnnotation] != 5 {
		t.Errorf("%v", n)
	}
	for _, in := range s.Inputs {
		if in.Format != "rocprof" || len(in.Diagnostics) > 0 {
			t.Errorf("%+v", in)
		}
	}
}

// TestRocprofLaunches: a kernel is linked to its launch, which stands in another file.
func TestRocprofLaunches(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "9_kernel_trace.csv"), []byte(
		"\"Kind\",\"Agent_Id\",\"Queue_Id\",\"Kernel_Name\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"+
			"\"KERNEL_DISPATCH\",\"Agent 4\",1,\"gemm\",7,3000,4000\n"))
	write(t, filepath.Join(dir, "9_hip_api_trace.csv"), []byte(
		"\"Domain\",\"Function\",\"Process_Id\",\"Thread_Id\",\"Correlation_Id\",\"Start_Timestamp\",\"End_Timestamp\"\n"+
			"\"HIP_RUNTIME_API\",\"hipLaunchKernel\",9,9,7,1000,2000\n"))
	s := openRocprof(t, dir)
	if len(s.Traces) != 1 {
		t.Fatalf("%d traces", len(s.Traces))
	}
	ev := &s.Traces[0].Events
	for i, kind := range ev.Kind {
		if kind == model.KindKernel && (ev.Link[i] == model.NoEvent || s.Strings.Text(ev.Name[ev.Link[i]]) != "hipLaunchKernel" ||
			s.Traces[0].Lanes[ev.Lane[i]].Device != 4) {
			t.Errorf("kernel linked to %d on device %d", ev.Link[i], s.Traces[0].Lanes[ev.Lane[i]].Device)
		}
	}
}

// TestOldRocprof: results.csv and results.json of the same run agree.
func TestOldRocprof(t *testing.T) {
	for _, name := range []string{"results.csv", "results.json"} {
		s := openRocprof(t, "testdata/rocprof/"+name)
		ev := &s.Traces[0].Events
		for i, kind := range ev.Kind {
			if kind != model.KindKernel || ev.Start[i] != 429844056687118 {
				continue
			}
			if a := ev.DeviceArgsOf(ev.Detail[i]); ev.Dur[i] != 68942 || a.Grid[0] != 14336 || a.Registers != 28 || a.Device != 2 {
				t.Errorf("%s: %d ns, %+v", name, ev.Dur[i], a)
			}
			if strings.Contains(s.Strings.Text(ev.Name[i]), "clone") {
				t.Error(s.Strings.Text(ev.Name[i]))
			}
		}
		if n, _ := countKinds(s.Traces[0]); n[model.KindKernel] == 0 || s.Inputs[0].Format != "rocprof" {
			t.Errorf("%s: %v", name, n)
		}
	}
}

func TestRocprofCounters(t *testing.T) {
	s := openRocprof(t, "testdata/rocprof/counter_collection.csv")
	r := s.Traces[0].Ranges
	if len(r) != 4 || r[0].Value != 16384 || s.Strings.Text(r[3].Name) != "divide_kernel(float*, float const*, float const*, int, int)" ||
		s.Strings.Text(r[3].Key) != "SQ_WAVES" {
		t.Errorf("%+v", r)
	}
	table := openTable(t, "testdata/rocprof/hip_api_stats.csv")
	if cell(t, table, "hipHostMalloc", 2) != 6096409 || cell(t, table, "hipHostMalloc", 3) != 12 || table.Name != tableAPISummary {
		t.Errorf("%+v", table)
	}
}

const rocJSON = `{"rocprofiler-sdk-tool":[{"metadata":{"node":{"hostname":"mi"},"pid":42},"agents":[{"id":{"handle":1},"type":1},` +
	`{"id":{"handle":17},"type":2,"product_name":"AMD Instinct MI300X","cu_count":304}],"strings":{"buffer_records":[{"kind":"NONE",` +
	`"operations":[]},{"kind":"HIP_RUNTIME_API","operations":["none","hipLaunchKernel"]},{"kind":"MEMORY_COPY","operations":["NONE",` +
	`"MEMORY_COPY_HOST_TO_DEVICE"]},{"kind":"MARKER_CORE_API","operations":["roctxRangePushA"]}],"marker_api":[{"key":3,"value":"step"}]},` +
	`"kernel_symbols":[{"kernel_id":10,"kernel_name":"_Zgemm.kd","formatted_kernel_name":"gemm(float*)","arch_vgpr_count":40}],` +
	`"buffer_records":{"kernel_dispatch":[{"size":184,"kind":11,"operation":2,"thread_id":100,"correlation_id":{"internal":1,"external":0},` +
	`"start_timestamp":1000,"end_timestamp":1800,"dispatch_info":{"agent_id":{"handle":17},"queue_id":{"handle":1},"kernel_id":10,` +
	`"group_segment_size":512,"workgroup_size":{"x":64,"y":1,"z":1},"grid_size":{"x":256,"y":1,"z":1}},"stream_id":{"handle":3}}],` +
	`"hip_api":[{"kind":1,"operation":1,"thread_id":100,"correlation_id":{"internal":1},"start_timestamp":500,"end_timestamp":700}],` +
	`"marker_api":[{"kind":3,"operation":0,"thread_id":100,"correlation_id":{"internal":3},"start_timestamp":400,"end_timestamp":2000}],` +
	`"memory_copy":[{"kind":2,"operation":1,"correlation_id":{"internal":2},"start_timestamp":2000,"end_timestamp":3000,` +
	`"src_agent_id":{"handle":1},"dst_agent_id":{"handle":17},"bytes":4096}]}}]}`

func TestRocprofJSON(t *testing.T) {
	s := openRocprof(t, write(t, filepath.Join(t.TempDir(), "x"), []byte(rocJSON)))
	tr := s.Traces[0]
	n, _ := countKinds(tr)
	if n[model.KindKernel] != 1 || n[model.KindMemcpy] != 1 || n[model.KindRuntime] != 1 || n[model.KindAnnotation] != 1 {
		t.Errorf("%v", n)
	}
	ev := &tr.Events
	for i, kind := range ev.Kind {
		switch a := ev.DeviceArgsOf(ev.Detail[i]); kind {
		case model.KindKernel:
			if a.Grid[0] != 4 || a.Registers != 40 || a.SharedBytes != 512 || ev.Link[i] == model.NoEvent ||
				s.Strings.Text(ev.Name[i]) != "gemm(float*)" || tr.Lanes[ev.Lane[i]].Stream != 3 {
				t.Errorf("%+v", a)
			}
		case model.KindMemcpy:
			if a.Bytes != 4096 || s.Strings.Text(ev.Name[i]) != "Memcpy HtoD" {
				t.Errorf("%+v", a)
			}
		}
	}
	if tr.Header.Host != "mi" || len(tr.Header.Devices) != 1 || tr.Header.Devices[0].SMs != 304 {
		t.Errorf("%+v", tr.Header)
	}
}

// TestRocpd reads rocprofv3's database in both forms of its schema: times in the rows, and in tables of their own.
func TestRocpd(t *testing.T) {
	const id = "_00003fdc_92cb"
	common := "CREATE TABLE `rocpd_string" + id + "`(id INTEGER PRIMARY KEY, string TEXT);CREATE TABLE `rocpd_info_agent" + id +
		"`(id INTEGER PRIMARY KEY, type TEXT, product_name TEXT, name TEXT);CREATE TABLE `rocpd_info_kernel_symbol" + id +
		"`(id INTEGER PRIMARY KEY, display_name TEXT, kernel_name TEXT, arch_vgpr_count INT);CREATE TABLE `rocpd_event" + id +
		"`(id INTEGER PRIMARY KEY, category_id INT, stack_id INT);CREATE TABLE `rocpd_info_process" + id +
		"`(id INTEGER PRIMARY KEY, pid INT);INSERT INTO `rocpd_string" + id + "` VALUES (1,'HIP_RUNTIME_API'),(2,'hipLaunchKernel');" +
		"INSERT INTO `rocpd_info_agent" + id + "` VALUES (1,'CPU','c','c'),(5,'GPU','MI300','g');INSERT INTO " +
		"`rocpd_info_kernel_symbol" + id + "` VALUES (9,'gemm','_Zgemm.kd',44);INSERT INTO `rocpd_event" + id + "` VALUES (1,1,77),(2,NULL,77);INSERT INTO " +
		"`rocpd_info_process" + id + "` VALUES (3,4242);"
	for form, sql := range map[string]string{
		"rows": "CREATE TABLE `rocpd_region" + id + "`(start BIGINT, end BIGINT, pid INT, tid INT, name_id INT, event_id INT);" +
			"CREATE TABLE `rocpd_kernel_dispatch" + id + "`(pid INT, agent_id INT, queue_id INT, stream_id INT, start BIGINT, " +
			"end BIGINT, kernel_id INT, event_id INT, workgroup_size_x INT, grid_size_x INT);INSERT INTO `rocpd_region" + id +
			"` VALUES (1000,2000,3,1,2,1);INSERT INTO `rocpd_kernel_dispatch" + id + "` VALUES (3,5,1,2,3000,3600,9,2,64,640);",
		"tables": "CREATE TABLE `rocpd_timestamp" + id + "`(id INTEGER PRIMARY KEY, value BIGINT);CREATE TABLE `rocpd_track" + id +
			"`(id INTEGER PRIMARY KEY, pid INT, tid INT, agent_id INT, queue_id INT, stream_id INT);CREATE TABLE `rocpd_region" + id +
			"`(track_id INT, start_id INT, end_id INT, name_id INT, event_id INT);CREATE TABLE `rocpd_kernel_dispatch" + id +
			"`(track_id INT, start_id INT, end_id INT, kernel_id INT, event_id INT, workgroup_size_x INT, grid_size_x INT);INSERT INTO " +
			"`rocpd_timestamp" + id + "` VALUES (1,1000),(2,2000),(3,3000),(4,3600);INSERT INTO `rocpd_track" + id +
			"` VALUES (1,3,1,NULL,NULL,NULL),(2,3,NULL,5,1,2);INSERT INTO `rocpd_region" + id + "` VALUES (1,1,2,2,1);INSERT INTO " +
			"`rocpd_kernel_dispatch" + id + "` VALUES (2,3,4,9,2,64,640);",
	} {
		s := openRocprof(t, database(t, "", common+sql))
		ev := &s.Traces[0].Events
		for i, kind := range ev.Kind {
			lane := &s.Traces[0].Lanes[ev.Lane[i]]
			if kind == model.KindKernel && (ev.Start[i] != 3000 || ev.Dur[i] != 600 || ev.Link[i] == model.NoEvent || lane.Stream != 2 ||
				ev.DeviceArgsOf(ev.Detail[i]).Grid[0] != 10 || s.Strings.Text(ev.Name[i]) != "gemm") {
				t.Errorf("%s: at %d for %d, linked to %d, stream %d", form, ev.Start[i], ev.Dur[i], ev.Link[i], lane.Stream)
			}
		}
		if n, _ := countKinds(s.Traces[0]); n[model.KindKernel] != 1 || n[model.KindRuntime] != 1 {
			t.Errorf("%s: %v", form, n)
		}
	}
}

// csvSamples are tables of profilers, for tests of what every reader of them owes.
func csvSamples(t testing.TB) map[string]string {
	out := map[string]string{"json": rocJSON}
	files, err := filepath.Glob("testdata/*/*.csv")
	if err != nil || len(files) == 0 {
		t.Fatal("no samples")
	}
	for _, path := range append(files, "testdata/rocprof/results.json") {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		out[path] = string(text)
	}
	return out
}

// TestCutTablesOfProfilers cuts each sample at every fiftieth: it opens or says why not, and never has more rows than before.
func TestCutTablesOfProfilers(t *testing.T) {
	for name, text := range csvSamples(t) {
		whole, format := int64(0), ""
		for cut := 50; cut >= 1; cut-- {
			path := write(t, filepath.Join(t.TempDir(), "x"), []byte(text[:len(text)*cut/50]))
			s, err := Open(context.Background(), []string{path}, Options{})
			if err != nil {
				continue
			}
			if err := s.Check(); err != nil {
				t.Fatalf("%s at %d/50: %v", name, cut, err)
			}
			in := &s.Inputs[0]
			if cut == 50 {
				whole, format = in.Events, in.Format
				if len(in.Diagnostics) > 0 || whole == 0 {
					t.Errorf("%s: whole, yet %+v", name, in)
				}
			}
			if in.Format == format && in.Events > whole {
				t.Errorf("%s at %d/50: %d rows of %d", name, cut, in.Events, whole)
			}
		}
	}
}

// TestPackedAndRenamedTables: formats are known by content, compressed or not.
func TestPackedAndRenamedTables(t *testing.T) {
	for name, text := range csvSamples(t) {
		plain, err := Open(context.Background(), []string{write(t, filepath.Join(t.TempDir(), "unknown"), []byte(text))}, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		packed, err := Open(context.Background(), []string{write(t, filepath.Join(t.TempDir(), "p"), gzipped(t, text))}, Options{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		behind := []byte("==12== NVPROF, or ncu\r\nmy program's output, here\n" + text)
		logged, err := Open(context.Background(), []string{write(t, filepath.Join(t.TempDir(), "l"), behind)}, Options{})
		if !strings.HasPrefix(text, "{") && (err != nil || logged.Inputs[0].Events != plain.Inputs[0].Events) {
			t.Errorf("%s behind lines of a log: %v", name, err)
		}
		if a, b := plain.Inputs[0], packed.Inputs[0]; a.Format != b.Format || a.Events != b.Events {
			t.Errorf("%s: %+v, packed %+v", name, a, b)
		}
	}
}

// FuzzTablesOfProfilers: whatever stands in such a table, the model stays whole.
func FuzzTablesOfProfilers(f *testing.F) {
	for _, text := range csvSamples(f) {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Open(context.Background(), []string{"-"}, Options{Stdin: strings.NewReader(string(text))})
		if err != nil {
			return
		}
		if err := s.Check(); err != nil {
			t.Fatal(err)
		}
	})
}

// TestHostileTables: long lines, many columns and odd numbers cost no more than their text, and are said.
func TestHostileTables(t *testing.T) {
	heading := "\"Kernel_Name\",\"Start_Timestamp\",\"End_Timestamp\"\n"
	for name, text := range map[string]string{
		"a long line":  heading + "a,1,2\n" + strings.Repeat("x", 64<<20) + "\nb,3,4\n",
		"other widths": heading + "a,1,2\n" + strings.Repeat("1,2\n", 100_000) + "b,3,4\n",
		"odd numbers":  heading + "a,1,2\nc,9223372036854775807,-9223372036854775808\nc,nan,1e400\nb,3,4\n",
		"many columns": heading + "a,1,2\n" + strings.Repeat(",", 1<<20) + "\nb,3,4\n",
	} {
		var s *model.Session
		path := write(t, filepath.Join(t.TempDir(), "x"), []byte(text))
		used := memoryOf(func() { s = openRocprof(t, path) })
		if len(s.Inputs[0].Diagnostics) == 0 || used > 64<<20 {
			t.Errorf("%s: %d MB, %+v", name, used>>20, s.Inputs[0])
		}
		if ns := kernelNs(s, s.Traces[0]); ns["a"] != 1 || ns["b"] != 1 {
			t.Errorf("%s: %v", name, ns)
		}
	}
}
