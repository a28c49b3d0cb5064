package record

import (
	"strings"
)

// function replaces a function's name, part by part where it is qualified. In a public file all names are public.
func (r *Redactor) function(name string, public bool) string {
	if public && printableName().MatchString(name) {
		return name
	}
	if strings.HasPrefix(name, "<built-in ") || strings.HasPrefix(name, "<method ") {
		return r.identifiers(name)
	}
	parts := strings.Split(name, ".")
	for i, part := range parts {
		if !publicNames[part] {
			parts[i] = r.name("function", part)
		}
	}
	return strings.Join(parts, ".")
}

var (
	printableName = lazy(`^[\x20-\x7e]{0,500}$`)
	identifier    = lazy(`0x[0-9a-f]+|[\pL\pN_$]+`)
	smallNumber   = lazy(`^\d{1,3}$|^0x[0-9a-f]+$`)
	notName       = lazy(`[^\x20-\x7e]+`)
)

// identifiers replaces each word of a text that is not public; marks and small numbers between them stay.
func (r *Redactor) identifiers(s string) string {
	out := identifier().ReplaceAllStringFunc(s, func(word string) string {
		if publicNames[word] || publicModules[word] || smallNumber().MatchString(word) {
			return word
		}
		return r.name("name", word)
	})
	return notName().ReplaceAllString(out, "?")
}

var (
	frameForm = lazy(`(?s)^(.*)\((\d+)\): (.*)$`)
	colonForm = lazy(`(?s)^(.*\.py):(\d+)(?: (.*))?$`)
)

// frame replaces one frame of a call stack: "file(line): function".
func (r *Redactor) frame(s string) string {
	if m := frameForm().FindStringSubmatch(s); m != nil {
		file, public := r.path(m[1])
		return file + "(" + m[2] + "): " + r.function(m[3], public)
	}
	if m := colonForm().FindStringSubmatch(s); m != nil {
		file, public := r.path(m[1])
		return strings.TrimSpace(file + ":" + m[2] + " " + r.function(m[3], public))
	}
	return r.event(s)
}

// stack replaces the frames of a call stack, which are joined by semicolons.
func (r *Redactor) stack(s string) string {
	parts := strings.Split(s, ";")
	for i, part := range parts {
		parts[i] = r.frame(strings.TrimSpace(part))
	}
	return strings.Join(parts, ";")
}

// publicEvent matches whole names that PyTorch, Kineto and the vendors' libraries give: operators, calls of a device's runtime, copies, and
// kernels in the libraries' own namespaces.
var publicEvent = lazy(`^(?:` + strings.Join([]string{
	`(?:aten|prim|prims|prims_impl|debugprims|_?c10d(?:_functional)?|torch|inductor|quantized|mkldnn|onednn|fsdp|record_function|profiler)::[\w.]+`,
	`(?:nccl|gloo|mpi|ucc|xccl):[a-z_]+`,
	`struct torch::autograd::\w+|torch::autograd::\w+|torch::jit::\w+`,
	`[A-Z]\w*Backward\d+`,
	`ProfilerStep[#*]\d*`,
	`Mem(?:cpy|set) (?:[A-Z]to[A-Z] )?\([A-Za-z]+(?: -> [A-Za-z]+)?\)`,
	`\[(?:memory|OutOfMemory)\]|Record Window End|Iteration Start: PyTorch Profiler|PyTorch Profiler \(\d+\)|Trace Buffers`,
	`[A-Z][a-z]+ (?:Flush|Buffer Flush|Instrumentation Overhead)`,
	`(?:cuda|cu|hip|nccl|ze|ur|xpu|mtia)[A-Z][A-Za-z0-9]*(?:_v\d+|_ptsz|_spt)*`,
	`(?:Stream|Event|Context|Device) (?:Wait Event|Sync(?:hronize)?)|Unrecognized`,
	`Command Buffer Full|Lazy Function Loading|Activity Buffer Request`,
	`##? ?Call CompiledFxGraph \w{1,64} ##? ?|Torch-Compiled Region(?:: \d+/\d+)?|TorchDynamo Cache Lookup|CompiledFunction(?:Backward)?`,
	`(?:enumerate\(DataLoader\)#_(?:SingleProcess|MultiProcessing)DataLoaderIter\.__next__)`,
	`(?:void )?(?:at::native|at::cuda|at_cuda_detail|c10|cub|thrust|cutlass|cudnn|cublasLt|cublas|flash|pytorch_flash|fmha|` +
		`internal::gemvx|splitKreduce_kernel)\b[\x20-\x7e]*`,
	`(?:nccl(?:Dev)?Kernel|ampere_|volta_|turing_|maxwell_|pascal_|hopper_|sm[0-9]{2,3}_xmma_|nvjet_|Cijk_|cutlass_|cutlass3x_)` +
		`\w{0,300}(?:\([\x20-\x7e]{0,200}\))?`,
}, "|") + `)$`)

var optimizerForm = lazy(`^(Optimizer\.[a-z_]+)#([^.]*)\.([a-z_]+)$`)

// event replaces the name of a trace's event.
func (r *Redactor) event(s string) string {
	switch {
	case s == "" || publicEvent().MatchString(s) || publicNames[s]:
		return s
	case frameForm().MatchString(s):
		return r.frame(s)
	}
	for _, prefix := range []string{"autograd::engine::evaluate_function: ", "nn.Module: "} {
		if rest, ok := strings.CutPrefix(s, prefix); ok && prefix[0] == 'n' {
			return prefix + r.module(rest)
		} else if ok {
			return prefix + r.event(rest)
		}
	}
	if m := optimizerForm().FindStringSubmatch(s); m != nil {
		return m[1] + "#" + r.identifiers(m[2]) + "." + m[3]
	}
	if strings.HasPrefix(s, "<built-in ") {
		return r.identifiers(s)
	}
	if strings.HasPrefix(s, "triton_") {
		return r.triton(s)
	}
	if space, _, ok := strings.Cut(s, "::"); ok && !strings.ContainsAny(s, "<( ") {
		return r.name("library", space) + "::" + r.hinted("operator", s, operatorHints)
	}
	return r.hinted("name", s, kernelHints)
}

var numberedClass = lazy(`^(.*)_(\d+)$`)

// module replaces the class of a module's call, "Linear_3".
func (r *Redactor) module(s string) string {
	if m := numberedClass().FindStringSubmatch(s); m != nil {
		return r.identifiers(m[1]) + "_" + m[2]
	}
	return r.identifiers(s)
}

// hinted replaces a whole name and keeps the words in it by which analyses sort it.
func (r *Redactor) hinted(kind, s string, hints []string) string {
	lower := strings.ToLower(s)
	out := r.name(kind, s)
	for _, word := range hints {
		if strings.Contains(lower, word) {
			out += "_" + word
		}
	}
	return out
}

// triton replaces the words of a kernel that Inductor named after the operators in it, where they are not PyTorch's.
func (r *Redactor) triton(s string) string {
	parts := strings.Split(s, "_")
	for i, part := range parts {
		if part != "" && !publicOperators[part] && !smallNumber().MatchString(part) {
			parts[i] = r.name("x", part)
		}
	}
	return strings.Join(parts, "_")
}

var threadForm = lazy(`^((?:Thread|Dummy|ThreadPoolExecutor|asyncio|pt_autograd|pt_data_pin|thread)[-_ ]?[0-9_ -]*|` +
	`python(?:\d(?:\.\d+)?t?)?|CPU|GPU \d+|stream \d+ ?)(?: ?\((.*)\))?$`)

// thread replaces the name of a thread or process; Python's and torch's own stay, without the function that they may name.
func (r *Redactor) thread(s string) string {
	switch m := threadForm().FindStringSubmatch(s); {
	case publicNames[s]:
		return s
	case m != nil && m[2] != "" && !interpreter().MatchString(m[2]):
		return strings.TrimRight(m[1], " ") + " (" + r.function(m[2], false) + ")"
	case m != nil:
		return s
	}
	return r.name("thread", s)
}

// setting keeps values that bound threads and placement: numbers, and words of OpenMP.
func (r *Redactor) setting(s string) string {
	if settingForm().MatchString(s) {
		return s
	}
	if strings.Contains(s, ".so") { // LD_PRELOAD
		parts := strings.FieldsFunc(s, func(c rune) bool { return c == ':' || c == ' ' })
		for i := range parts {
			parts[i], _ = r.path(parts[i])
		}
		return strings.Join(parts, ":")
	}
	return r.name("value", s)
}

var settingForm = lazy(`^(?i:(?:true|false|yes|no|on|off|auto|always|never|none|disabled|close|spread|master|primary|compact|` +
	`scatter|balanced|active|passive|` +
	`cores|threads|sockets|granularity|fine|core|verbose|noverbose|respect|explicit|physical|logical|malloc|pymalloc|debug|default|` +
	`torch|report|lightning|classic|cpu|cuda|xpu|nvtx|itt|python|native|stop|[0-9.]+(?:ns|us|µs|ms|s|m|h|[kmgt]i?b?)?)?[,=:{}() -]?)*$`)
