package price

// Operators on the CPU.
var (
	// FusedInPlace is of an optimizer's chain whose operators work in place.
	FusedInPlace = Row{ID: "memory-bound/in-place", Range: Range{0.1, 0.35, 0.5}, Unit: share,
		Of: "the optimizer's operators, ns per step",
		Origin: Origin{Kind: Measured,
			On:   "SGD with momentum against its fused form: 17 to 45 %",
			Span: "0.2 to 13 million parameters",
		}}
	// FusedAnew is of one whose operators make new tensors.
	FusedAnew = Row{ID: "memory-bound/anew", Range: Range{0.5, 0.8, 0.97}, Unit: share,
		Of: "the optimizer's operators, ns per step",
		Origin: Origin{Kind: Measured,
			On:   "Adam and weight decay against their fused form: 48 to 93 %",
			Span: "0.2 to 13 million parameters", Repeat: "make zoo CASES=memory-optimizer",
		}}
	// FusedNew is the part that operators which make new tensors lose; in-place ones lose FusedInPlace's middle.
	FusedNew = Row{ID: "memory-bound/new-tensors", Range: exactly(0.96), Unit: share,
		Of: "operators that make new tensors",
		Origin: Origin{Kind: Fitted,
			On:   "the same measurements",
			Span: "0.2 to 13 million parameters",
		}}
	// FusedChain is of the program's own chains.
	FusedChain = Row{ID: "memory-bound/chain", Range: Range{0.1, 0.35, 0.7}, Unit: share,
		Of: "element-wise operators, ns per step",
		Origin: Origin{Kind: Guess,
			On: "as an optimizer's in place; how much of a chain fuses is not known",
		}}
	// AttentionTrains, AttentionDrops and AttentionInfers are of attention that is written out on a CPU, with a matrix of weights of two
	// million numbers and more.
	AttentionTrains = Row{ID: "memory-bound/attention", Range: Range{0, 0.4, 0.6}, Unit: share,
		Of: "operators of attention that is written out, forwards and backwards, ns per step",
		Origin: Origin{Kind: Measured, Points: 10,
			On:     "the one call saved 0.22 to 0.71 of it with a mask, 0.32 to 0.51 without one, and -0.2 for one size of five",
			Span:   "2 to 13 million numbers, two threads, PyTorch 2.15",
			Repeat: "python bench/prices/attention.py",
		}}
	AttentionDrops = Row{ID: "memory-bound/attention-dropout", Range: Range{0, 0.15, 0.22}, Unit: share,
		Of: "the same, where weights are masked and dropped",
		Origin: Origin{Kind: Measured, Points: 5,
			On:     "the one call saved 0.05 to 0.23; without a mask, -0.12 to 0.07",
			Span:   "2 to 13 million numbers, two threads, PyTorch 2.15",
			Repeat: "python bench/prices/attention.py",
		}}
	AttentionInfers = Row{ID: "memory-bound/attention-inference", Range: Range{0.2, 0.47, 0.8}, Unit: share,
		Of: "the same, without a backward pass",
		Origin: Origin{Kind: Measured, Points: 10,
			On:     "the one call saved 0.2 to 0.83, most of the largest",
			Span:   "2 to 13 million numbers, two threads, PyTorch 2.15",
			Repeat: "python bench/prices/attention.py",
		}}
	// OneHot is what looking rows up saves: nearly all that the operators take, and what their matrices push out of the caches.
	OneHot = Row{ID: "memory-bound/one-hot", Range: Range{0.85, 1, 1.35}, Unit: "times it",
		Of: "operators that make, convert and multiply one-hot vectors, and their backward passes, ns per step",
		Origin: Origin{Kind: Measured, Points: 26,
			On: "one_hot, float and a linear layer against nn.Embedding, six sizes, inference and training: 67 to 100 %, medians of " +
				"93 to 99; two whole programs saved 1.1 to 1.7 times what their operators take",
			Span:   "PyTorch 2.15, 500 to 30,000 classes, 64 to 2,048 rows, one and two threads",
			Repeat: "python bench/prices/onehot.py",
		}}
	// Pairs is what a product of matrices saves of squared distances that are written by broadcasting.
	Pairs = Row{ID: "memory-bound/pairs", Range: Range{0.3, 0.75, 1.2}, Unit: "times it",
		Of: "operators on differences of all pairs, and their backward passes, ns per step",
		Origin: Origin{Kind: Measured, Points: 35,
			On: "|x|^2 + |y|^2 - 2 x y^T, eight sizes, inference and training: 28 to 70 % of 2 numbers a point, 52 to 99 % of more; " +
				"three whole programs saved 0.3 to 1.1 times what their operators take",
			Span:   "PyTorch 2.15, 90,000 to 4,000,000 pairs of 2 to 128 numbers, one and two threads",
			Repeat: "python bench/prices/pairs.py",
		}}
	// AllProducts is what a product of matrices saves of products of all pairs that are written by broadcasting.
	AllProducts = Row{ID: "memory-bound/products", Range: Range{0.5, 0.9, 1.15}, Unit: "times it",
		Of: "operators on products of all pairs, or on their cosines, and their backward passes, ns per step",
		Origin: Origin{Kind: Guess, Points: 1,
			On: "nearly all goes, as of distances that are written so; of a step of 131 ms on an H200 88 were saved",
		}}
	// Contraction is what einsum saves of products of few tensors that are written by broadcasting and summed.
	Contraction = Row{ID: "memory-bound/contraction", Range: Range{0.4, 0.85, 1.1}, Unit: "times it",
		Of: "operators on such products and their backward passes, ns per step",
		Origin: Origin{Kind: Guess, Points: 1,
			On: "of 0.54 s a step of a bilinear form that was written so 0.4 s were saved",
		}}
	// CopiedRows is what copies save of which few rows are used, where the rows are taken before.
	CopiedRows = Row{ID: "memory-bound/few-rows", Range: Range{0.6, 1, 2}, Unit: "times it",
		Of: "copies of tensors, by the share of their rows that nothing reads, ns per step",
		Origin: Origin{Kind: Guess, Points: 1,
			On: "the copies of one program were 19 % of its steps, and a third of its run went with them: pages that are taken for " +
				"each copy, and caches that are left to others",
		}}
	// Sorted is what sorting saves where topk takes the few places that are used.
	Sorted = Row{ID: "memory-bound/sorted", Range: Range{0.65, 0.92, 0.97}, Unit: share,
		Of: "operators that sort tensors of which up to a tenth of the places are taken, ns per step",
		Origin: Origin{Kind: Measured, Points: 70,
			On:     "sort and topk on a CPU: 63 to 81 % where a tenth is taken, 90 to 98 % where a hundredth is or less",
			Span:   "16,000 to 4 million numbers in rows of 100 to 1,000,000, up to a tenth of them taken; PyTorch 1.13 and 2.15",
			Repeat: "python bench/prices/sorting.py",
		}}
	// ComputedRows is what layers save of which few rows are used, where the rows are taken before.
	ComputedRows = Row{ID: "memory-bound/computed-rows", Range: Range{0.7, 1, 1.1}, Unit: "times it",
		Of: "operators that compute each row by itself and their backward passes, by the share of rows that nothing reads, ns per step",
		Origin: Origin{Kind: Guess, Points: 1,
			On: "arithmetic; of 11.9 ms a step on an H200 11.7 were saved",
		}}
	// Diagonals is what tables save of which only the diagonal is used, where that alone is computed.
	Diagonals = Row{ID: "memory-bound/diagonal", Range: Range{0.6, 0.95, 1.1}, Unit: "times it",
		Of: "products that make such tables, what is computed of these, and their backward passes, ns per step",
		Origin: Origin{Kind: Guess,
			On:     "arithmetic: of n times n pairs n remain; of 5.0 s promised to its zoo case 5.3 were saved",
			Repeat: "make zoo CASES=diagonal PROVE=0",
		}}
	// RepeatedHeads is what an attention saves that shares keys and values among heads without copies of them.
	RepeatedHeads = Row{ID: "memory-bound/heads", Range: Range{0.4, 1, 1.5}, Unit: "times it",
		Of: "copies of keys and values for heads that share them, ns per step",
		Origin: Origin{Kind: Guess, Points: 1,
			On: "the copies go, and attention reads less; of a cache that grows the copies do, too; one program on an H200",
		}}
	// ProductOrder is what products of matrices save in another order.
	ProductOrder = Row{ID: "memory-bound/order", Range: Range{0.6, 0.95, 1.3}, Unit: "times it",
		Of: "two products in a row, both ways, by the share of multiplications that the other order does without, ns per step",
		Origin: Origin{Kind: Guess,
			On: "arithmetic; the result between, which is not made, also takes memory anew and pushes what others need out of the " +
				"caches; of 1.8 s promised to a program that was written afterwards 1.8 were saved",
		}}
	// Zeros is what a matrix saves that holds only what is not zero.
	Zeros = Row{ID: "memory-bound/zeros", Range: Range{0.4, 0.9, 1}, Unit: "times it",
		Of: "products with a matrix that is nearly all zeros, and their backward passes, ns per step",
		Origin: Origin{Kind: Guess,
			On: "a graph of 5,000 places with 0.2 % of its edges: 4.6 of 8.4 s, nearly all of the products; of 2.2 s promised to a " +
				"program that was written afterwards, a table of words, 2.1 were saved; with one number in ten that is not " +
				"zero it saves much less",
		}}
	// FourierLength is what transforms of the next length that factors into small primes save of those with a large prime factor.
	FourierLength = Row{ID: "memory-bound/fft-length", Range: Range{0.4, 0.68, 0.9}, Unit: share,
		Of: "Fourier transforms of such lengths, and their backward passes, ns per step",
		Origin: Origin{Kind: Measured, Points: 312,
			On: "rfft, irfft and fft against the next longer multiple of four that factors into 2, 3, 5 and 7, with the padding, " +
				"inference and training: 10 to 94 %, nine of ten 43 % and more, one of ten 85 % and more, half of them 68 %",
			Span:   "PyTorch 2.15 with MKL, lengths of 100 to 200,000, prime factors from 47 on, two threads",
			Repeat: "python bench/prices/fft.py",
		}}
	// FourierDevice is the same on a device.
	FourierDevice = Row{ID: "memory-bound/fft-length on a device", Range: Range{0.15, 0.55, 0.75}, Unit: share,
		Of: "Fourier transforms of such lengths, and their backward passes, ns per step",
		Origin: Origin{Kind: Measured, Points: 228,
			On: "as on the CPU, of 6 and 32 million numbers: -4 to 83 %, nine of ten 19 % and more, one of ten 74 %. A program " +
				"that somebody else wrote saved 11.8 ms a step of 16.7",
			Span:   "PyTorch 2.11 on an H200, lengths of 100 to 200,000, prime factors from 67 on",
			Repeat: "python bench/prices/fft.py 2 1 cuda",
		}}
	// Separable is what filters save that go along rows and columns, of the multiplications that go.
	Separable = Row{ID: "memory-bound/separable", Range: Range{0.6, 1, 1.25}, Unit: "times it",
		Of: "convolutions with a window for each channel, and their backward passes, by the share of places that go; those that stay " +
			"take 2.5 times as long, ns per step",
		Origin: Origin{Kind: Measured, Points: 88,
			On: "Gaussian windows of 15, 23 and 31 places over one and three channels on a CPU, of 9 to 31 on an H200, inference and " +
				"training: 0.7 to 1.4 times it, nine of ten; of smaller windows half gain nothing on a CPU. Of 6.3 ms that were " +
				"promised to a program on an H200 4.3 were saved",
			Span:   "PyTorch 2.15 with oneDNN, two threads; PyTorch 2.11 on an H200",
			Repeat: "python bench/prices/separable.py",
		}}
	// LongFilter is what a product of spectra saves of filters of many taps.
	LongFilter = Row{ID: "memory-bound/long-filter", Range: Range{0.6, 0.95, 1}, Unit: share,
		Of: "convolutions with filters of 256 taps and more, and their backward passes, ns per step",
		Origin: Origin{Kind: Measured, Points: 60,
			On:     "256 to 8,192 taps, inference and training: 58 to 100 %, median 97; of 128 taps 20 to 96 %, of 32 some got slower",
			Span:   "PyTorch 2.15 with oneDNN and MKL, 16 to 64 signals of 10,000 to 160,000 numbers, one and two threads",
			Repeat: "python bench/prices/longfilters.py; python bench/prices/longfilters.py 1",
		}}
	// Unfolded is what a convolution saves of a table of windows and its product with weights.
	Unfolded = Row{ID: "memory-bound/unfolded", Range: Range{0.55, 0.83, 1.1}, Unit: "times it",
		Of: "tables of windows and products with them, forward and backward, ns per step",
		Origin: Origin{Kind: Measured, Points: 28,
			On:     "conv2d in place of unfold and a product, inference and training: 59 to 97 %, median 83; a program saved 93 %",
			Span:   "PyTorch 2.15 with oneDNN, windows of 3 to 7, 8 to 64 pictures of 3 to 64 channels, one and two threads",
			Repeat: "python bench/prices/unfolded.py; python bench/prices/unfolded.py 1",
		}}
	// Regrown is what appending to a list saves, with one concatenation at the end, of concatenations that copy all rows so far.
	Regrown = Row{ID: "memory-bound/regrown", Range: Range{0.8, 1, 1.25}, Unit: "times it",
		Of: "concatenations of a tensor that one of them has made with the next rows, by the share of those that were there, ns per step",
		Origin: Origin{Kind: Measured, Points: 60,
			On: "8, 24 and 64 parts of 2,560 to 9 million numbers, gathered by growing and by a list: 0.88 to 3.9 times it, nine of " +
				"ten 0.93 and more, one of ten 1.27 and more",
			Span:   "PyTorch 2.15, two threads",
			Repeat: "python bench/prices/regrown.py",
		}}
	// Suppression is what suppressing overlaps among the boxes alone that are likely enough to be kept saves of it.
	Suppression = Row{ID: "memory-bound/suppression", Range: Range{0.2, 0.85, 0.98}, Unit: share,
		Of: "non-maximum suppression on the CPU, ns per step",
		Origin: Origin{Kind: Guess,
			On: "its time grows with the square of the boxes: a third of them takes a tenth; most boxes of a trained detector are far " +
				"below the score from which any is kept",
		}}
	// Unread is what a layer saves that answers for the places alone that are read.
	Unread = Row{ID: "padding/unread", Range: Range{0.8, 1, 1.3}, Unit: "times it",
		Of: "the layer and its backward pass, by the share of places that nothing reads, ns per step",
		Origin: Origin{Kind: Guess,
			On: "arithmetic; large answers also push what others need out of the caches",
		}}
	SparseTable = Row{ID: "memory-bound/tables", Range: Range{0.8, 1, 1}, Unit: share,
		Of: "operators over whole tables without what rows in use cost, ns per step; the upper bound with " +
			"it, the lower one with twice that",
		Origin: Origin{Kind: Guess,
			On:     "the middle is arithmetic",
			Repeat: "make zoo CASES=memory-tables",
		}}
	// SparseRow is what a row in use costs with a sparse gradient.
	SparseRow = Row{ID: "memory-bound/sparse-row", Range: Range{2, 4.5, 7}, Unit: "times a row with a dense one",
		Of: "rows that a step looks up",
		Origin: Origin{Kind: Measured,
			On:   "Adam, Adagrad and SGD",
			Span: "50,000 to 1,000,000 rows by 16 to 64 numbers, 256 to 16,384 indices",
		}}
	// SparseCall is what its operators cost beside that: 9 (SGD) to 32 (SparseAdam) that nothing encloses. The run's own small operators
	// are no measure of them: dense tables leave cold caches, in which they take several times as long.
	SparseCall = Row{ID: "memory-bound/sparse-call", Range: Range{0.15e6, 0.3e6, 0.4e6}, Unit: ns,
		Of: "each table and step",
		Origin: Origin{Kind: Measured,
			On:   "Adam, Adagrad and SGD, on two cores",
			Span: "the rows and indices of memory-bound/sparse-row",
		}}
	NoFastCode = Row{ID: "precision/no-fast-code", Range: Range{0.6, 0.85, 0.97}, Unit: share,
		Of: "convolutions in PyTorch's own fallback, ns per step",
		Origin: Origin{Kind: Guess, Points: 1,
			On: "one network took twelve times as long in float16 as in float32",
		}}
	// SlowProducts is how fast float32 multiplies matrices where half formats are slower: on processors without instructions for them.
	SlowProducts = Row{ID: "precision/slow-products", Range: Range{15, 50, 80}, Unit: "operations per ns and thread in float32",
		Of: "products of matrices in half precision, ns per step",
		Origin: Origin{Kind: Measured, Points: 150,
			On: "the passes of linear layers in bfloat16, float16 and float32: 16 to 79 in float32, nine of ten; 0.3 to 11 in the half " +
				"formats, of which float32 saves 76 to 99 %, half of them 96 % and more",
			Span:   "2 to 1,000 million multiplications, one and two threads, a processor with AVX2; PyTorch 1.13, 2.4 and 2.15",
			Repeat: "python bench/prices/halves.py",
		}}
	// Denormals is how much longer operators take for each share of denormal numbers that they read.
	Denormals = Row{ID: "precision/denormal", Range: Range{0, 50, 160}, Unit: "times it, for all of the numbers",
		Of: "time of operators that read such numbers, ns per step or of the run, by their share of what is read",
		Origin: Origin{Kind: Measured, Points: 42,
			On: "on an Intel processor products took 24 to 137 times as long, elementwise operators 8 to 14 times (from a tenth of the " +
				"numbers on), ReLU no longer; processors that are built for such numbers " +
				"were not measured",
			Repeat: "python bench/prices/denormals.py",
		}}
	// DenormalProducts is of matrix products that take longer than others of their shapes, where the processor meets denormal numbers.
	DenormalProducts = Row{ID: "precision/denormal-products", Range: Range{0.5, 1.25, 1.8}, Unit: share,
		Of: "what slow products of matrices take beyond others of their shapes, ns per step",
		Origin: Origin{Kind: Measured, Points: 8,
			On: "flushing such numbers in blocks of attention saved 1.0 to 1.2 times it, once 0.4; in a BERT, whose Adam computes with " +
				"such numbers, too, 1.6 times",
			Span:   "256 to 768 wide, scores of 64 to 256 times the usual size, two threads, an Intel processor, PyTorch 2.15",
			Repeat: "python bench/prices/saturated.py",
		}}
	Float64 = Row{ID: "precision/float64", Range: Range{0.35, 0.55, 0.75}, Unit: share,
		Of: "operators on float64, ns per step",
		Origin: Origin{Kind: Measured, Points: 2,
			On: "52 % of linear layers forwards and backwards, 75 % of an LSTM's",
		}}
)
