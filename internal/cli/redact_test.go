package cli

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// secretProgram has a secret in every place of a program that a recording may see. Without PyTorch it leaves that part out.
const secretProgram = `import os, subprocess, sys, threading, time
folder = "data PLANTEDfolderspace (old) [PLANTEDbracket]"
os.makedirs(folder, exist_ok=True)
os.makedirs("pythonPLANTEDfolder", exist_ok=True)
open("pythonPLANTEDfolder/helperPLANTEDmodule.py", "w").write("def workPLANTEDhelper(end):\n import time\n while time.monotonic() < end: sum(range(2000))\n")
sys.path.insert(0, "pythonPLANTEDfolder")
import helperPLANTEDmodule
class NetPLANTEDclass:
    def stepPLANTEDfunction(self):
        end = time.monotonic() + 0.4
        while time.monotonic() < end:
            sum(i * i for i in range(2000))
def run():
    child = subprocess.Popen([sys.executable, "-c", "import time; key = 'PLANTEDcode'; time.sleep(0.6)", "--password", "PLANTEDchildargument",
        "~/PLANTEDtilde/x", "s3://PLANTEDbucket/key", r"\\PLANTEDserver\share", "relative/PLANTEDrelative", "/data/PLANTED space/x y.bin"])
    thread = threading.Thread(target=lambda: helperPLANTEDmodule.workPLANTEDhelper(time.monotonic() + 0.4), name="PLANTEDthread")
    thread.start()
    exec(compile("import time\nend = time.monotonic() + 0.3\nwhile time.monotonic() < end: sum(range(999))\n", "<PLANTEDtext>", "exec"))
    NetPLANTEDclass().stepPLANTEDfunction()
    thread.join()
    child.wait()
try:
    import torch
except ImportError:
    torch = None
def train():
    class ModelPLANTEDmodule(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layerPLANTEDattribute = torch.nn.Linear(64, 64)
        def forward(self, x):
            with torch.profiler.record_function("region PLANTEDregion 4711"):
                return torch.einsum("ij,kj->ik", x, self.layerPLANTEDattribute(x))
    class DataPLANTEDset(torch.utils.data.Dataset):
        def __len__(self): return 400
        def __getitem__(self, i): return torch.ones(64)
    class FnPLANTEDautograd(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x): return x * 2
        @staticmethod
        def backward(ctx, g): return g * 2
    lib = torch.library.Library("opsPLANTEDlibrary", "DEF")
    lib.define("scalePLANTEDop(Tensor x, str name) -> Tensor")
    lib.impl("scalePLANTEDop", lambda x, name: x * 3, "CompositeExplicitAutograd")
    model = ModelPLANTEDmodule()
    for epoch in range(3):
        for x in torch.utils.data.DataLoader(DataPLANTEDset(), 8):
            y = FnPLANTEDautograd.apply(model(x))
            y = torch.ops.opsPLANTEDlibrary.scalePLANTEDop(y, "PLANTEDinput")
            y.mean().backward()
        torch.save(model.state_dict(), os.path.join(folder, "PLANTEDcheckpoint.pt"))
    with torch.profiler.profile(record_shapes=True, with_stack=True) as p:
        p.add_metadata("PLANTEDmetakey", "PLANTEDmetavalue")
        for i in range(3):
            model(torch.ones(8, 64)).sum().backward()
    p.export_chrome_trace(os.path.join(folder, "PLANTEDtrace.json"))
run()
if torch is not None:
    train()
print("done")
`

// plant puts secrets where this program and this machine cannot bring them by themselves: fields of GPUs and clusters, fields that nobody
// knows, files that no session has.
func plant(t *testing.T, dir string) {
	t.Helper()
	edit := func(pattern string, change func(doc map[string]any)) {
		files, _ := filepath.Glob(filepath.Join(dir, pattern))
		for _, file := range files {
			text, err := os.ReadFile(file)
			var doc map[string]any
			if err != nil || json.Unmarshal(text, &doc) != nil {
				t.Fatalf("%s: %v", file, err)
			}
			change(doc)
			text, _ = json.Marshal(doc)
			if err := os.WriteFile(file, text, 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	edit("manifest.json", func(doc map[string]any) { doc["job"], doc["PLANTEDkey"] = "slurm-PLANTEDjob", "PLANTEDmanifest" })
	edit("launcher-*/launcher.json", func(doc map[string]any) {
		doc["notes"] = []any{map[string]any{"code": "PLANTED code", "text": "could not write /home/PLANTEDnote/x y"}}
		doc["PLANTEDunknown"] = []any{"PLANTEDvalue", 4711081500}
		machine := doc["machine_before"].(map[string]any)
		machine["cpu_model"] = "PLANTEDcpu"
		machine["thread_settings"] = map[string]any{"LD_PRELOAD": "/opt/PLANTEDpreload/libPLANTEDhook.so", "PLANTEDvariable": "1",
			"MALLOC_CONF": "PLANTEDmalloc:1"}
		doc["flags"] = map[string]any{"metadata": "PLANTEDflag=PLANTEDflagvalue", "python": "/PLANTEDpython/bin/python3", "rate": "100"}
	})
	edit("*/process.json", func(doc map[string]any) {
		doc["packages"] = map[string]any{"PLANTEDpackage": "1.0", "numpy": "2.0.0", "torch": "PLANTEDversion"}
		doc["exit"] = map[string]any{"unix_ns": 1, "reason": "PLANTED reason"}
		doc["gpu_profiling"] = map[string]any{"taken_by": "/PLANTEDtool/lib.so"}
		doc["torch"] = map[string]any{"version": "2.15.0", "parallel_info": "host PLANTEDparallel", "num_threads": 2}
	})
	folders, _ := filepath.Glob(filepath.Join(dir, "[!l]*-*-*"))
	if len(folders) == 0 {
		t.Fatal("no process folder")
	}
	trace := `{"host_name": "PLANTEDhost", "traceName": "/PLANTEDtracename/x", "PLANTEDtop": {"PLANTEDdeep": [1, "PLANTEDdeepvalue", 4711081500]}, "distributedInfo": ` +
		`{"backend": "nccl", "rank": 0, "world_size": 2, "pg_config": [{"pg_name": "PLANTEDgroup", "pg_desc": "PLANTEDdesc", "ranks": [0, 1]}]}, "traceEvents": [` +
		`{"ph": "X", "cat": "kernel", "name": "myPLANTEDgemm_kernel<float>", "pid": 0, "tid": 7, "ts": 100, "dur": 30, "args": {"stream": 7, "correlation": 4, "PLANTEDarg": "PLANTEDargvalue", "Collective name": "PLANTEDcollective", "Process Group Name": "PLANTEDpg"}},` +
		`{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 90, "dur": 50, "args": {"External id": 1, "Concrete Inputs": ["PLANTEDconcrete", "1"], "Input type": ["PLANTEDtype", "float"], "Call stack": "/a b/PLANTEDstack.py(1): fPLANTEDframe;C:\\PLANTEDdrive\\x.py(2): g", "Module Hierarchy": "PLANTEDhierarchy"}},` +
		`{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "PLANTEDprocessname", "labels": "PLANTEDlabel"}},` +
		`{"ph": "X", "cat": "PLANTEDcat", "name": "nn.Module: PLANTEDnnmodule_0", "pid": "PLANTEDpid", "tid": "PLANTEDtid", "ts": 91, "dur": 1, "id": "PLANTEDid"},` +
		`{"ph": "X", "cat": "cpu_op", "name": "cut off PLANTEDcut`
	events := `["note",1,"PLANTED-code","PLANTEDnotetext"]` + "\n" + `["PLANTEDrow",1,"PLANTEDrowvalue",4711081500]` + "\n" +
		`["span","region",1,2,3,"PLANTEDspan","/x y/PLANTEDspanfile.py",3,"PLANTEDdetail"]` + "\n" + `["count","PLANTEDcounter",3]` + "\n" +
		`["count","action_ns:[Callback]PLANTEDaction.step",3]` + "\n" +
		`["window",9,"trace",1,2,3,1,2,9,"/x/PLANTEDwindow.json","PLANTEDerror"]` + "\n" + `["PLANTEDdamage` + "\n"
	for name, text := range map[string]string{"trace-9.json.gz": trace, "events.jsonl.gz": events,
		"modules-9.json.gz":     `{"schema":"bottleneck.modules/1","start_unix_ns":1,"names":[["Net.PLANTEDpath.conv","PLANTEDclass"]],"threads":{"PLANTEDtidkey":[0,1,2]}}`,
		"calls-actions.json.gz": `{"schema":"bottleneck.calls-actions/1","functions":[["/x/PLANTEDcallfile.py",1,"PLANTEDcall"]],"actions":[{"name":"PLANTEDactionname","measured":1,"functions":[[0,1,1,1,1]]}]}`,
		"memory-9-cpu.json.gz":  `[[1,1,64,0],["PLANTEDmemory",1,64,0]]`} {
		appendZipped(t, filepath.Join(folders[0], name), text)
	}
	for _, name := range []string{"notes-PLANTEDstray.txt", "launcher.json.bak", "core", filepath.Base(folders[0]) + "/secret-PLANTEDfile",
		filepath.Base(folders[0]) + "/trace-1.ready", "PLANTEDdir/x"} {
		path := filepath.Join(dir, name)
		_ = os.MkdirAll(filepath.Dir(path), 0o700)
		if err := os.WriteFile(path, []byte("PLANTEDstraytext"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// appendZipped adds a gzip member to a file, which it makes where there is none.
func appendZipped(t *testing.T, path, text string) {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write(b.Bytes()); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
}

// archived gives every entry of a packed session, decompressed, by its name.
func archived(t *testing.T, path string) map[string][]byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := zstd.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	out := map[string][]byte{}
	for in := tar.NewReader(z); ; {
		header, err := in.Next()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		out[header.Name] = opened(t, header.Name, text)
	}
}

// opened is a text without its compression.
func opened(t *testing.T, name string, text []byte) []byte {
	t.Helper()
	var all bytes.Buffer
	switch {
	case strings.HasSuffix(name, ".gz"):
		z, err := gzip.NewReader(bytes.NewReader(text))
		if err == nil {
			_, err = io.Copy(&all, z)
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
	case strings.HasSuffix(name, ".zst"): // chunks of a length and a frame
		for len(text) > 4 {
			n := int(text[0]) | int(text[1])<<8 | int(text[2])<<16 | int(text[3])<<24
			z, err := zstd.NewReader(bytes.NewReader(text[4 : 4+n]))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := io.Copy(&all, z); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			z.Close()
			text = text[4+n:]
		}
	default:
		return text
	}
	return all.Bytes()
}

// numbersOf are the numbers of the tables of a report, in order.
func numbersOf(v any, out []float64) []float64 {
	switch x := v.(type) {
	case float64:
		out = append(out, math.Round(x*1e6)/1e6)
	case []any:
		for _, e := range x {
			out = numbersOf(e, out)
		}
	case map[string]any:
		for _, e := range x {
			out = numbersOf(e, out)
		}
	}
	return out
}

// TestRedactedHoldsNoSecret plants secrets in a program, its environment, its trace and its session, and looks for each in every byte of
// the redacted session. The report of that has the same numbers.
func TestRedactedHoldsNoSecret(t *testing.T) {
	b := newBench(t)
	interpreter := python // whose program leaves PyTorch's part out
	if out, err := exec.Command("../../scripts/env.sh", "newest").Output(); err == nil && !testing.Short() {
		interpreter = strings.TrimSpace(string(out))
	}
	script := b.file("dir PLANTEDscriptdir/trainPLANTEDscript.py", secretProgram)
	b.env = append(b.env, "OMP_NUM_THREADS=2", "PLANTEDenv=PLANTEDenvvalue", "LD_LIBRARY_PATH=/PLANTEDlibrary")
	got := b.run("", "run", "--with-stack", "--with-modules", "--record-shapes", "--metadata", "PLANTEDmeta=PLANTEDmetadata", "--",
		interpreter, script, "--token", "PLANTEDtoken", "--customer=PLANTEDcustomer", "PLANTEDplain", "4711081500")
	if got.code != 0 || !strings.Contains(got.stdout, "done") {
		t.Fatalf("run: %+v", got)
	}
	report := func(path string) map[string]any {
		if got := b.run("", "report", "--all", "--json", "r.json", "-o", "r.txt", path); got.code != 0 {
			t.Fatalf("report %s: %+v", path, got)
		}
		var doc map[string]any
		if err := json.Unmarshal([]byte(b.read("r.json")), &doc); err != nil {
			t.Fatal(err)
		}
		return doc
	}
	packed := func() {
		if got := b.run("", "pack", "--redact", "-o", "p.tar.zst", b.session()); got.code != 0 {
			t.Fatalf("pack: %+v", got)
		}
	}
	if err := os.RemoveAll(filepath.Join(b.session(), "source")); err != nil { // the texts tell what some calls wait for, and are left out
		t.Fatal(err)
	}
	before := report(b.session())
	packed()
	sameNumbers(t, before, report("p.tar.zst"))

	plant(t, b.session())
	got = b.run("", "pack", "--redact", "-o", "p.tar.zst", b.session())
	if got.code != 0 || !strings.Contains(got.stderr, "left out") || !strings.Contains(got.stderr, "launcher.json.bak") {
		t.Fatalf("pack: %+v, want the stray files named", got)
	}
	host, _ := os.Hostname()
	entries := archived(t, filepath.Join(b.dir, "p.tar.zst"))
	for name, text := range entries {
		for _, secret := range []string{"PLANTED", "planted", "4711081500", `"` + host + `"`, b.dir} {
			if at := bytes.Index(text, []byte(secret)); at >= 0 || strings.Contains(name, secret) {
				t.Errorf("%s holds %q: …%s…", name, secret, text[max(0, at-60):min(len(text), at+60)])
			}
		}
	}
	if got := b.run("", "report", "p.tar.zst"); got.code != 0 {
		t.Errorf("report: %+v", got)
	}
}

// sameNumbers compares the tables of two reports that hold the same session.
func sameNumbers(t *testing.T, a, b map[string]any) {
	t.Helper()
	for _, table := range []string{"steps", "breakdown", "account", "key_averages", "kernels", "gpu", "ranks", "workers", "loaders",
		"actions", "memory", "python", "step_parts"} {
		x, y := numbersOf(a[table], nil), numbersOf(b[table], nil)
		slices.Sort(x)
		slices.Sort(y)
		if !slices.Equal(x, y) {
			one, _ := json.Marshal(a[table])
			other, _ := json.Marshal(b[table])
			t.Errorf("%s: the session has\n%s\nand the redacted one\n%s", table, one, other)
		}
	}
}
