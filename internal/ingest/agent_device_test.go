package ingest

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// gpuTrace is a window of Kineto on a machine with a GPU; with work or without the collector's rows.
func gpuTrace(kernels bool) string {
	text := `{"schemaVersion":1,"deviceProperties":[{"id":0,"name":"NVIDIA A100","totalGlobalMem":1}],"traceEvents":[
{"ph":"X","cat":"cpu_op","name":"aten::mm","pid":7,"tid":7,"ts":100,"dur":50,"args":{"External id":1}},
{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":7,"tid":7,"ts":110,"dur":5,"args":{"External id":1,"correlation":9}}`
	if kernels {
		text += `,
{"ph":"X","cat":"kernel","name":"sgemm","pid":0,"tid":7,"ts":120,"dur":20,"args":{"External id":1,"correlation":9,"device":0,"stream":7}}`
	}
	return text + "\n]}"
}

// TestGPUThatWasNotObserved reads sessions of programs that used a GPU, with what /proc says in each situation: the reader must
// say which it is, and nothing where kernels were seen or the GPU did nothing.
func TestGPUThatWasNotObserved(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	const params, root, user = "ResmanDebugLevel: 4294967295\nRmProfilingAdminOnly: %d\n", "CapEff:\t000001ffffffffff\n",
		"CapEff:\t0000000000000000\n"
	loaded := "7f00-7f01 r-xp 00000000 08:01 12 /venv/lib/python3.12/site-packages/nvidia/cuda_cupti/lib/libcupti.so.12\n"
	cases := map[string]struct {
		params, status, maps, environ string
		kernels                       bool
		says                          string
	}{
		"refused":      {params: fmt.Sprintf(params, 1), status: user, maps: loaded, says: "NVreg_RestrictProfilingToAdminUsers=0"},
		"root":         {params: fmt.Sprintf(params, 1), status: root, maps: loaded, says: "CUPTI is loaded (/venv/lib"},
		"unrestricted": {params: fmt.Sprintf(params, 0), status: user, maps: loaded, says: "dcgmi profp --pause"},
		"missing":      {params: fmt.Sprintf(params, 0), status: user, says: "install the nvidia-cuda-cupti package"},
		"taken by nsys": {
			status: user, maps: loaded + "7f02-7f03 r-xp 00000000 08:01 13 /opt/nsight/target-linux-x64/libToolsInjection64.so\n",
			says: "(libToolsInjection64.so): run without it",
		},
		"taken by a hook": {status: user, maps: loaded, environ: "/opt/other/collector.so", says: "(collector.so): run without it"},
		"observed":        {params: fmt.Sprintf(params, 1), status: user, kernels: true},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			script := `import json, sys; sys.path.insert(0, "../agent/py")
from _bneck_agent import devices
params, status, maps, injection = json.load(sys.stdin)
print(json.dumps(devices.access(params, status, maps, {"CUDA_INJECTION64_PATH": injection})))`
			input, err := json.Marshal([]string{c.params, c.status, c.maps, c.environ})
			if err != nil {
				t.Fatal(err)
			}
			command := exec.Command(python, "-B", "-c", script)
			command.Stdin = strings.NewReader(string(input))
			access, err := command.Output()
			if err != nil {
				t.Fatal(err)
			}
			d := newSessionDir(t)
			d.process("far-7-1",
				`{"schema":"bottleneck.process/1","pid":7,"host":"far","role":"main","torch":{"version":"2.9.0","cuda":"12.8"},
"gpus":[{"index":0,"name":"NVIDIA A100"}],"gpu_profiling":`+string(access)+`}`)
			d.write("far-7-1/trace-0.json", gpuTrace(c.kernels))
			s := d.open()
			notes := s.Processes[0].Notes
			found := slices.ContainsFunc(notes, func(n model.Note) bool {
				return n.Code == "gpu-not-observed" && strings.Contains(n.Text, c.says)
			})
			if found != (c.says != "") || c.says == "" && len(notes) > 0 {
				t.Errorf("notes %v, want %q", notes, c.says)
			}
		})
	}
}

// TestProgramsOwnTrace reads a trace that the program exported itself beside one of the agent's.
func TestProgramsOwnTrace(t *testing.T) {
	d := newSessionDir(t)
	d.process("far-7-1", `{"schema":"bottleneck.process/1","pid":7,"host":"far","role":"main"}`)
	d.write("far-7-1/trace-0.json", gpuTrace(false))
	d.write("far-7-1/trace-own-0.json", gpuTrace(true))
	s := d.open()
	if len(s.Traces) != 2 {
		t.Fatalf("%d traces", len(s.Traces))
	}
	own := s.Traces[1]
	if path := s.Inputs[own.Input].Path; path != "far-7-1/trace-own-0.json" || own.Window != -1 || own.Process != 0 {
		t.Errorf("%s, window %d of process %d", path, own.Window, own.Process)
	}
}

// The agent's times of the device lie between the marks that end two steps: what passed between those, as workers that are started anew, is
// no time of the step. Steps without a row share the time of the one that follows them.
func TestTimesOfTheDeviceAreOfSteps(t *testing.T) {
	_, p, err := processFolder(t, factsJSON, gzipMember(`["clock",1000,5000000]`,
		`["step",0,"train","optimizer",1000,1100,"baseline",null,7,null]`, `["step",1,"train","optimizer",1100,1200,"baseline",null,7,150]`,
		`["step",2,"train","optimizer",1700,1800,"baseline",null,7,610]`, `["step",6,"train","optimizer",2200,2300,"baseline",null,7,1000]`))
	if err != nil {
		t.Fatal(err)
	}
	var got []model.Dur
	for i := range p.Steps {
		got = append(got, p.Steps[i].DeviceDur)
	}
	if want := []model.Dur{0, 150, 110, 250}; !slices.Equal(got, want) {
		t.Errorf("the device took %v over the steps, not %v", got, want)
	}
}
