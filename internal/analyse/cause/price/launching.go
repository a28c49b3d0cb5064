package price

// Launching operators.
var (
	// CallsFused is of an optimizer of PyTorch's that goes over its parameters one by one, or by lists, and has a fused form.
	CallsFused = Row{ID: "launch/fused", Range: Range{0, 0.62, 0.75}, Unit: share,
		Of: "small operators of the optimizer and the interpreter around them, ns per step",
		Origin: Origin{Kind: Measured, Points: 15,
			On:     "Adam, AdamW and SGD against their fused form: 16 to 72 %, median 63; nothing measurable in trainings of others",
			Span:   "6 to 60 parameters of 64 to 250,000 numbers, one thread, PyTorch 2.15",
			Repeat: "python bench/prices/optimizers.py",
		}}
	// CallsByLists is of one that has no fused form.
	CallsByLists = Row{ID: "launch/by-lists", Range: Range{0, 0.19, 0.4}, Unit: share,
		Of: "the same",
		Origin: Origin{Kind: Measured, Points: 10,
			On:     "Adam, AdamW and SGD by lists (foreach), parameters of up to 4,096 numbers: 10 to 40 %; larger ones get slower",
			Span:   "6 to 60 parameters, one thread, PyTorch 2.15",
			Repeat: "python bench/prices/optimizers.py",
		}}
	// CallsOptimizer is of an optimizer of the program's own that goes over its parameters one by one.
	CallsOptimizer = Row{ID: "launch/optimizer", Range: Range{0.45, 0.75, 1}, Unit: share,
		Of: "small operators of the optimizer and the interpreter around them, ns per step",
		Origin: Origin{Kind: Guess,
			On: "one call per kind of operator is left, and the lists of parameters",
		}}
	// ForwardAlone is what of a training step's time for an item stays where only the forward pass is computed, in batches as large.
	ForwardAlone = Row{ID: "launch/batch", Range: Range{0.33, 0.5, 1}, Unit: "share of an item's time in larger batches",
		Of: "computing in small batches",
		Origin: Origin{Kind: Guess,
			On: "a backward pass computes about twice what the forward pass does, and losses and optimizers come on top",
		}}
	// CallsSpread is of calls that fusing or larger batches end.
	CallsSpread = Row{ID: "launch/spread", Range: Range{0.2, 0.5, 0.9}, Unit: share,
		Of: "small operators and the interpreter around them, ns per step; on a CPU where most are element-wise",
		Origin: Origin{Kind: Guess,
			On:     "fusing leaves guards and larger operators; measured on a CPU: 59 % of element-wise operators' time",
			Repeat: "python bench/prices/compile.py",
		}}
	// CallsLarger is of calls that only larger batches end.
	CallsLarger = Row{ID: "launch/larger", Range: Range{0, 0.5, 0.9}, Unit: share,
		Of: "all small operators of a step and the interpreter around them, where most on a CPU are not element-wise",
		Origin: Origin{Kind: Guess,
			On:     "half with batches twice as large, nothing where they must stay; torch.compile saved -64 to 28 % of a step",
			Repeat: "python bench/prices/compile.py",
		}}
	// CallsOnDevice is of calls that launch more slowly than the device computes.
	CallsOnDevice = Row{ID: "launch/device", Range: Range{0.2, 0.6, 1}, Unit: share,
		Of: "operators and the interpreter around them, ns per step; at most what the device does not compute",
		Origin: Origin{Kind: Guess,
			On:     "larger batches and graphs of launches leave little; what cannot be captured stays",
			Repeat: "python bench/gpu/turns.py out.json 60 launch-one",
		}}
	// OnHost is of operators that compute on the CPU beside a device.
	OnHost = Row{ID: "launch/on-host", Range: Range{0.6, 0.9, 1}, Unit: share,
		Of: "operators that hand a device nothing, ns per step",
		Origin: Origin{Kind: Guess,
			On:     "random numbers made on the device saved as much as they took on the CPU (one program, H200)",
			Repeat: "python bench/gpu/turns.py out.json 60 copy-encodings",
		}}
	// Plans is of plans that cuDNN makes for attention of new shapes.
	Plans = Row{ID: "launch/plans", Range: Range{0.8, 0.95, 1}, Unit: share,
		Of: "attention beside its calls of the device, where cuDNN makes a plan, ns per step; at most what the device does not compute",
		Origin: Origin{Kind: Guess,
			On:     "the kernels that come in its place need no plan (two programs, H200)",
			Repeat: "python bench/gpu/turns.py out.json 60 attention-lengths",
		}}
	// Compiling is what torch.compile takes at the start.
	Compiling = Row{ID: "launch/compiling", Range: Range{2.7, 15.4, 25.3}, Unit: "s",
		Of: "a program that compiles its model on a CPU; the low end where the cache is filled",
		Origin: Origin{Kind: Measured, Points: 18,
			On:     "perceptrons, transformers, convolutions, graphs and element-wise chains, until the first compiled steps have run",
			Span:   "5 to 523 operators a step, one thread, PyTorch 2.15",
			Repeat: "python bench/prices/compile.py",
		}}
	// CallsRollout is of an agent's calls between two steps of an environment.
	CallsRollout = Row{ID: "launch/rollout", Range: Range{0, 0.35, 0.9}, Unit: share,
		Of: "the same, where nothing that is called has a gradient",
		Origin: Origin{Kind: Guess,
			On: "nothing where the number of environments must stay; two side by side halve it, and eight leave a tenth or two",
		}}
	// CallsSequence is of a module's own loop over a sequence.
	CallsSequence = Row{ID: "launch/sequence", Range: Range{0, 0.5, 0.95}, Unit: share,
		Of: "small operators and the interpreter around them, ns per step",
		Origin: Origin{Kind: Guess,
			On: "nothing where each element needs all of the one before and no layer of PyTorch's does the same; nearly all where one does",
		}}
	// CallsPerParameter is of a loop over parameters that changes them, or those of an average of theirs.
	CallsPerParameter = Row{ID: "launch/per-parameter", Range: Range{0.4, 0.75, 0.95}, Unit: share,
		Of: "small operators and the interpreter around them, ns per step",
		Origin: Origin{Kind: Measured, Points: 20,
			On: "one call for lists that are made anew saved 0.4 to 0.82 of the loop, with lists that are kept 0.5 to 0.95; products of " +
				"256 by 1,024 numbers least",
			Span:   "6 to 160 parameters, five models, one thread, PyTorch 2.15",
			Repeat: "python bench/prices/parameters.py",
		}}
	// CallsNorms is of a loop that asks each parameter, or its gradient, for its norm.
	CallsNorms = Row{ID: "launch/norms", Range: Range{0.1, 0.4, 0.65}, Unit: share,
		Of: "small operators and the interpreter around them, ns per step",
		Origin: Origin{Kind: Measured, Points: 5,
			On:     "one call for all norms saved 0.09 to 0.29 of the loop, with lists that are kept 0.33 to 0.66",
			Span:   "6 to 160 parameters, five models, one thread, PyTorch 2.15",
			Repeat: "python bench/prices/parameters.py",
		}}
	// CallsListsDevice is of a loop over parameters on a device.
	CallsListsDevice = Row{ID: "launch/lists-device", Range: Range{0.4, 0.85, 1}, Unit: share,
		Of: "operators and the interpreter around them, ns per step; at most what the device does not compute",
		Origin: Origin{Kind: Guess,
			On:     "one call for all leaves little of the launching; norms that are read seldom nothing of the waiting",
			Repeat: "python bench/gpu/turns.py out.json 60 sync-norms",
		}}
	// CallsBetween is of a function that calls small operators outside of the steps.
	CallsBetween = Row{ID: "launch/between", Range: Range{0, 0.7, 0.97}, Unit: share,
		Of: "samples at the place, ns of the run",
		Origin: Origin{Kind: Guess,
			On: "nothing where each turn needs the one before; nearly all where elements are worked on together",
		}}
	// CallsApart is of such a function whose loop hands nothing from turn to turn that the next one's calls need.
	CallsApart = Row{ID: "launch/apart", Range: Range{0.4, 0.85, 1}, Unit: share,
		Of: "samples at the place, ns of the run",
		Origin: Origin{Kind: Guess,
			On: "all but a few calls where elements are worked on together; what prepares each of them may stay",
		}}
	// CallsInTurns is of a loop that calls small operators in steps of which no trace tells the operators.
	CallsInTurns = Row{ID: "launch/turns", Range: Range{0, 0.8, 1}, Unit: share,
		Of: "samples in the loop, ns per step",
		Origin: Origin{Kind: Guess,
			On: "nothing where each turn needs the one before; all but a few calls where elements are worked on together",
		}}
	// CallsBatched is of a loop over elements that becomes operators on all of them.
	CallsBatched = Row{ID: "launch/loop", Range: Range{0.6, 1, 1}, Unit: share,
		Of: "small operators and the interpreter around them without what stays, ns per step; the upper bound with it",
		Origin: Origin{Kind: Guess,
			On:     "the middle is arithmetic: each of the different operators is still called",
			Repeat: `make zoo CASES="launch-*"`,
		}}
	Recurrent = Row{ID: "launch/recurrent", Range: Range{0.5, 0.73, 0.96}, Unit: share,
		Of: "operators of recurrent layers, ns per step",
		Origin: Origin{Kind: Measured,
			On:   "one call for all elements against one for each, forward and backward: 54 to 96 %, median 73",
			Span: "layers of 64 to 256 units, 24 to 64 elements, batches of 1 to 64",
		}}
	// LSTMCells is of a loop that calls an LSTM's cell for each element of a sequence.
	LSTMCells = Row{ID: "launch/lstm-cells", Range: Range{0.2, 0.6, 0.83}, Unit: share,
		Of: "the loop's operators, those of its backward pass, and the interpreter around them, ns per step",
		Origin: Origin{Kind: Measured, Points: 14,
			On:     "nn.LSTM against nn.LSTMCell for each element, forward and backward: 22 to 83 %, one point 2 %, median 60",
			Span:   "32 to 512 units, 20 to 100 elements, batches of 1 to 64, one and two threads, PyTorch 2.15",
			Repeat: "python bench/prices/cells.py; python bench/prices/cells.py 2",
		}}
	// OtherCells is of a loop around cells of other kinds, whose layers only multiply all elements with their weights at once.
	OtherCells = Row{ID: "launch/cells", Range: Range{0.05, 0.23, 0.4}, Unit: share,
		Of: "the same, of nn.GRUCell and nn.RNNCell",
		Origin: Origin{Kind: Measured, Points: 28,
			On:     "nn.GRU and nn.RNN against their cells: 2 to 40 %, median 23",
			Span:   "32 to 512 units, 20 to 100 elements, batches of 1 to 64, one and two threads, PyTorch 2.15",
			Repeat: "python bench/prices/cells.py; python bench/prices/cells.py 2",
		}}
	// FewRows is of products with a row or two: the weights are read for each, and more rows would take hardly longer.
	FewRows = Row{ID: "launch/rows", Range: Range{0, 0.72, 0.92}, Unit: share,
		Of: "products of few rows with weights, ns per step",
		Origin: Origin{Kind: Measured, Points: 12,
			On: "8 rows at once saved 66 to 81 % of what they take one by one, 32 rows 81 to 92 %; nothing where no more rows are there " +
				"to be worked on",
			Span:   "2 to 16 layers of 256 to 4,096 units, one and two threads, PyTorch 2.15",
			Repeat: "python bench/prices/rows.py; python bench/prices/rows.py 2",
		}}
	// Heads is of attention whose heads a loop goes through, each with layers of its own.
	Heads = Row{ID: "launch/heads", Range: Range{0.15, 0.37, 0.55}, Unit: share,
		Of: "the heads' operators with their layers, forward and backward, and the interpreter around them, ns per step",
		Origin: Origin{Kind: Measured, Points: 12,
			On:     "one layer for all heads and one call of scaled_dot_product_attention: 15 to 52 %, more with more threads",
			Span:   "4 to 12 heads of 16 to 64, 32 to 256 places, batches of 8 to 32, one and two threads, PyTorch 2.15",
			Repeat: "python bench/prices/heads.py; python bench/prices/heads.py 2",
		}}
	// AtOnce is of a loop within a step whose turns one call can do, and AtOnceLong of one whose turns take long.
	AtOnce = Row{ID: "launch/at-once", Range: Range{0.5, 0.9, 1.25}, Unit: "times it",
		Of: "the loop's operators, forward and backward, the interpreter around them, and the optimizer's part for layers of its turns, " +
			"ns per step",
		Origin: Origin{Kind: Measured, Points: 28,
			On: "convolutions for each channel, networks of an ensemble, layers on one input, attention in windows and losses of each " +
				"place, turns of 90 to 750 µs: 67 to 96 % of the loop, median 78; six whole programs saved 0.8 to 1.2 times what was " +
				"counted, median 1.06",
			Span:   "8 to 200 turns, one and two threads, PyTorch 2.15",
			Repeat: "python bench/prices/atonce.py; python bench/prices/atonce.py 2",
		}}
	AtOnceLong = Row{ID: "launch/at-once, long turns", Range: Range{0.05, 0.15, 0.85}, Unit: share,
		Of: "the same, of turns of a millisecond and more",
		Origin: Origin{Kind: Measured, Points: 10,
			On:     "the same, turns of 1.1 to 8.3 ms: 7 to 26 %; losses of each place 84 %, as each writes a gradient of all of them",
			Span:   "8 to 32 turns, one and two threads, PyTorch 2.15",
			Repeat: "python bench/prices/atonce.py; python bench/prices/atonce.py 2",
		}}
	// Penalty is of a loop that adds a penalty on each parameter to the loss.
	Penalty = Row{ID: "launch/penalty", Range: Range{0.3, 0.85, 1.1}, Unit: "times it",
		Of: "the loop's operators and the interpreter around them, and the backward pass through them, ns per step",
		Origin: Origin{Kind: Measured, Points: 16,
			On: "one call for lists after the backward pass saved 78 to 87 % of squares, 23 to 74 % of absolute values and of norms; " +
				"weight_decay leaves nothing of it. A program saved 1.1 times what was counted",
			Span:   "6 and 72 parameters, four models, one thread, PyTorch 2.15",
			Repeat: "python bench/prices/penalty.py",
		}}

	// Columns is of a loop that looks up each column of a batch in a table of its own.
	Columns = Row{ID: "launch/columns", Range: Range{0.25, 0.65, 1.1}, Unit: share,
		Of: "the lookups' operators and the interpreter around them, and their gradients, ns per step",
		Origin: Origin{Kind: Measured, Points: 12,
			On:     "one table with an offset for each column: 27 to 82 %, median 61; the optimizer's calls for the tables end as well",
			Span:   "8 to 60 columns of 50 to 1,000 rows by 4 to 32, batches of 64 to 1,024, one and two threads, PyTorch 2.15",
			Repeat: "python bench/prices/columns.py; python bench/prices/columns.py 2",
		}}
	// RecordingCost is the most of calling operators that recording them is taken to have cost.
	RecordingCost = Row{ID: "launch/recording", Range: exactly(0.5), Unit: share,
		Of: "the calling in a run without steps",
		Origin: Origin{Kind: Guess,
			On: "beyond that the calibration is not of this program",
		}}
)
