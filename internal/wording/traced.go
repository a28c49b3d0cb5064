package wording

// tracedTexts are about traces from elsewhere.
var tracedTexts = table{
	"traced.basis":         "a trace without an unprofiled baseline: the saving is of traced time",
	"traced.basis-run":     "the kernels of {steps traced step}",
	"traced.gaps":          "{time} in {gaps gap} over all devices of the trace",
	"traced.caveat-slowed": "Tracing slows the launching side and so overstates idle time: the bounds are wide for that reason.",
	"traced.input":         "{share} of the devices' time is idle while the program waits for data",
	"traced.fix-input":     "Give the DataLoader more workers, or make the data set faster.",
	"traced.launch":        "{share} of the devices' time is idle because work reaches them too slowly",
	"traced.launching": "in the gaps the launching thread spends {operators} in operators, {between} between two of them and {launches} " +
		"in launches",
	"traced.mean-kernel":         "{n kernel} of {mean} on average",
	"traced.fix-launch":          "Run fewer, larger operators: larger batches, fused optimizers, torch.compile, CUDA graphs.",
	"traced.fix-launch-compiled": "Let CUDA graphs launch the compiled code as a whole, or use larger batches.",
	"traced.first-use":           "{share} of the devices' time is idle while single calls take a millisecond or more",
	"traced.cpu-operator":        "{share} of the devices' time is idle while operators compute on the CPU",
	"traced.stalled": "{share} of the devices' time is idle while the launching thread stands still in operators that are " +
		"usually short",
	"traced.slow-calls": "in calls of 1 ms or more: {operators} in operators ({cpu} of it in operators that use no device) and " +
		"{launches} in launches; the longest takes {longest}",
	"traced.stalled-in": "{stalled} of it in {names different operator} whose earlier calls took less than a twentieth as long",
	"traced.fix-first-use": "Record after some warm-up steps: the first use of an operator loads and chooses its kernels. Where it " +
		"happens in every step, keep shapes the same.",
	"traced.plans":   "{share} of the devices' time is idle while cuDNN plans attention for shapes that are new to it",
	"traced.planned": "{planned} of it in attention before anything is launched; one operator is planned {plans} times",
	"traced.fix-cpu-operator": "Compute this on the device (device=… where the tensor is made), or ahead of time in the DataLoader's " +
		"workers.",
	"traced.fix-stalled": "See what stops the launching thread: other processes, more threads than cores (OMP_NUM_THREADS, affinity, a " +
		"quota), Python's garbage collection, or another thread that holds the GIL. `bottleneck run` tells these apart.",
	"traced.caveat-stalled": "A trace does not show why a thread stands still. The profiler stops threads as well, when it gets new " +
		"buffers.",
	"traced.captures": "the trace holds {n capture} of a graph of device work",
	"traced.caveat-captures": "Graphs are captured once and replayed in later steps, which costs the launching thread next to nothing: " +
		"look at a trace of those.",
	"traced.python": "{share} of the devices' time is idle while the launching thread runs no operator",
	"traced.fix-python": "Take this code out of the loop, or run it less often. Recorded stacks (with_stack=True) or a run under " +
		"bottleneck show its line.",
	"traced.comm":         "{share} of the devices' time is spent on collectives while nothing computes",
	"traced.comm-exposed": "{time} of {all} in collectives is not hidden behind kernels",
	"traced.fix-comm": "Overlap collectives with the backward pass, send less (lower precision), or send less often (gradient " +
		"accumulation).",
	"traced.caveat-comm":      "A collective's time includes waiting for late ranks: only the traces of all ranks tell the two apart.",
	"traced.caveat-kernels":   "Kernel times are the trace's: where the device is idle for other reasons, faster kernels save less.",
	"traced.replayed-without": "replayed without it, a traced step takes {after} instead of {before}",
	"traced.replayed-shorter": "replayed with these kernels shorter by {shorter} in all, a traced step takes {after} instead of {before}",
	"traced.rest-waits":       "the rest would be spent waiting for the program that launches, or for other work of the device",
	"traced.caveat-launches":  "The upper bound is for a program that launches in half of its traced time: tracing lengthens that.",
}
