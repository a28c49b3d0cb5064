package price

// share is the unit of most rows.
const share = "share"

// ns is the unit of times.
const ns = "ns"

// The interpreter.
var (
	PythonCode = Row{ID: "python/code", Range: Range{0.6, 1, 1}, Unit: share, Sure: 0.93,
		Of: "samples at the place, ns per step",
		Origin: Origin{Kind: Guess,
			On:     "the middle is the work gone; what a fix leaves is in the lower bound",
			Repeat: `make zoo CASES="python-* plant-*"`,
		}}
	PythonChore = Row{ID: "python/chore", Range: Range{0.8, 1, 1}, Unit: share, Sure: 0.93,
		Of: "samples in the library's code, ns per step",
		Origin: Origin{Kind: Guess,
			On: "leaving it out ends nearly all of it",
		}}
	// Parametrized is of weights that a loop has computed anew each time.
	Parametrized = Row{ID: "python/parametrized", Range: Range{0.5, 1.3, 3}, Unit: "times it",
		Of: "samples in what computes the weights, ns per step",
		Origin: Origin{Kind: Guess, Points: 1,
			On: "forty orthogonal weights a step by Cayley's map became one: 1.5 times what computing them took, as their backward " +
				"passes go as well",
		}}
	PythonBetween = Row{ID: "python/between", Range: Range{0.5, 1, 1}, Unit: share,
		Of: "samples outside of the steps, ns of the run",
		Origin: Origin{Kind: Guess,
			On: "the middle is the work gone",
		}}
	// Beside is of values that no gradient needs.
	Beside = Row{ID: "python/beside", Range: Range{0.95, 1, 1}, Unit: share, Sure: 0.95,
		Of: "samples at the place, ns per step",
		Origin: Origin{Kind: Guess,
			On:     "computing them every n-th step leaves next to nothing",
			Repeat: "make zoo CASES=plant-counts",
		}}
	// BesideRarely is of a validation that few steps make already.
	BesideRarely = Row{ID: "python/validation", Range: Range{0.3, 0.8, 1}, Unit: share,
		Of: "samples at the place, ns per step",
		Origin: Origin{Kind: Guess,
			On: "some validation stays",
		}}
	Anomaly = Row{ID: "python/anomaly", Range: Range{0.9, 1.25, 1.5}, Unit: share, Sure: 0.9,
		Of: "samples in noting stacks and operators that look for NaN, ns per step",
		Origin: Origin{Kind: Measured, Points: 5,
			On: "networks with the detection on and off: keeping and freeing the stacks, which no sample shows, " +
				"takes 15 to 50 % more",
			Span: "PyTorch 2.4 and 2.15", Repeat: "make zoo CASES=python-anomaly",
		}}
	GIL = Row{ID: "gil", Range: Range{0.6, 1, 1.2}, Unit: share,
		Of: "waits for the lock, ns per step",
		Origin: Origin{Kind: Guess,
			On:     "all of it ends; without a rival for cores and caches the rest becomes faster too",
			Repeat: "make zoo CASES=gil-thread",
		}}
	GC = Row{ID: "gc", Range: Range{0.7, 1, 1}, Unit: share,
		Of: "collections in steady work, ns of the run",
		Origin: Origin{Kind: Guess,
			On:     "the middle is the cause gone",
			Repeat: "make zoo CASES=gc-objects",
		}}
)

// Compiling, files and start-up.
var (
	Recompile = Row{ID: "compile", Range: Range{0.6, 0.95, 1}, Unit: share,
		Of: "compilations after the warm-up, ns of the run",
		Origin: Origin{Kind: Guess,
			On:     "one compilation for all sizes is left",
			Repeat: "make zoo CASES=compile-again",
		}}
	Checkpoint = Row{ID: "io/checkpoint", Range: Range{0.5, 0.96, 1}, Unit: share,
		Of: "writing, ns of the run or per step",
		Origin: Origin{Kind: Fitted,
			On:     "the zoo's twins that write rarely",
			Repeat: `make zoo CASES="io-checkpoint plant-checkpoint"`,
		}}
	Files = Row{ID: "io", Range: Range{0.6, 0.92, 1}, Unit: share,
		Of: "reading, writing and sending, ns of the run or per step",
		Origin: Origin{Kind: Guess,
			On:     "what is batched is still written",
			Repeat: `make zoo CASES="io-logging plant-journal"`,
		}}
	// SavedParts is of parts of tensors that are saved with all of the tensor; only reading these again is not in the lower bound.
	SavedParts = Row{ID: "io/views", Range: Range{0.9, 1, 1.1}, Unit: share,
		Of: "calls of torch.save and torch.load but for what they take for a few bytes, by the bytes that are not needed, ns of the run",
		Origin: Origin{Kind: Measured, Points: 24,
			On: "parts of tensors saved as they are and as copies, each in a new file: 0.93 to 1.07 of it for saving, 0.82 to 1.15 for " +
				"loading; files that are written over take up to as much again",
			Span:   "2 to 64 MiB of which 1 to 50 % are needed, two threads, a local disk, PyTorch 2.15",
			Repeat: "python bench/prices/views.py",
		}}
	Preparation = Row{ID: "warmup/preparation", Range: Range{0.5, 0.9, 1}, Unit: share,
		Of: "samples before the first step, ns of the run",
		Origin: Origin{Kind: Guess,
			On:     "reading the kept result is left",
			Repeat: "make zoo CASES=warmup-prepare",
		}}
	FirstSteps = Row{ID: "warmup/compiling", Range: Range{0.3, 1, 1}, Unit: share,
		Of: "compilations that come once, ns of the run",
		Origin: Origin{Kind: Guess,
			On:     "caches of compiled code leave loading it",
			Repeat: "make zoo CASES=plant-first-steps",
		}}
)

// Ranks.
var (
	Late = Row{ID: "straggler", Range: Range{0.4, 0.8, 1}, Unit: share,
		Of: "the late rank's lead, ns per step",
		Origin: Origin{Kind: Guess,
			On: "it may be late by its machine",
		}}
	LateAlone = Row{ID: "straggler/alone", Range: Range{0.7, 0.95, 1}, Unit: share,
		Of: "the late rank's lead, ns per step",
		Origin: Origin{Kind: Guess,
			On:     "it alone does this: without it, or done rarely, the ranks are level",
			Repeat: "make zoo CASES=straggler-work",
		}}
	LateShared = Row{ID: "straggler/uneven", Range: Range{0.6, 1, 1}, Unit: share,
		Of: "what sharing the work out evenly saves, ns per step; the upper bound is the lead",
		Origin: Origin{Kind: Guess,
			On:     "the middle is arithmetic",
			Repeat: "make zoo CASES=plant-lengths",
		}}
	// SentSeldom is of exchanging gradients less often. Every k-th step leaves 1/k, and which k is the user's choice: the lower bound is
	// for every second step, the upper one for never, and the middle for Seldom, half way between.
	SentSeldom = Row{ID: "comm/seldom", Range: Range{1 - 1.0/2, 1 - 1.0/Seldom, 1}, Unit: share,
		Of: "collectives with all ranks in them, ns per step; the upper bound also of waits for late ranks",
		Origin: Origin{Kind: Guess,
			On:     "arithmetic for every second step, every fourth, and never; how often is the user's choice",
			Repeat: "make zoo CASES=comm-network",
		}}
	// SentTogether is of many small messages that are sent in one call.
	SentTogether = Row{ID: "comm/together", Range: Range{0.5, 0.9, 1}, Unit: share,
		Of: "the calls that fall away, ns per step",
		Origin: Origin{Kind: Guess,
			On:     "copies into and out of one tensor are left",
			Repeat: "make zoo CASES=plant-ranks",
		}}
	// LateTogether is of waits for late ranks when one call takes the place of many.
	LateTogether = Row{ID: "comm/late-together", Range: exactly(0.5), Unit: share,
		Of: "waits for ranks that are late in turns",
		Origin: Origin{Kind: Guess,
			On: "of two ranks that lose time by chance, one call waits only for what one loses more",
		}}
)

// Seldom is the number of steps after which gradients are sent, for the price of sending less often.
const Seldom = 4

// The machine.
var (
	Quota = Row{ID: "machine/cpu-quota", Range: Range{0.3, 0.8, 1}, Unit: share,
		Of: "throttled time by the threads that it stops, ns of the run; the upper bound is all of it",
		Origin: Origin{Kind: Guess,
			On:     "the kernel counts each core's queue",
			Repeat: "make zoo CASES=machine-quota",
		}}
	// Allocator is what ends with the faults of pages that are taken again: their system time, and what the program itself loses by them.
	Allocator = Row{ID: "machine/allocator", Range: Range{0.9, 1.03, 1.25}, Unit: "times it",
		Of: "system time of page faults on the thread that drives the step, ns per step",
		Origin: Origin{Kind: Measured, Points: 9,
			On: "element-wise chains, convolutions, linear layers and a table of words with glibc's settings and without, three pairs of " +
				"runs each: medians of 0.99 to 1.06, and one of 1.26 on a machine that others used",
			Span:   "PyTorch 2.15, one and two threads, 14,000 to 100,000 faults a step, pages of 4 KiB",
			Repeat: "make zoo CASES=machine-allocator",
		}}
	// Heap is of what steps took again while the end of the heap went back, where that is a matter of luck.
	Heap = Row{ID: "machine/heap", Range: Range{0, 0.8, 1.8}, Unit: "times it",
		Of: "page faults of a step in that stretch of its first hundred in which they were most, at 1.5 µs",
		Origin: Origin{Kind: Measured, Points: 13,
			On: "page faults of runs alone, of two their time, beside runs in which the heap's end stays: 0 to 1.8 times what a stretch " +
				"between traced windows showed, 0.8 in the middle",
			Span:   "nine public programs and four others, of 300 to 70,000 faults a step; PyTorch 2.15, one and two threads, glibc 2.36",
			Repeat: "make public ONLY=\"tutorial-birnn tutorial-rnn examples-mnist fabric-classifier\"",
		}}
	// HugePages is what ends with them of the same system time: a fault for each 2 MiB, in which the kernel still clears them.
	HugePages = Row{ID: "machine/huge-pages", Range: Range{0, 0.5, 1}, Unit: "times it",
		Of: "system time of page faults on the thread that drives the step, ns per step",
		Origin: Origin{Kind: Measured, Points: 8,
			On: "PyTorch's THP_MEM_ALLOC_ENABLE=1 on inference and training of eight programs, two to five pairs of runs each: 46 to " +
				"70 % of all threads' system time in five, 0.65 to 0.85 of what keeping all memory saves; 40 % in one, and nothing " +
				"of the run in two, whose system time fell by a fifth",
			Span:   "PyTorch 2.15, two threads, 4,000 to 130,000 faults a step of 4 KiB, a virtual machine",
			Repeat: "make zoo CASES=machine-allocator",
		}}
	// DenseThreads and OtherThreads are what more threads can have of the ideal gain.
	DenseThreads = Row{ID: "machine/dense", Range: exactly(0.9), Unit: "share of the ideal gain",
		Of: "matrix products and convolutions, ns per step",
		Origin: Origin{Kind: Guess,
			On:     "they share their work nearly evenly",
			Repeat: "bottleneck run --measure-fixes",
		}}
	OtherThreads = Row{ID: "machine/other", Range: exactly(0.5), Unit: "share of the ideal gain",
		Of: "operators that are neither dense nor small, ns per step",
		Origin: Origin{Kind: Guess,
			On:     "they wait for memory, which cores share",
			Repeat: "bottleneck run --measure-fixes",
		}}
	MoreThreads = Row{ID: "machine/threads", Range: Range{0.25, 1, 1}, Unit: share,
		Of: "the gain by kinds of operators; the upper bound is of all that are not small",
		Origin: Origin{Kind: Guess,
			On:     "cores of a virtual machine can be halves of one",
			Repeat: "make zoo CASES=machine-affinity",
		}}
	// DenseUnknown and SmallUnknown are what shares of dense and of small operators are taken to be where no trace tells.
	DenseUnknown = Row{ID: "machine/dense-unknown", Range: exactly(0.5), Unit: share,
		Of: "operators' time",
		Origin: Origin{Kind: Guess,
			On: "no trace tells",
		}}
	SmallUnknown = Row{ID: "machine/small-unknown", Range: exactly(0.1), Unit: share,
		Of: "operators' time",
		Origin: Origin{Kind: Guess,
			On: "no trace tells",
		}}
	SharedGPU = Row{ID: "machine/gpu-shared", Range: Range{0.2, 0.7, 1}, Unit: share,
		Of: "the device's time by the share that others had of it before the run, ns per step",
		Origin: Origin{Kind: Guess,
			On: "what the others did meanwhile is not known",
		}}
	// ChannelsLast is of convolutions that were run again with the channels of a point together.
	ChannelsLast = Row{ID: "layout/channels-last", Range: Range{0.2, 0.9, 1}, Unit: share,
		Of: "what the convolutions took less when they were run again, ns per step",
		Origin: Origin{Kind: Guess,
			On:     "the operators between them keep the layout; the input and some of them have to convert",
			Repeat: "bottleneck run --measure-fixes",
		}}
	// Oversubscribed is of one process with more threads than cores: the middle with three times as many.
	Oversubscribed = Row{ID: "threads", Range: Range{0, 0.4, 0.9}, Unit: share,
		Of: "operators, ns per step",
		Origin: Origin{Kind: Guess,
			On:     "between few long matrix products, which lose nothing, and many short operators, which lose nearly all",
			Repeat: "make zoo CASES=threads-many",
		}}
	// OneToken is what is left of a step that computes its new token only: reading all weights for it, and calling the operators.
	OneToken = Row{ID: "again/one-token", Range: Range{0.03, 0.1, 0.35}, Unit: share,
		Of: "the step; what a line through unprofiled steps tells of one token counts where it is more",
		Origin: Origin{Kind: Guess,
			On: "a small model on one core: 0.04 at 230 tokens on average, 0.1 at 100; devices read their weights for one token as for " +
				"many",
			Repeat: "make zoo CASES=again-prefix",
		}}
	// Writing is of texts that are written beside a training.
	Writing = Row{ID: "again/writing", Range: Range{0.25, 0.65, 0.92}, Unit: share,
		Of: "the calls that compute a whole text for each token, ns of the run",
		Origin: Origin{Kind: Measured, Points: 24,
			On: "as many passes of one token take 0.08 to 0.29 of it for texts of 256 tokens of wide models or several texts at once, " +
				"0.37 to 0.67 for 64 tokens of one text; nothing is saved where a text is cut at its front",
			Span:   "64 and 256 tokens, 4 to 12 blocks of 64 to 1,024 numbers, two threads, PyTorch 2.15",
			Repeat: "python bench/prices/onetoken.py",
		}}
	// JacobianForward is what computing a Jacobian forward takes beside its passes, whose time is that of as many backward ones.
	JacobianForward = Row{ID: "again/jacobian", Range: Range{3, 7, 13}, Unit: "times it",
		Of: "calls of the function by jacrev, without going backward, ns of the run: what going forward takes beside its passes",
		Origin: Origin{Kind: Measured, Points: 42,
			On: "jacfwd against jacrev of layers, element-wise operators and a recurrence, 3 to 64 numbers in and 12 to 2,000 out, " +
				"alone and 32 at once by vmap: -7 to 24 times it, nine of ten 2.9 and more, one of ten 12.7 and more, half of them 6.8",
			Span:   "PyTorch 2.15, two threads",
			Repeat: "python bench/prices/jacobian.py",
		}}
	// JacobianAtOnce is what one pass for all rows saves.
	JacobianAtOnce = Row{ID: "again/jacobian by row", Range: Range{0.5, 0.88, 0.97}, Unit: share,
		Of: "torch.autograd.functional.jacobian without vectorize, ns of the run",
		Origin: Origin{Kind: Measured, Points: 18,
			On: "with vectorize=True, of the same functions with 12 to 600 numbers out: 30 to 99 %, nine of ten 46 % and more, one " +
				"of ten 97 %, half of them 89 %",
			Span:   "PyTorch 2.15, two threads",
			Repeat: "python bench/prices/jacobian.py",
		}}
	// Validated is of rounds of validation beyond one an epoch.
	Validated = Row{ID: "again/validation", Range: Range{0.5, 0.95, 1}, Unit: share,
		Of: "validation's time, but for one round an epoch, ns of the run",
		Origin: Origin{Kind: Guess,
			On: "half of it where only every second round goes; nearly all with one an epoch",
		}}
	// Environments is of stepping environments in the interpreter.
	Environments = Row{ID: "python/environment", Range: Range{0, 0.5, 0.9}, Unit: share,
		Of: "the interpreter's time in an environment's step, ns per step",
		Origin: Origin{Kind: Guess,
			On: "nothing where there is no other form of the environment; one that steps many at once leaves a tenth",
		}}
	// OneTokenLine is what a step of one token takes of what a line through longer ones says.
	OneTokenLine = Row{ID: "again/one-token-line", Range: Range{0.45, 1, 1.2}, Unit: "times it",
		Of: "a step of one token by a line through unprofiled steps, ns",
		Origin: Origin{Kind: Measured, Points: 36,
			On: "passes of blocks with attention: of single sequences 0.88 to 1.2 of it in most, 0.44 in the widest; of four at once " +
				"0.8 to 1.7, and up to 2.9 where the line says next to nothing: there again/one-token counts",
			Span:   "16 to 256 tokens, 4 to 12 blocks of 64 to 1,024 numbers, two threads, PyTorch 2.15",
			Repeat: "python bench/prices/onetoken.py",
		}}
	// OneTokenCalls is what a step of one token takes of calling a longer one's operators, for a device.
	OneTokenCalls = Row{ID: "again/one-token-calls", Range: Range{0.75, 1, 1.1}, Unit: "times it",
		Of: "calling a step's operators: the least of traced steps without their waits for a device, or the shortest sequence's step, ns",
		Origin: Origin{Kind: Guess,
			On: "as many operators are called for one token; tracing makes calls longer, and what is kept is joined in each layer",
		}}
	// OnceForAll is of a network that does not learn, and answers the same in each epoch.
	OnceForAll = Row{ID: "again/frozen", Range: Range{0, 0.95, 1}, Unit: share,
		Of: "the network's time, ns per step, but for one epoch's",
		Origin: Origin{Kind: Guess,
			On: "what it answered must be fetched; nothing is saved where samples differ from epoch to epoch, which a trace does not " +
				"tell",
			Repeat: "make zoo CASES=again-frozen",
		}}
	// AskedOnce is of a model's call for what it has answered already.
	AskedOnce = Row{ID: "again/asked", Range: Range{0.75, 1.05, 1.25}, Unit: share,
		Of: "the call's time, ns per step",
		Origin: Origin{Kind: Fitted,
			On:     "the call goes, and so does what it frees outside of it: 0.65 to 1.2 times in two programs",
			Repeat: "make zoo CASES=again-same",
		}}
	// AskedGraph is of one that makes a graph which no backward pass needs.
	AskedGraph = Row{ID: "again/asked-graph", Range: Range{0.8, 1.2, 1.7}, Unit: share,
		Of: "the call's time, ns per step",
		Origin: Origin{Kind: Fitted,
			On:     "the graph's tensors are held and freed outside of the call: 1.1 to 1.6 times in two programs",
			Repeat: "make zoo CASES=again-twice",
		}}
	// Ordered is of sparse matrices that each product puts in order.
	Ordered = Row{ID: "again/ordered", Range: Range{0.15, 0.5, 0.9}, Unit: share,
		Of: "what products take to put a sparse matrix in order, both ways, ns per step; at most what the device does not compute",
		Origin: Origin{Kind: Guess,
			On:     "0.3 and 0.6 of it were saved, as a step waits for the device at other places then (two programs, H200)",
			Repeat: "python bench/gpu/turns.py out.json 60 again-coalesce",
		}}
	// BackwardAgain is of backward passes that one pass could do, from one output.
	BackwardAgain = Row{ID: "again/backward", Range: Range{0.7, 1.05, 1.3}, Unit: share,
		Of: "operators of such passes, and of passes through the graphs that they make, ns per step; on a device kernels",
		Origin: Origin{Kind: Guess,
			On: "1.0 of it was saved of a physics-informed network on an H200 and on a CPU, 1.1 and 1.5 of two smaller ones: memory is " +
				"freed, and calls of the passes themselves go as well; one pass for all inputs computes what is each one's own",
		}}
	// BackwardLosses is of backward passes of several losses through one part of a graph.
	BackwardLosses = Row{ID: "again/losses", Range: Range{0.6, 1.05, 1.4}, Unit: share,
		Of: "operators of such a part in all passes but one, ns per step; on a device what it and its host need less",
		Origin: Origin{Kind: Guess,
			On: "0.9 of it was saved of a GAN on an H200, 1.0 of two tasks on one trunk and 1.3 of a small GAN on a CPU: where a loss is " +
				"detached, the gradient of its own input goes as well, and so does adding gradients up",
		}}
	// InLoop is of operators that a loop calls in each turn with the same.
	InLoop = Row{ID: "again/in-loop", Range: Range{0.5, 0.95, 1.25}, Unit: share,
		Of: "such operators in all turns but one, with their backward passes, ns per step; on a device kernels",
		Origin: Origin{Kind: Guess,
			On: "1.06 of it was saved of a loss with 24 classes on an H200, with sums that became one, and 0.96 of a contrastive loss on " +
				"a CPU; gradients of all turns add up where they are larger then",
		}}
	// AskedInputs is of what is computed of inputs that stay the same.
	AskedInputs = Row{ID: "again/inputs", Range: Range{0.5, 1, 1.3}, Unit: share,
		Of: "samples at the lines, ns per step",
		Origin: Origin{Kind: Fitted,
			On: "what the lines free, and take anew, goes with them: 0.9 to 1.4 times in four programs; less where part of a line rests " +
				"on weights that no gradient goes to",
			Repeat: "make zoo CASES='again-inputs again-unchanging'",
		}}
	// Unmade is of what a device computes anew from a tensor that no step makes.
	Unmade = Row{ID: "again/unmade", Range: Range{0.8, 1, 1.1}, Unit: "times it",
		Of: "operators that read nothing else, ns per step",
		Origin: Origin{Kind: Guess,
			On: "arithmetic; an index of two million vectors on an H200: 6.6 ms of a request of 18 were saved",
		}}
	// Activations is of layers whose activations are computed again, with what telling the two passes apart takes.
	Activations = Row{ID: "again/activations", Range: Range{0.75, 1.05, 1.3}, Unit: share, Sure: 0.9,
		Of: "computing activations again and its bookkeeping, ns per step",
		Origin: Origin{Kind: Measured, Points: 14,
			On: "blocks of transformers, convolutions and perceptrons with checkpoint and without, in turns, twice: large ones saved " +
				"0.78 to 1.17 of what computing again took, small ones 1.5 to 2.7 of it, as bookkeeping is the rest there",
			Span:   "steps of 10 to 650 ms of which 15 to 26 % were computed again, two threads, PyTorch 2.15",
			Repeat: "python bench/prices/activations.py",
		}}
	// ActivationsTraced is of a device's work for activations that are computed again.
	ActivationsTraced = Row{ID: "again/activations-traced", Range: Range{0.6, 0.95, 1}, Unit: share,
		Of: "the devices' time in kernels that compute activations again; the lower bound is of those beside which no collective runs",
		Origin: Origin{Kind: Guess,
			On: "the work is gone; a device that waits for its host or for others meanwhile saves less",
		}}
	// UnusedGradients is of the backward pass below what learns.
	UnusedGradients = Row{ID: "unused-gradients", Range: Range{0.3, 0.95, 1.05}, Unit: share,
		Of: "the backward pass after the last gradient that could be one of an optimizer's, ns per step",
		Origin: Origin{Kind: Guess,
			On: "layers below the ones that learn need no backward pass and keep no graph; where layers above need no gradients of their " +
				"own, only the products for these go",
			Repeat: "make zoo CASES=unused-gradients",
		}}
	// UnusedWeights is of products for weights that do not learn, above others that do.
	UnusedWeights = Row{ID: "unused-gradients/weights", Range: Range{0.6, 0.95, 1.1}, Unit: share,
		Of: "products of a backward pass for such weights, and all of it that leads to where nothing learns, ns per step",
		Origin: Origin{Kind: Guess,
			On: "a convolution's backward pass is one operator for both products, each taken for half of it; the upper bound takes all " +
				"that hands gradients on through these weights",
			Repeat: "make zoo CASES=unused-loss-network",
		}}
	// UnusedGraph is what a node of a graph takes that nothing goes backward through.
	UnusedGraph = Row{ID: "unused-gradients/node", Range: Range{0.78, 1.2, 2.4}, Unit: "µs",
		Of: "nodes of autograd's graph",
		Origin: Origin{Kind: Measured, Points: 9,
			On:     "forward passes under inference_mode, no_grad and with a graph: 10 to 23 % of passes of small operators",
			Span:   "8 to 186 nodes, passes of 0.03 to 2 ms, one thread, PyTorch 2.15",
			Repeat: "python bench/prices/inference.py",
		}}
	// GraphAfter is of the memory that a graph holds after a training's last step.
	GraphAfter = Row{ID: "unused-gradients/after", Range: Range{0, 0.9, 1.4}, Unit: share,
		Of: "what the kernel takes to give a process new memory after the last step, ns of the run; the upper bound and 0.29 of the rest",
		Origin: Origin{Kind: Guess,
			On: "a sampler that filled 5 GB saved 1.05 of it under no_grad, loops that hold less from nothing to all of it; convolutions " +
				"whose answers are kept take a third longer where glibc gives back and takes anew what was held before",
			Repeat: "python bench/prices/graphs.py",
		}}
	// UnusedGraphMost is the most that was saved of a forward pass, where memory that a graph holds counts.
	UnusedGraphMost = Row{ID: "unused-gradients/graph", Range: exactly(0.29), Unit: share,
		Of: "the forward pass, ns per step",
		Origin: Origin{Kind: Measured, Points: 13,
			On:     "the same, and larger models: from nothing to 29 %",
			Span:   "passes of 0.03 to 136 ms",
			Repeat: "python bench/prices/inference.py",
		}}
	// Padding is of the filling in batches of sequences.
	Padding = Row{ID: "padding", Range: Range{0.6, 0.95, 1.15}, Unit: share,
		Of: "operators but the optimizer's, ns per step, times the share of filling",
		Origin: Origin{Kind: Measured, Points: 9,
			On: "batches sorted by length saved 0.63 to 1.03 of the filling's share; filled up to their own longest sequence " +
				"0.85 to 1.39 of what that cuts off, where that is a tenth or more, and anything where it is less",
			Span: "Transformer layers, a GRU and convolutions, 64 to 768 wide, 32 to 256 places, one thread, denormal numbers " +
				"flushed, PyTorch 2.15",
			Repeat: "python bench/prices/padding.py",
		}}
	// RanksSpin is of ranks that each take all cores for their own.
	RanksSpin = Row{ID: "threads/ranks", Range: Range{0.15, 0.45, 0.8}, Unit: share,
		Of: "operators and collectives, ns per step",
		Origin: Origin{Kind: Guess,
			On:     "their threads spin at the end of each parallel region",
			Repeat: "make zoo CASES=threads-ranks",
		}}
)

// All prices.
var (
	// Warmer is what the rest of a step gains by the end of a wait that nearly all of the step was.
	Warmer = Row{ID: "all/warmer", Range: exactly(0.35), Unit: share,
		Of: "the rest of the step, by the square of the wait's share",
		Origin: Origin{Kind: Fitted,
			On: "the zoo's waits for data, in sleeps and for files, whose prices were 0.65 to 0.85 of what was " +
				"measured without it",
			Span: "2 cores", Repeat: `make zoo CASES="input-* io-*"`,
		}}
	// WarmerMost is the most of that.
	WarmerMost = Row{ID: "all/warmer-most", Range: exactly(3e6), Unit: ns,
		Of: "each step",
		Origin: Origin{Kind: Fitted,
			On:   "the same waits",
			Span: "2 cores", Repeat: `make zoo CASES="input-* io-*"`,
		}}
	// MoreThanSeen is by how much a fix can save more than the time that was seen at its place.
	MoreThanSeen = Row{ID: "all/beyond", Range: exactly(0.12), Unit: share,
		Of: "a saving's upper bound",
		Origin: Origin{Kind: Fitted,
			On:   "the zoo: what runs beside finds warmer caches and less to collect, and a run's length varies by as much",
			Span: "2 cores", Repeat: "make zoo",
		}}
	// Trials is of cuDNN's trials of its algorithms.
	Trials = Row{ID: "warmup/algorithms", Range: Range{0.5, 0.9, 1}, Unit: share,
		Of: "samples of the warm-up steps in convolutions and the backward pass, ns of the run",
		Origin: Origin{Kind: Measured, Points: 1,
			On:     "two ResNets on an H100: the first three steps take 1.9 s without trials, more than 15 s with them",
			Span:   "PyTorch 2.11, cuDNN 9",
			Repeat: "python testdata/gpu/unused-teacher/slow.py with and without its line",
		}}
	// UntriedSlower is how much of the steps' time the algorithms that are taken without trials may cost.
	UntriedSlower = Row{ID: "warmup/untried", Range: exactly(0.3), Unit: share,
		Of: "the steps' time, ns of the run",
		Origin: Origin{Kind: Guess,
			On: "the lower bound of what leaving the trials out saves",
		}}
)
