package analyse

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"bottleneck/internal/model"
)

// tracesFolder holds real traces that other people recorded; it lies beside the checkout.
func tracesFolder() string {
	if dir := os.Getenv("BOTTLENECK_TRACES"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "shared", "traces")
}

// realTraces are Kineto traces of every generation and device, small enough for the slow reader.
var realTraces = []string{
	"aorta-mi350/mi350x_rocprofiler-sdk.pt.trace.json", "dtu-mlops-windows-cpu/resnet18.LE-PC-DE-16_8780.1672914269646.pt.trace.json.gz",
	"hta-compare-small/base.json.gz", "hta-critical-path/alexnet_a100.json.gz", "hta-critical-path/event_sync.json.gz",
	"hta-critical-path/event_sync_multi_stream.json.gz", "hta-et-link/simple_add_kineto.json.gz", "hta-gpu-user-annotation/step_based_trace.json.gz",
	"hta-nccl-a100/nccl_data.json.gz", "hta-sampled-128ranks/sampled_rank-0.json.gz", "hta-sampled-128ranks/sampled_rank-1.json.gz",
	"hta-triton/triton_example.json.gz", "kineto-docs/before_fix_trace.json", "torchao/gtx1650_llama_with_stack_memory.json.gz",
	"torchao/ref_ep_moe_fwd_b200_rank0of2.json.gz", "tracelens-b200/eager_trace.json.gz", "tracelens-qwen-h100-vs-mi300/h100_Qwen1.5-0.5B-Chat.json.gz",
	"tracelens-qwen-h100-vs-mi300/mi300_Qwen1.5-0.5B-Chat.json.gz", "tracelens-sglang-decode-mi300/sglang_Qwen3-8B_decode.json.gz",
	"tracelens-small/gpu_only_mi210.json.gz", "tracelens-small/normalization_layers_mi300.json.gz", "tracelens-small/torch_compile_triton_mi300.json.gz",
	"tracelens-vit-h100-vs-mi300/h100_nsfw_image_detection.json.gz", "tracelens-vllm-piecewise-mi300/graph_execution.json.gz",
}

// keptTraces are the traces that tests have read: analyses do not change them, and the slow reader is slow.
var keptTraces sync.Map // path -> *keptTrace

type keptTrace struct {
	once  sync.Once
	trace *model.Trace
	texts model.Strings
}

// onRealTraces runs a test on every real trace, and on the recorded ones of testdata.
func onRealTraces(t *testing.T, f func(*testing.T, *model.Trace, *model.Strings)) {
	t.Helper()
	paths, _ := filepath.Glob("testdata/torch-*/train*.json.gz")
	for _, rel := range realTraces {
		paths = append(paths, filepath.Join(tracesFolder(), rel))
	}
	for _, path := range paths {
		if strings.Contains(path, ".tables.") {
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) {
			t.Parallel()
			kept, _ := keptTraces.LoadOrStore(path, &keptTrace{})
			k := kept.(*keptTrace)
			k.once.Do(func() { k.trace = readSlowly(t, path, &k.texts) })
			if k.trace == nil {
				t.Skip("no trace to read")
			}
			f(t, k.trace, &k.texts)
		})
	}
}

// builder makes small traces by hand for tests with known answers. Times are microseconds.
type builder struct {
	file slowFile
	s    model.Strings
	corr int64
}

func (b *builder) add(cat, name string, pid, tid any, start, end float64, args string) {
	e := slowEvent{Ph: "X", Cat: cat, Name: name, PID: pid, TID: tid, TS: number(start), Dur: number(end - start)}
	if args != "" {
		e.Args = rawArgs(args)
	}
	b.file.Events = append(b.file.Events, e)
}

// launch adds a runtime call on thread 1 and the device row that it starts.
func (b *builder) launch(call string, from, to float64, cat, name string, stream int, start, end float64) {
	b.corr++
	link := `"correlation": ` + number(float64(b.corr)).String()
	b.add("cuda_runtime", call, 1, 1, from, to, link)
	b.add(cat, name, 0, stream, start, end, link+`, "device": 0, "stream": `+number(float64(stream)).String())
}

func (b *builder) trace() (*model.Trace, *model.Strings) {
	return buildSlowly(&b.file, &b.s), &b.s
}
