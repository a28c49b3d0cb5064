package price

// Devices of traces from elsewhere. None of these was measured: no such device was there.
var (
	TracedIdle = Row{ID: "traced/idle", Range: Range{0.2, 0.6, 1}, Unit: share,
		Of: "the devices' idle time of a cause, ns of the trace",
		Origin: Origin{Kind: Guess,
			On: "tracing slows the launching side, so that idle time is overstated",
		}}
	TracedInput = Row{ID: "traced/input", Range: Range{0.5, 0.9, 1}, Unit: share,
		Of: "the devices' idle time, ns of the trace",
		Origin: Origin{Kind: Guess,
			On: "no operators are traced meanwhile",
		}}
	TracedAlloc = Row{ID: "traced/alloc", Range: Range{0.5, 0.85, 1}, Unit: share,
		Of: "the devices' idle time, ns of the trace",
		Origin: Origin{Kind: Guess,
			On: "the driver's calls are long beside what tracing adds",
		}}
	// FirstUse is of single slow calls; OnCPU where operators compute on the CPU, Stalled where the thread stands still.
	FirstUse = Row{ID: "traced/first-use", Range: Range{0, 0.3, 1}, Unit: share,
		Of: "the devices' idle time, ns of the trace",
		Origin: Origin{Kind: Guess,
			On: "what happens once costs later steps nothing",
		}}
	OnCPU = Row{ID: "traced/cpu-operator", Range: Range{0.4, 0.8, 1}, Unit: share,
		Of: "the devices' idle time, ns of the trace",
		Origin: Origin{Kind: Guess,
			On: "the copy to the device is left",
		}}
	Stalled = Row{ID: "traced/stalled", Range: Range{0.1, 0.5, 1}, Unit: share,
		Of: "the devices' idle time, ns of the trace",
		Origin: Origin{Kind: Guess,
			On: "the profiler itself stops threads as well",
		}}
	TracedComm = Row{ID: "traced/comm", Range: Range{0.1, 0.5, 0.9}, Unit: share,
		Of: "collectives while nothing computes, ns of the trace",
		Origin: Origin{Kind: Guess,
			On: "waits for late ranks are part of it",
		}}
	TracedCopy = Row{ID: "traced/copy", Range: Range{0.4, 0.8, 1}, Unit: share,
		Of: "copies while nothing computes, ns of the trace",
		Origin: Origin{Kind: Guess,
			On: "how much can be hidden depends on what there is to compute",
		}}
	Layout = Row{ID: "traced/layout", Range: Range{0.5, 2, 3.2}, Unit: "times that",
		Of: "kernels that convert layouts, ns of the trace",
		Origin: Origin{Kind: Guess,
			On: "a ResNet-50 saved 2.9 times as much (H200): its other kernels are faster, too; operators without such a form convert " +
				"back",
			Repeat: "python bench/gpu/turns.py out.json 60 layout-pictures",
		}}
	Elementwise = Row{ID: "traced/memory-bound", Range: Range{0.2, 0.5, 0.95}, Unit: share,
		Of: "element-wise kernels, ns of the trace",
		Origin: Origin{Kind: Guess,
			On: "the trace does not say how many bytes they move, nor how many operators of a chain become one; PyTorch's own activation " +
				"and norm in place of written ones saved 0.94 (one program, H200)",
			Repeat: "python bench/gpu/turns.py out.json 60 memory-activation",
		}}
	// AttentionTraced is of attention that is written out on a device.
	AttentionTraced = Row{ID: "traced/attention", Range: Range{0.3, 0.7, 0.95}, Unit: share,
		Of: "kernels of attention without its matrix products, ns of the trace",
		Origin: Origin{Kind: Guess,
			On: "what they read and write stays on the chip in one kernel, which still computes exponents, and in a backward pass " +
				"the weights again",
		}}
	// MatrixUnits bounds what matrix units save around the middle that the device's rates give.
	MatrixUnits = Row{ID: "traced/precision", Range: Range{0.4, 1, 1.3}, Unit: share,
		Of: "kernels in fp32 by the rates' ratio, ns of the trace; 0.95 of them at most",
		Origin: Origin{Kind: Guess,
			On: "the middle is the makers' rates by UnitsReached",
		}}
	// UnitsReached is how much of the rates' ratio programs see.
	UnitsReached = Row{ID: "traced/units-reached", Range: exactly(0.5), Unit: share,
		Of: "the ratio of peak rates",
		Origin: Origin{Kind: Guess,
			On: "the rest of each kernel is memory traffic",
		}}
	// GivenBack is of memory that is given back on the line of a copy.
	GivenBack = Row{ID: "copy/given-back", Range: Range{0, 0.5, 1}, Unit: share,
		Of: "interpreter's samples on the line of a copy, ns per step",
		Origin: Origin{Kind: Guess,
			On: "a thread that pins the batches gives them back instead, with the interpreter's lock held",
		}}
	// Asks is of operators that ask a device for an answer.
	Asks = Row{ID: "sync/asks", Range: Range{0.3, 0.8, 1}, Unit: share,
		Of: "operators that ask a device for an answer, forward and backward, ns per step; at most what the device does not compute",
		Origin: Origin{Kind: Guess,
			On:     "masks as indices replaced by torch.where saved as much as they took (one program, H200)",
			Repeat: "python bench/gpu/turns.py out.json 60 sync-masks sync-norms",
		}}
	// Sync is of waits for a device in a run of ours.
	Sync = Row{ID: "sync", Range: Range{0, 0.4, 0.9}, Unit: share,
		Of: "calls that return when the device is done, ns per step",
		Origin: Origin{Kind: Guess,
			On: "a wait in which the device works is not lost: only the gap after it is",
		}}
	// TracedHost is the part of its traced time in which a program that launches may run without tracing.
	TracedHost = Row{ID: "traced/host", Range: exactly(0.5), Unit: share,
		Of: "the launching thread's traced time",
		Origin: Origin{Kind: Guess,
			On: "records lengthen the calls of small operators to about twice, with stacks to more",
		}}
)
