package record

import (
	"bytes"
	"encoding/json"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// fuzzSecret is in no form that may stay: no name that is public has such letters.
const fuzzSecret = "pässwörd"

// FuzzRedact redacts any text as each file of a session: no secret survives, and what comes out of JSON is JSON.
func FuzzRedact(f *testing.F) {
	names := []string{ManifestName, MeasuredName, "h-1-1/" + LauncherName, "h-1-1/" + ProcessName, "h-1-1/events.jsonl.gz",
		"h-1-1/" + TreeName, "h-1-1/" + ActionCallsName, "h-1-1/trace-0.json", "h-1-1/trace-own-0.json.gz", "h-1-1/modules-0.json.gz",
		"h-1-1/memory-0-cpu.json.gz", "h-1-1/" + SamplesName, "h-1-1/stray"}
	for i, text := range []string{
		`{"schema": "bottleneck.session/1", "job": "pässwörd", "pässwörd": 1, "command": ["python3", "/x/pässwörd/a.py", "--k=pässwörd"], "host": "pässwörd"}`,
		`{"prices": [{"fix": "pässwörd", "saved_ms": 1}], "ops": [{"op": "aten::pässwörd", "shapes": "[[1]] pässwörd", "why": "pässwörd", "fixes": [{"fix": "x", "us": 1}]}]}`,
		`{"notes": [{"code": "pässwörd", "text": "pässwörd"}], "flags": {"metadata": "pässwörd"}, "machine_before": {"cpu_model": "Intel pässwörd", "thread_settings": {"LD_PRELOAD": "/a/pässwörd.so:libc.so.6"}}, "cwd": "~/pässwörd"}`,
		`{"argv": ["pässwörd"], "executable": "/lib/python3.11/pässwörd/python3", "packages": {"pässwörd": "pässwörd"}, "counters": {"action_ns:[Callback]pässwörd.x": 1}, "gpus": [{"name": "NVIDIA pässwörd"}]}`,
		"[\"span\",\"io\",1,2,3,\"pässwörd.save\",\"/site-packages/torch/pässwörd.py\",7,\"pässwörd\"]\n[\"stack\",1,[[\"pässwörd\",\"<pässwörd>\",1,2]]]\n[\"note\",1,\"pässwörd\",\"p\\u00e4sswörd\"]\n",
		"[\"proc\",1,2,3,4,[\"pässwörd\"],\"/usr/bin/pässwörd\"]\n[\"limits\",1,{\"pässwörd\":\"pässwörd\"}]\n",
		`{"functions": [["/x/pässwörd.py", 1, "<built-in method pässwörd>"]], "actions": [{"name": "[pässwörd]x.step", "functions": [[0,1,1,1,1]]}]}`,
		`{"pässwörd": ["pässwörd"], "traceEvents": [{"ph": "X", "cat": "pässwörd", "name": "void at::native::pässwörd<float>", "pid": "pässwörd", "args": {"Call stack": "a b/pässwörd.py(1): pässwörd;torch/nn/x.py(2): pässwörd", "Concrete Inputs": ["pässwörd"], "pässwörd": 1}}]}`,
		`[{"ph": "X", "name": "triton_poi_fused_pässwörd_0"}, {"name": "nn.Module: pässwörd_0"}, {"name": "Optimizer.step#pässwörd.step"}, {"name": "mylib::pässwörd_mm"}, {"name": "ncclDevKernel_pässwörd"}]`,
		`{"names": [["Net.pässwörd", "pässwörd"]], "threads": {"pässwörd": [1]}}`, `[[1, 1, "pässwörd", 0]]`,
		"\x04\x00\x00\x00pässwörd", "pässwörd",
	} {
		f.Add(uint8(i), text)
	}
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		name := names[int(which)%len(names)]
		packed := bytes.HasSuffix([]byte(name), []byte(".gz"))
		in := []byte(text)
		if packed {
			in = zippedBytes(in)
		}
		var out bytes.Buffer
		r := NewRedactor()
		if err := r.content(&out, bytes.NewReader(in), name); err != nil {
			t.Fatal(err)
		}
		plain := out.Bytes()
		if packed {
			z, err := gzip.NewReader(&out)
			if err != nil {
				t.Fatal(err)
			}
			if plain, err = io.ReadAll(z); err != nil {
				t.Fatal(err)
			}
		}
		if bytes.Contains(plain, []byte(fuzzSecret)) || bytes.Contains([]byte(r.FileName(name+text)), []byte(fuzzSecret)) {
			t.Errorf("%s: %s", name, plain)
		}
		if json.Valid([]byte(text)) && name != "h-1-1/"+SamplesName && name != "h-1-1/stray" &&
			!bytes.HasSuffix([]byte(name), []byte("jsonl.gz")) && !json.Valid(plain) {
			t.Errorf("%s: no JSON any more: %s", name, plain)
		}
	})
}

func zippedBytes(text []byte) []byte {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = z.Write(text)
	_ = z.Close()
	return b.Bytes()
}
