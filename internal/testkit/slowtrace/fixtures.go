package slowtrace

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"bottleneck/internal/model"
)

// root is the checkout's folder: the nearest above a test's own that has a go.mod.
func root() string {
	dir, err := os.Getwd()
	for ; err == nil && dir != filepath.Dir(dir); dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			break
		}
	}
	return dir
}

// Testdata is the folder of the traces that all rooms of analyse share.
func Testdata() string { return filepath.Join(root(), "internal", "analyse", "testdata") }

// Folder holds real traces that other people recorded; it lies beside the checkout.
func Folder() string {
	if dir := os.Getenv("BOTTLENECK_TRACES"); dir != "" {
		return dir
	}
	return filepath.Join(filepath.Dir(root()), "shared", "traces")
}

// realTraces are Kineto traces of every generation and device, small enough for the slow reader.
var realTraces = []string{
	"aorta-mi350/mi350x_rocprofiler-sdk.pt.trace.json", "dtu-mlops-windows-cpu/resnet18.LE-PC-DE-16_8780.1672914269646.pt.trace.json.gz",
	"hta-compare-small/base.json.gz", "hta-critical-path/alexnet_a100.json.gz", "hta-critical-path/event_sync.json.gz",
	"hta-critical-path/event_sync_multi_stream.json.gz", "hta-et-link/simple_add_kineto.json.gz",
	"hta-gpu-user-annotation/step_based_trace.json.gz", "hta-nccl-a100/nccl_data.json.gz", "hta-sampled-128ranks/sampled_rank-0.json.gz",
	"hta-sampled-128ranks/sampled_rank-1.json.gz", "hta-triton/triton_example.json.gz", "kineto-docs/before_fix_trace.json",
	"torchao/gtx1650_llama_with_stack_memory.json.gz", "torchao/ref_ep_moe_fwd_b200_rank0of2.json.gz", "tracelens-b200/eager_trace.json.gz",
	"tracelens-qwen-h100-vs-mi300/h100_Qwen1.5-0.5B-Chat.json.gz", "tracelens-qwen-h100-vs-mi300/mi300_Qwen1.5-0.5B-Chat.json.gz",
	"tracelens-sglang-decode-mi300/sglang_Qwen3-8B_decode.json.gz", "tracelens-small/gpu_only_mi210.json.gz",
	"tracelens-small/normalization_layers_mi300.json.gz", "tracelens-small/torch_compile_triton_mi300.json.gz",
	"tracelens-vit-h100-vs-mi300/h100_nsfw_image_detection.json.gz", "tracelens-vllm-piecewise-mi300/graph_execution.json.gz",
}

// keptTraces are the traces that tests have read: analyses do not change them, and the slow reader is slow.
var keptTraces sync.Map // path -> *keptTrace

type keptTrace struct {
	once  sync.Once
	trace *model.Trace
	texts model.Strings
}

// OnReal runs a test on every real trace, and on the recorded ones of testdata.
func OnReal(t *testing.T, f func(*testing.T, *model.Trace, *model.Strings)) {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(Testdata(), "torch-*", "train*.json.gz"))
	for _, rel := range realTraces {
		paths = append(paths, filepath.Join(Folder(), rel))
	}
	for _, path := range paths {
		if strings.Contains(path, ".tables.") {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			kept, _ := keptTraces.LoadOrStore(path, &keptTrace{})
			k := kept.(*keptTrace)
			k.once.Do(func() { k.trace = Read(t, path, &k.texts) })
			if k.trace == nil {
				t.Skip("no trace to read")
			}
			f(t, k.trace, &k.texts)
		})
	}
}

// Builder makes small traces by hand for tests with known answers. Times are microseconds.
type Builder struct {
	File File
	s    model.Strings
	Corr int64
}

// Add adds an event.
func (b *Builder) Add(cat, name string, pid, tid any, start, end float64, args string) {
	e := Event{Ph: "X", Cat: cat, Name: name, PID: pid, TID: tid, TS: number(start), Dur: number(end - start)}
	if args != "" {
		e.Args = Args(args)
	}
	b.File.Events = append(b.File.Events, e)
}

// Launch adds a runtime call on thread 1 and the device row that it starts.
func (b *Builder) Launch(call string, from, to float64, cat, name string, stream int, start, end float64) {
	b.Corr++
	link := `"correlation": ` + number(float64(b.Corr)).String()
	b.Add("cuda_runtime", call, 1, 1, from, to, link)
	b.Add(cat, name, 0, stream, start, end, link+`, "device": 0, "stream": `+number(float64(stream)).String())
}

// Trace is what the slow reader makes of the events so far.
func (b *Builder) Trace() (*model.Trace, *model.Strings) {
	return Build(&b.File, &b.s), &b.s
}

// number is a time in microseconds as traces write it.
func number(us float64) json.Number { return json.Number(strconv.FormatFloat(us, 'f', -1, 64)) }

// Args are an event's arguments from their JSON, without braces.
func Args(body string) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	if err := json.Unmarshal([]byte("{"+body+"}"), &out); err != nil {
		panic(err)
	}
	return out
}

// Micros is a duration of that many microseconds.
func Micros(v float64) model.Dur { return model.Dur(v * 1000) }

// Memory adds an allocation, or a free, that the host's thread 1 made.
func (b *Builder) Memory(us float64, addr, bytes, total int) {
	args := fmt.Sprintf(`"Device Type": 1, "Device Id": 0, "Addr": %d, "Bytes": %d, "Total Allocated": %d, "Total Reserved": 4096`,
		addr, bytes, total)
	b.File.Events = append(b.File.Events, Event{Ph: "i", Name: "[memory]", PID: 1, TID: 1, TS: number(us), Args: Args(args)})
}

// Random is a trace whose rows overlap, repeat, lack details and point at one another as they come; only the order of
// rows, which every reader guarantees, holds.
func Random(r *rand.Rand) (*model.Trace, *model.Strings) {
	b := &Builder{}
	names := []string{"aten::mm", "ProfilerStep#1", "ProfilerStep#2", "nccl:all_reduce", "cudaStreamSynchronize", "cudaMemcpyAsync",
		"cudaMalloc", "ncclDevKernel_AllReduce", "Memcpy HtoD (Pageable -> Device)", "enumerate(DataLoader)#x.__next__",
		"autograd::engine::evaluate_function: X", "Stream Wait Event", "aten::conv2d", ""}
	cats := []string{"cpu_op", "user_annotation", "python_function", "cuda_runtime", "kernel", "gpu_memcpy", "gpu_memset",
		"gpu_user_annotation", "cuda_sync", "overhead"}
	for range 5 + r.IntN(60) {
		start := float64(r.IntN(200))
		args :=
			fmt.Sprintf(
				`"correlation": %d, "External id": %d, "device": %d, "stream": %d, "wait_on_stream": %d, "wait_on_cuda_event_record_corr_id": %d, "bytes": %d, "Sequence number": %d,
			"Input Dims": [[%d, 3], [3, 4]], "Fwd thread id": %d`,
				r.IntN(20), r.IntN(20), r.IntN(2), r.IntN(3), r.IntN(3), r.IntN(20), r.IntN(1000)-1, r.IntN(5)-1, r.IntN(5), r.IntN(3))
		if r.IntN(4) == 0 {
			args += `, "Collective name": "allreduce", "Group size": 2, "dtype": "Float", "In msg nelems": 5`
		}
		b.Add(cats[r.IntN(len(cats))], names[r.IntN(len(names))], r.IntN(2), r.IntN(3), start, start+float64(r.IntN(100)), args)
	}
	for range r.IntN(20) {
		b.Memory(float64(r.IntN(250)), r.IntN(5), r.IntN(200)-100, r.IntN(500))
	}
	t, s := b.Trace()
	ev := &t.Events
	for i := range ev.Len() { // links that a damaged file could give
		if r.IntN(10) == 0 && ev.Kind[i] != model.KindRuntime {
			ev.Detail[i] = -1
		}
		if r.IntN(20) == 0 {
			ev.Link[i], ev.Op[i] = model.NoEvent, model.NoEvent
		}
	}
	return t, s
}

// Shifted is a copy of a trace in which each device row begins up to 4 µs later, as another rank of the same job might.
func Shifted(t *model.Trace) *model.Trace {
	out := *t
	out.Events.Start, out.Events.Dur = slices.Clone(t.Events.Start), slices.Clone(t.Events.Dur)
	for i := range out.Events.Start {
		if by := model.Dur(i%5) * 1000; t.Events.Kind[i].Device() && out.Events.Dur[i] > by {
			out.Events.Start[i] += model.Time(by)
			out.Events.Dur[i] -= by
		}
	}
	return &out
}
