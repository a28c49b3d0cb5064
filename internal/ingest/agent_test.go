package ingest

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

const factsJSON = `{"schema":"bottleneck.process/1","pid":7,"ppid":1,"host":"h","start_unix_ns":1000000,"start_mono_ns":500,"role":"rank",
"rank":3,"local_rank":1,"world_size":4,"worker_index":null,"argv":["python","x.py"],"python":"3.13.0","libc":"glibc 2.36","main_thread":7,
"threads_env":{"OMP_NUM_THREADS":"1"},"packages":{"torch":"2.15.0","numpy":"2.4.0"},
"torch":{"version":"2.15.0","cuda":null,"num_threads":2,"num_interop_threads":1},"gpus":[{"index":0,"name":"g","memory_bytes":5,"sms":2}],
"exit":{"unix_ns":2000000,"reason":"exit"},"agent":{"version":"1","cpu_ns":11,"longest_pause_ns":12},"unknown":[1]}`

func gzipMember(lines ...string) []byte {
	var out bytes.Buffer
	zip := gzip.NewWriter(&out)
	zip.Write([]byte(strings.Join(lines, "\n") + "\n"))
	zip.Close()
	return out.Bytes()
}

// processFolder writes a process's folder and reads it.
func processFolder(t testing.TB, facts string, events []byte) (*model.Session, *model.Process, error) {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "process.json"), []byte(facts), 0o600); err != nil {
		t.Fatal(err)
	}
	if events != nil {
		if err := os.WriteFile(filepath.Join(dir, "events.jsonl.gz"), events, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := &model.Session{Strings: &model.Strings{}}
	p, err := readProcess(dir, s)
	if err == nil {
		s.Processes = append(s.Processes, p)
		if err := s.Check(); err != nil {
			t.Fatalf("the session breaks its invariants: %v", err)
		}
	}
	return s, p, err
}

func TestReadProcess(t *testing.T) {
	first := gzipMember(
		`["clock",1000,5000000]`,
		`["loader",4,{"workers":2,"batch_size":16,"prefetch":2,"pin":true,"persistent":false,"dataset":"D","iterable":true,"length":null,"file":"/a.py","line":9}]`,
		`["span","import",100,900,7,"torch","/a.py",1]`,
		`["step",0,"train","optimizer",1000,2000,"warmup",16,7]`,
		`["step",1,"train","optimizer",2000,3000,"trace",null,7,555]`,
		`["wait",1000,1200,7,4,0]`,
		`["fetch",1000,1100,8,99,null,16]`,
		`["queue",1000,4,3]`, `["padding",1000,4,16,128,300,40]`, `["padding",1000,null,2,16,20,12,"/a.py",8]`,
		`["asked",1000,2,"#1.0",9,14,"/a.py",8,32,4,600,500]`, `["asked",1000,3,"",9,17,"/a.py",8]`,
		`["unused",1000,2,"Teacher","/a.py",8,[[36864,2],[64,4]]]`,
		`["unused",2000,2,"Teacher","/a.py",8,[]]`,
		`["updates",1000,1,62,16,32,2]`, `["saved",1000,1200,7,4096,8388608,"/a.py",8]`,
		`["denormal",1000,"Conv2d","/a.py",8,65536,4096,500]`, `["jacobian",1000,1100,1900,0,600,6,"/a.py",9]`,
		`["held",1500,4096,12,8192]`, `["held",1500,1,1]`, `["held",2000,null,13]`,
		`["pages",1500,300,20]`, `["pages",1500,301,20]`, `["pages",2000,400,30]`,
		`["future-kind",{"x":1}]`)
	second := gzipMember(
		`["clock",2001000,7000300]`, // the clock gains 300 ns in 2,000,000
		`["span","io",1001000,1001500,7,"torch.save","/a.py",30,"/m.pt",77]`,
		`["window",0,"detail",2000,3000,3100,1,2,40,"trace-0.json",null]`,
		`["stack",1,[["inner","/a.py",1,2],["outer","/a.py",5,6]]]`,
		`["stack",2,[["other","/a.py",8,9],["outer","/a.py",5,6]]]`,
		`["sample",2500,7,2]`, `["sample",2400,7,1]`,
		`["note",2500,"measured","done"]`,
		`["count","graph_breaks",3]`, `["count","graph_breaks",4]`)
	s, p, err := processFolder(t, factsJSON, append(first, second...))
	if err != nil {
		t.Fatal(err)
	}
	if p.PID != 7 || p.Role != model.RoleRank || p.Rank != 3 || p.LocalRank != 1 || p.WorldSize != 4 || p.WorkerIndex != -1 ||
		p.Torch != "2.15.0" || p.Start != 1000000 || p.End != 2000000 || p.Exit != "exit" || p.Own.LongestPause != 12 ||
		p.Own.AgentCPU != 11 || !p.Agent {
		t.Errorf("process %+v", p)
	}
	if len(p.Steps) != 2 || p.Steps[0].Start != 5000000 || p.Steps[0].Phase != model.PhaseWarmup || p.Steps[0].Items != 16 ||
		p.Steps[0].Thread != 7 || p.Steps[1].DeviceDur != 555 || p.Steps[1].Items != 0 || p.Steps[1].Source != model.StepOptimizer ||
		s.Strings.Text(p.Steps[1].Kind) != "train" {
		t.Errorf("steps %+v", p.Steps)
	}
	if len(p.Imports) != 1 || p.Imports[0].Start != 5000000-900 {
		t.Errorf("a time before the first clock pair: %+v", p.Imports)
	}
	io := p.Spans[len(p.Spans)-1]
	if io.Kind != model.SpanIO || io.Start != 5000000+1000000+150 || io.Value != 77 || s.Strings.Text(io.Detail) != "/m.pt" ||
		io.Line != 30 {
		t.Errorf("a time in the middle of two clock pairs takes half of their drift: %+v", io)
	}
	if p.Spans[0].Kind != model.SpanDataWait || p.Spans[0].Loader != 0 || p.Spans[1].Kind != model.SpanFetch || p.Spans[1].Loader != -1 ||
		p.Spans[1].Value != 16 {
		t.Errorf("spans %+v", p.Spans[:2])
	}
	if l := p.Loaders[0]; l.ID != 4 || l.Workers != 2 || l.Length != -1 || !l.Pin || !l.Iterable || l.Line != 9 ||
		s.Strings.Text(l.File) != "/a.py" {
		t.Errorf("loader %+v", l)
	}
	if j := p.Jacobians; len(j) != 1 || j[0].End-j[0].Start != 900 || j[0].Backward-j[0].Start != 100 || j[0].Outputs != 600 ||
		j[0].Inputs != 6 || j[0].ByRow || j[0].Line != 9 {
		t.Errorf("Jacobians %+v", j)
	}
	denormal := model.Denormal{Time: p.Queues[0].Time, Class: p.Denormals[0].Class, File: p.Denormals[0].File, Line: 8, Size: 65536,
		Read: 4096, Found: 500}
	if d := p.Denormals; len(d) != 1 || d[0] != denormal || s.Strings.Text(d[0].Class) != "Conv2d" || s.Strings.Text(d[0].File) != "/a.py" {
		t.Errorf("denormal numbers %+v", d)
	}
	updates := model.Updates{Time: p.Queues[0].Time, Optimizer: 1, Parameters: 62, Steps: 16, Backwards: 32, Optimizers: 2}
	if u := p.Unused; len(u) != 2 || u[0].Module != 2 || u[0].Line != 8 || u[0].Sizes[36864] != 2 || u[0].Sizes[64] != 4 ||
		u[1].Sizes != nil {
		t.Errorf("weights that nobody changes: %+v", u)
	}
	if len(p.Updates) != 1 || p.Updates[0] != updates {
		t.Errorf("updates %+v, want %+v", p.Updates, updates)
	}
	saved := model.Saved{Start: p.Queues[0].Time, End: p.Queues[0].Time + 200, Thread: 7, Used: 4096, Stored: 8 << 20,
		File: p.Spans[len(p.Spans)-1].File, Line: 8}
	if len(p.Saved) != 1 || p.Saved[0] != saved {
		t.Errorf("saved %+v, want %+v", p.Saved, saved)
	}
	filling := []model.Padding{{Time: p.Queues[0].Time, Rows: 16, Width: 128, Filled: 300, Longest: 40},
		{Time: p.Queues[0].Time, Loader: -1, File: p.Spans[len(p.Spans)-1].File, Line: 8, Rows: 2, Width: 16, Filled: 20, Longest: 12}}
	if !slices.Equal(p.Padding, filling) {
		t.Errorf("padding %+v, want %+v", p.Padding, filling)
	}
	asked := []model.Asked{{Time: p.Queues[0].Time, Module: 2, Inputs: p.Asked[0].Inputs, Weights: 9, File: filling[1].File, Line: 8,
		Rows: 32, Fewest: 4, Zeros: [2]int64{600, 500}, Trained: true, Random: true, Training: true},
		{Time: p.Queues[0].Time, Module: 3, Weights: 9, File: filling[1].File, Line: 8, Rows: -1, Fewest: -1, Gradients: true,
			Unread: true}}
	if !slices.Equal(p.Asked, asked) || s.Strings.Text(p.Asked[0].Inputs) != "#1.0" {
		t.Errorf("asked %+v, want %+v", p.Asked, asked)
	}
	if len(p.Queues) != 1 || p.Queues[0].Ready != 3 {
		t.Errorf("queues %+v", p.Queues)
	}
	inUse := []model.InUse{{At: 5000500, Bytes: 4096, Blocks: 12, Free: 8192}, {At: 5001000, Bytes: -1, Blocks: 13, Free: -1}}
	if !slices.Equal(p.InUse, inUse) {
		t.Errorf("in use %+v", p.InUse)
	}
	pages := []model.Pages{{At: 5000500, Faults: 300, Resident: 20}, {At: 5001000, Faults: 400, Resident: 30}}
	if !slices.Equal(p.Pages, pages) {
		t.Errorf("pages %+v", p.Pages)
	}
	if w := p.Windows[0]; w.Phase != model.PhaseDetail || w.FirstStep != 1 || w.EndStep != 2 || w.Events != 40 ||
		w.File != "trace-0.json" || w.End <= w.Start {
		t.Errorf("window %+v", w)
	}
	if p.Counters["graph_breaks"] != 4 || p.Notes[0].Code != "measured" {
		t.Errorf("counters %v, notes %+v", p.Counters, p.Notes)
	}
	if n := p.Samples.Len(); n != 2 || p.Samples.Time[0] >= p.Samples.Time[1] || len(p.Samples.Stacks.Frame) != 3 {
		t.Errorf("%d samples, shared outer frame: %+v", n, p.Samples.Stacks)
	}
	e := s.Environment
	if e.Torch != "2.15.0" || e.Threads["OMP_NUM_THREADS"] != "1" || e.Threads["torch.get_num_threads"] != "2" || len(e.GPUs) != 1 ||
		e.Packages[0].Name != "numpy" || e.Libc != "glibc 2.36" {
		t.Errorf("environment %+v", e)
	}
	if in := s.Inputs[0]; in.Format != "agent" || in.Counts["step"] != 2 || len(in.Diagnostics) != 0 {
		t.Errorf("input %+v", in)
	}
}

func TestWorkersDoNotSpeakForTheProgram(t *testing.T) {
	s, _, err := processFolder(t, strings.Replace(factsJSON, `"role":"rank"`, `"role":"worker"`, 1), nil)
	if err != nil || s.Environment.Torch != "" || s.Environment.Threads != nil {
		t.Errorf("environment %+v from a worker, %v", s.Environment, err)
	}
}

func TestReadProcessSalvagesDamage(t *testing.T) {
	lines := func(n int64) []byte {
		return gzipMember(`["clock",1000,5000000]`, strings.ReplaceAll(`["step",N,"train","optimizer",N000,N900,"baseline"]`,
			"N", string(rune('0'+n))))
	}
	one, two, three := lines(1), lines(2), lines(3)
	broken := bytes.Clone(two)
	broken[len(broken)/2] ^= 0x55
	for name, c := range map[string]struct {
		data  []byte
		steps []int64
		bad   bool
	}{
		"whole":             {bytes.Join([][]byte{one, two, three}, nil), []int64{1, 2, 3}, false},
		"cut in the last":   {bytes.Join([][]byte{one, two, three[:len(three)/2]}, nil), []int64{1, 2}, true},
		"middle is damaged": {bytes.Join([][]byte{one, broken, three}, nil), []int64{1, 3}, true},
		"rubbish first":     {bytes.Join([][]byte{[]byte("rubbish"), one}, nil), []int64{1}, true},
		"zeros at the end":  {bytes.Join([][]byte{one, make([]byte, 100)}, nil), []int64{1}, true},
	} {
		s, p, err := processFolder(t, factsJSON, c.data)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var numbers []int64
		for _, step := range p.Steps {
			numbers = append(numbers, step.Number)
		}
		// A damaged member may still give its first lines: only steps of whole members are certain.
		for _, want := range c.steps {
			found := false
			for _, n := range numbers {
				found = found || n == want
			}
			if !found {
				t.Errorf("%s: step %d is lost; have %v", name, want, numbers)
			}
		}
		if damaged := len(s.Inputs[0].Diagnostics) > 0; damaged != c.bad {
			t.Errorf("%s: diagnostics %+v", name, s.Inputs[0].Diagnostics)
		}
	}
}

func TestReadProcessRefusesOnlyTheUnusable(t *testing.T) {
	if _, _, err := processFolder(t, `{"pid":`, nil); err == nil || !strings.Contains(err.Error(), "process.json") {
		t.Errorf("damaged process.json: %v", err)
	}
	if _, p, err := processFolder(t, `{"pid":5}`, nil); err != nil || p.PID != 5 || p.Rank != model.NoRank || p.Role != model.RoleOther {
		t.Errorf("no events: %+v, %v", p, err)
	}
	_, p, err := processFolder(t, factsJSON, gzipMember(`[]`, `{`, `["step",1]`, `["step",1,"t","optimizer",9,3,"baseline"]`,
		`["wait",null,5]`, `["loader",1,7]`, `["sample",1,1,1]`, `["stack",1,"x"]`, `["span","gc",1e300,2]`, `["count","x","y"]`, `["padding",1,4,8,16,300,40]`, `["asked",1,0,"#1.0",9,6,"/a.py",8]`, `["updates",1,0,62,16,32,2]`, `["updates",1,1,-62,16,32,2]`,
		`["unused",1,2,"T","/a.py",8,[[0,1]]]`, `["unused",1,2,"T","/a.py",8]`,
		`["denormal",1,"C","/a.py",8,9,0,0]`, `["denormal",1,"C","/a.py",8,9,5,6]`, `["denormal",1,"C","/a.py",8,4,5,1]`,
		`["jacobian",3,1,9,0,6,6,"/a.py",9]`, `["jacobian",1,3,2,0,6,6,"/a.py",9]`, `["jacobian",1,2,3,2,6,6,"/a.py",9]`,
		`["jacobian",1,2,3,0,0,6,"/a.py",9]`, `["jacobian",null,2,3,0,6,6,"/a.py",9]`, `["jacobian",1,2,3]`,
		`["saved",9,3,7,1,2,"/a.py",8]`, `["saved",1,3,7,-1,2,"/a.py",8]`, `["saved",1,3,7,2,2,"/a.py",8]`, `["saved",1,3,7]`,
		`["window",1,"other",1,2]`, `["step",5,"t","optimizer",0,100,"baseline"]`, `["step",6,"t","optimizer",50,200,"baseline"]`))
	if err != nil || len(p.Steps) != 1 || p.Steps[0].Number != 5 || len(p.Saved)+len(p.Denormals)+len(p.Jacobians) > 0 {
		t.Errorf("lines that make no sense, overlapping steps: %+v, %v", p, err)
	}
}

// Of a program of very many fast steps some have no row; their numbers tell how many.
func TestStepsWithoutRows(t *testing.T) {
	_, p, err := processFolder(t, factsJSON, gzipMember(`["clock",1000,5000000]`, `["step",4,"t","period",1000,1100,"baseline"]`,
		`["step",5,"t","period",1100,1200,"baseline"]`, `["step",62,"t","period",6900,7000,"baseline"]`,
		`["step",62,"t","period",7000,7100,"baseline"]`))
	if err != nil || len(p.Steps) != 4 {
		t.Fatalf("%+v, %v", p, err)
	}
	for i, want := range []int{1, 57, 1, 1} {
		if got := p.Steps[i].Count(); got != want {
			t.Errorf("step %d stands for %d, want %d", i, got, want)
		}
	}
}

func FuzzReadProcess(f *testing.F) {
	f.Add([]byte(`["step",1,"train","optimizer",1000,2000,"baseline"]`), []byte("x"), 3)
	f.Add([]byte(`["stack",1,[["f","g",1,2]]]`+"\n"+`["sample",1,2,1]`), []byte{0x1f, 0x8b, 8, 0}, 0)
	f.Add([]byte(`["loader",1,{}]`+"\n"+`["wait",1,2,3,1,0]`+"\n"+`["queue",1,1,1]`), []byte{}, 10)
	f.Fuzz(func(t *testing.T, lines, tail []byte, cut int) {
		data := gzipMember(string(lines))
		if cut > 0 && cut < len(data) {
			data = data[:len(data)-cut]
		}
		processFolder(t, factsJSON, append(data, tail...))
	})
}

// TestSplitRow compares the elements of a line with what encoding/json makes of it.
func TestSplitRow(t *testing.T) {
	for _, line := range []string{
		`["step",1,null,-2.5e3]`, ` [ "a\"b\\" , [1,{"x":[2,"]"]}] , {} ]` + "\r", `[]`, `[[]]`, `["",""]`,
		"[\"\u00e9\",\"\\u00e9\"]", `[1`, `{"a":1}`, `null`, ``, `[1]2`, `[1,]`, `"["`,
		"[\"\xff\"]"} {
		var want row
		wantOK := json.Unmarshal([]byte(line), &want) == nil && want != nil
		got, ok := splitRow([]byte(line), nil)
		if ok != wantOK || ok && len(got) != len(want) {
			t.Errorf("%q: %d elements, %v; want %d, %v", line, len(got), ok, len(want), wantOK)
			continue
		}
		for i := range want {
			if !ok {
				break
			}
			var text string
			_ = json.Unmarshal(want[i], &text)
			if !bytes.Equal(got[i], want[i]) || text != "" && got.text(i) != text {
				t.Errorf("%q, element %d: %s, want %s; as text %q, want %q", line, i, got[i], want[i], got.text(i), text)
			}
		}
	}
	for text, want := range map[string]int64{
		"0": 0, "-7": -7, "999999999999999999": 999999999999999999,
		"9223372036854775807": 1<<63 - 1, "1e3": 1000, "2.9": 2,
	} {
		if n, ok := (row{json.RawMessage(text)}).integer(0); !ok || n != want {
			t.Errorf("%s: %d, %v", text, n, ok)
		}
	}
	if n, ok := (row{json.RawMessage("1e19")}).integer(0); ok {
		t.Errorf("1e19: %d", n)
	}
}
