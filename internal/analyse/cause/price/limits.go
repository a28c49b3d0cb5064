package price

// Limits from which rules speak, and numbers of statistics. The first word after each says where it comes from: a guess was chosen by
// looking at programs when the rule was written.
const (
	Floor = 0.03 // guess: share of the step or the run under which nothing is said

	Ninety        = 1.64 // mathematics: half width of 90 % of a normal distribution, in its standard deviations
	NinetyOfGroup = 1.83 // mathematics: the same of Student's, for ten groups

	MachineDrift = 0.08 // fitted: of the mean step, by which nine of ten public programs with like steps differ between stretches of a run

	WiderFitted = 0.05 // guess: of a row's middle by which its interval is wider where the row was fitted
	WiderGuess  = 0.10 // guess: the same where it is a guess
	NearlyAll   = 0.9  // guess: share from which a saving counts as the time itself

	NoGain         = 0.005 // guess: of operators' time that a fix saves or costs in a measurement up to which they take as long
	MeasuredMost   = 0.5   // guess: of the operators' time that was run again, from which the price is trusted
	MeasuredSome   = 0.15  // guess: the same, halfway
	MeasuredSpread = 1.1   // guess: of a measured saving's middle, its upper bound at the least
	CrowdedCores   = 0.5   // guess: cores that other programs keep busy, from which times of several threads say little

	// fitted: of the way from a price's lower bound to its middle, by which findings are ranked: two reports of each of 66 programs then
	// begin with the same cause in 63; with a half, in 61
	RankedBy      = 0.34
	RankedByGuess = 0.22 // guess: the same where nothing of the program supports the price
	// guess: of the run that a heap's end costs on average from which it is told: one run loses all of it and the next one nothing
	HeapWorth = 0.05

	SureSaving  = 1.5 // guess: upper bound of a saving over its lower one up to which it is trusted
	RoughSaving = 3   // guess: the same up to which it is trusted halfway

	Settled = 0.98 // guess: of a claim that is left it from which its price stays

	DriverShare  = 0.97 // guess: of samples from which a function drives the loop
	TensorShare  = 0.12 // guess: of native time without the interpreter's lock from which a function is tensor code
	CallGap      = 60e3 // guess: ns of the interpreter per operator beyond which it is no price of calling it
	CallGapLeast = 0.1  // guess: of the run's time in that
	LibraryShare = 0.5  // guess: of a place's time from which it is said to be a library's
	IdleShare    = 0.8  // guess: of samples of a library's code at which no device has work, from which the device waits for it
	SwitchShare  = 0.2  // guess: of a place's time in a part of a framework from which what leaves that out is said
	GrowthSure   = 3.5  // mathematics: standard deviations of the counts of samples, of hundreds of places one by chance in ten runs
	GrowthRises  = 1.2  // guess: each third of the steps over the one before

	GrowthNumbers = 4 << 10       // guess: bytes per step that a program's own kept numbers take at most
	GrowthHorizon = 7 * 24 * 3600 // guess: seconds until memory ends beyond which nobody waits for it
	GrowthSoon    = 3600          // guess: seconds until memory ends from which that comes before any saving

	BetweenShare  = 0.10 // guess: of the run in work on tensors outside of its steps, from which it is worth a word
	BetweenPython = 0.15 // guess: of that in the interpreter, from which it calls small operators
	BesideShare   = 0.10 // guess: of the step
	BesideRare    = 0.30 // guess: of the loop's time, for validations that only few of the steps make
	BesideTracked = 0.2  // guess: of a place's traced samples that may lie at operators that a gradient needs
	BesideOps     = 0.3  // guess: of a place's time in operators
	BesideNetwork = 0.15 // guess: of a place's time in calls of modules from which it runs a network

	SmallWait = 1e6 // guess: ns of waiting for a small message where its size is not known
	// guess: of collectives' time and of computing that a function may do beside them for that to be work on what is sent
	AroundCalls = 0.25
	SentClearly = 1.1  // guess: of what is sent, from which waits are told apart from it
	LateClearly = 0.1  // guess: of what is sent, from which waits for late ranks are told
	LateLead    = 1.1  // guess: of the others' work from which a rank is late
	LateOthers  = 0.1  // guess: of the late rank's time that others may spend where it is alone
	LateOwn     = 0.2  // guess: of the others' own time, likewise; and of a rank's lead, the least that a line explains
	LateSame    = 0.9  // guess: of a line's time that only the late rank spends, from which the others do not run it
	LeastCores  = 0.1  // guess: of the machine that other programs leave at the worst
	AllCores    = 0.9  // guess: of the cores that a program and its workers keep busy, from which none is idle
	SlowestHand = 0.25 // guess: of the machine that other programs leave at the worst while a batch is handed over

	NativeFetch = 0.7 // guess: of a fetch in native code from which it is no Python that could be written better
	WorkersPace = 0.6 // guess: of the workers' throughput, under which they are not what is waited for
	CachedMakes = 0.1 // guess: of the samples of compiling that may make code where it comes from a cache
	// guess: of a wait for what workers hand over, in making tensors of it, under which their number is not the reason
	FewPieces     = 0.1
	Collation     = 0.5  // guess: of a fetch in putting samples together, from which that is what is advised on
	PictureShrunk = 0.02 // guess: of a fetch that makes pictures smaller, from which it is one of large pictures
	HotFetch      = 0.25 // guess: of a fetch from which a line stands out
	// guess: of the operators' time in those that launch work of a device or wait for it, from which threads have no part in the others
	LaunchesNearly = 0.8
	CopiesLeast    = 16   // guess: copies to a device in a fetch, from which they are of its samples one by one
	HotLine        = 0.9  // guess: of a function's time from which its line is told alone
	FetchLine      = 0.8  // guess: of a fetch in one line, from which that line is worth a word beside more workers
	ShortestRest   = 0.02 // guess: of the step that is left where a wait is all of it
	MostWorkers    = 16.0 // guess: workers that are advised where the cores are not known
	LeastAwake     = 0.01 // guess: of a worker that sleeps
	DiskAsleep     = 0.15 // guess: of the samples in reads of a fast disk
	DiskBytes      = 0.01 // guess: bytes from disks for each ns of a fetch, from which it waits for them: 10 MB/s
	DiskNative     = 0.75 // guess: of them asleep or without the interpreter's lock
	UnevenFetch    = 1.5  // guess: a slow worker's batch ÷ the mean of all
	UnevenBusy     = 0.6  // guess: of the time between its first and last fetch in fetches
	ReplayError    = 0.05 // guess: as a share, how far an unmodified replay may be from the steps to price waits
	ReplayFaithful = 0.2  // guess: the same to price findings on traces

	UnusedLeast   = 0.25 // guess: of the gradients of a backward pass, from which those that no optimizer uses are named
	ThrownAdded   = 0.1  // guess: of gradients that are made anew, as many that are added to others, from which passes add up
	ThrownInputs  = 0.9  // guess: gradients besides the parameters' for each pass but one, from which passes ask for an input's
	UnusedFew     = 4    // guess: the same, in parameters
	PreparesLeast = 0.05 // guess: of the run, as a longer run, which most are, makes less of what comes before its first step

	AsksLeast   = 4.0  // guess: waits of a step for answers of a device, from which they are named
	AsksInTurn  = 16   // guess: questions of a step, from which some may be of a loop
	LaunchShare = 0.10 // guess: of the step
	// guess: tables that a step looks up columns in, from which a loop goes through them
	ColumnsLeast   = 8
	ColumnsLongest = 4e4  // guess: ns of a lookup or its gradient, beyond which it is no mere call
	TurnsAsk       = 0.05 // guess: of a loop's time in calls of a model or in learning, from which it goes from batch to batch
	PlansLeast     = 0.5  // guess: plans that cuDNN makes in a step, from which new shapes are no exception
	PlansSteps     = 3    // guess: traced steps from which that is known
	// guess: sparse matrices that a step's products put in order, from which one of them is ordered twice
	OrderedLeast = 2.0
	BatchLarger  = 4.0  // guess: items of another kind's batches ÷ items of its own, from which they are larger
	BatchSlower  = 2.0  // guess: time for an item ÷ that in the larger batches, from which small ones are what is slow
	LaunchEven   = 2.5  // guess: lines that a distribution is as even as (e to its entropy) from which none stands out
	LaunchLoop   = 0.33 // guess: of all calling, from which a loop within a step is a place, whatever stands beside it
	LaunchMost   = 0.5  // guess: of all calling, from which one place stands out all the same
	FusesLeast   = 0.6  // guess: of operators' time on a CPU in element-wise ones from which torch.compile is advised
	LaunchFaint  = 0.05 // guess: of a place's time under which one of its lines does not count as one that calls operators
	// fitted: launch cases of the zoo; of the calling, what stays at least when it is batched: each name is called once
	CallsStayLeast = 0.04
	CallsStayMost  = 0.15 // fitted: the same at most
	TracedShorter  = 2    // guess: times the operators of a traced step, from which those of the accounted ones are told by their time
	LaunchBeside   = 1.05 // guess: times a place's calling, from which that of the whole step is told beside it
	LaunchLeast    = 0.01 // guess: of a line's operators, the interpreter's time that any line is taken to have

	AttentionShare = 0.1 // guess: of the step in attention that is written out, from which one call for it is worth a word
	// measured: numbers in the matrix of weights, from which one call for attention is faster (python bench/prices/attention.py)
	AttentionElements = 2e6
	AttentionSoftmax  = 2e6     // guess: ns of a softmax, from which its matrix is as large where shapes are not known
	MemoryBoundShare  = 0.15    // guess: of the devices' or the step's time from which element-wise work is worth fusing
	ChainShare        = 0.35    // guess: of the step
	ChainOp           = 50e3    // guess: ns of an operator, on average
	MakesShare        = 0.15    // guess: of the optimizer's time in operators that make new tensors
	ZerosCalls        = 3       // guess: calls of a model with a matrix of zeros, from which it is one
	OrderLeast        = 0.5     // guess: of two products' multiplications that another order must save
	SingleOp          = 0.75    // guess: of the optimizer's time in one operator, from which there is nothing to fuse
	SparseRows        = 0.125   // guess: of a table's rows up to which looking up so many makes sparse gradients worth a word
	OnceRounds        = 3       // guess: rounds through the data from which preparing it once is told before workers: of two it takes one
	DenormalLooks     = 5       // guess: looks at a thread's register from which they say something
	DenormalMet       = 0.5     // guess: of the looks that found such numbers: of programs without a fault none did
	RowsTaken         = 0.25    // guess: of a copy's rows, up to which they are few
	RowsComputed      = 1 << 10 // guess: rows that layers compute, from which those that nothing reads take more than calling them
	DiagonalRows      = 1 << 7  // guess: rows of a square table, from which it takes more than calling what makes it
	HeadsCopied       = 1 << 16 // guess: numbers in keys or values that are repeated, from which the copies are worth a word
	RowsCopied        = 1 << 14 // guess: numbers in a copy, from which it takes more than calling it
	ContractionSpread = 4       // guess: times as large as its operands, and as what is summed of it, from which a table is worth a word
	SortedLeast       = 1 << 14 // measured: numbers in a tensor, from which topk saves most of sorting it (bench/prices/sorting.py)
	SortedTaken       = 0.1     // measured: of its places, up to which topk saves 60 % and more (bench/prices/sorting.py)
	DenormalNumbers   = 0.003   // measured: of the numbers read: products take 1.0 to 1.5 times as long (bench/prices/denormals.py)
	DenormalSlower    = 2       // guess: times the fastest quarter of products of the same shapes, from which one is slow
	DenormalAlike     = 1.5     // guess: times as much work, or as long in the forward pass, is as much
	DenormalCalls     = 8       // guess: products of the same shapes, from which their fastest quarter tells what they should take
	DenormalShare     = 0.05    // guess: of the step in operators that read such numbers
	SlowProduct       = 2e6     // guess: floating-point operations of a product of matrices, from which it takes more than calling it
	ProductOfThread   = 1e7     // guess: operations of it that are worth another thread
	ProductNarrow     = 16      // guess: places in its shortest dimension, from which computing it takes more than reading its inputs
	DoubleShare       = 0.20    // guess: of the step from which computing in float64 is worth a word: programs that mean it know it

	WorthUnits       = 1.8  // guess: matrix units' rate ÷ fp32's from which they are worth a change
	UnitsLeast       = 1.2  // guess: what programs see of it at least
	UnitsMost        = 0.95 // guess: of a kernel's time that they can end
	RatesKnown       = 0.2  // guess: of the kernels' time that operators of known shapes must have launched
	OtherUsers       = 0.10 // guess: of a device's time from which other programs' use of it is named
	FrozenShare      = 0.1  // guess: of the step in a network that does not learn, from which it is worth a word
	RowsFew          = 2    // guess: rows in a step's largest product, up to which the weights are read for hardly more than one
	RowsShare        = 0.5  // guess: of the operators' time in such products, from which they are the cause
	RowsSteps        = 100  // guess: steps, from which more of them at once is worth a word
	HeadsLeast       = 4    // guess: heads of attention one after the other, from which they are a loop
	AskedLooks       = 6    // guess: calls at a line that were looked at, from which they say something
	AskedLittle      = 0.05 // guess: of the time of the line that asks most in vain, below which another one is left: it may call much else
	AskedAgain       = 0.4  // guess: of them for what was answered before: half where a line asks twice, all where two lines ask once each
	AskedLine        = 0.7  // guess: of a line's samples where no gradient goes through, from which it works on the inputs alone
	FrozenPart       = 0.5  // guess: of a call's samples where no gradient goes through
	WritingShare     = 0.04 // guess: of the run, from which texts that are written beside a training are worth a word
	ValidationRounds = 3    // guess: rounds of validation, under which nothing is known of how often there are some
	ValidationOften  = 1.5  // guess: rounds of validation in an epoch, from which they are many
	ValidationShare  = 0.1  // guess: of the run, from which they are worth a word
	PaddingShare     = 0.15 // guess: of a batch's places, and of the step, from which filling is worth a word
	PaddingSlow      = 0.02 // guess: of operators' time that denormal numbers take, from which fewer places save nothing for sure
	PaddingOwn       = 0.05 // guess: of a batch's places that go where it is filled up to its own longest sequence only
	PaddingLooks     = 3    // guess: batches that must have been looked at
	PrefixSteps      = 4    // guess: traced steps in turn that have the same number of rows more each
	PrefixTokens     = 8    // guess: of a sequence, from which computing it again is worth a word
	PrefixCalls      = 8    // guess: calls of a model in turn that are given as many rows more each, from which a text is written
	PrefixLong       = 64   // guess: tokens of such a text from its beginning, from which steps need not show that it grows
	PrefixHidden     = 1.5  // guess: a text's last length over its first one, up to which they cannot be asked to
	PrefixGroup      = 8    // guess: unprofiled steps whose median counts as one
	PrefixPoints     = 3    // guess: such groups that a line needs
	PrefixLonger     = 1.15 // guess: the last group's time over the first one's from which steps grow with the sequence
	PrefixDrop       = 0.75 // guess: of the longest group before, below which a new sequence has begun
	ManyThreads      = 1.9  // guess: threads ÷ cores from which they are too many

	SavedCall          = 4e5     // measured: ns of a call of torch.save for a tensor of a few bytes (python bench/prices/views.py)
	PageSize           = 4096    // mathematics: bytes that a page fault gives, unless the kernel makes huge pages of them
	FourierPrime       = 47      // measured: a length's largest prime factor, from which transforms take much longer (bench/prices/fft.py)
	FourierOnDevice    = 67      // measured: the same on an H200
	FourierMost        = 1 << 36 // arithmetic: a length beyond which no signal fits in memory
	FourierLeast       = 100     // measured: lengths down to which that holds, as short ones were not looked at
	SeparableLeast     = 13      // measured: places on a window's shorter side from which two passes take less (bench/prices/separable.py)
	SeparableOnDevice  = 9       // measured: the same on an H200
	SeparablePass      = 2.5     // measured: how much longer a place takes in a window of one row or column (bench/prices/separable.py)
	SeparableChannels  = 4       // guess: channels up to which pictures are filtered; networks that learn such windows have more
	AtOnceTurns        = 8       // guess: turns from which doing them at once is worth another form
	AtOnceSeen         = 0.4     // guess: of what traced turns take, from which samples in a loop show that it calls them
	AtOnceShort        = 1e6     // measured: ns of a turn, up to which most of its time is calling (bench/prices/atonce.py)
	UnfoldedLeast      = 1 << 16 // guess: numbers in pictures whose windows become a table, from which it takes more than calling
	LongFilterTaps     = 256     // measured: taps from which a product of spectra saves most of a filter (bench/prices/longfilters.py)
	LongFilterChannels = 4       // guess: filters of a convolution, for each pair of channels, up to which spectra are not summed for long
	JacobianLonger     = 2       // guess: results for each number that a function takes, from which going forward pays
	JacobianRows       = 8       // guess: rows that are computed one by one, from which one pass for all pays
	SuppressionShare   = 0.1     // guess: of a step, from which suppressing boxes goes over more of them than are worth it
	RegrownLeast       = 1 << 16 // guess: numbers of a tensor that grows, from which copying it takes longer than the call
	RegrownTimes       = 2       // guess: rows that it has for each that it gets, from which most of the time copies what was there
	UnmadeRows         = 1024    // guess: rows of a table that no step makes; smaller numbers stand for many things
	UnmadeLeast        = 1 << 22 // guess: its numbers
	PairsLeast         = 1 << 18 // guess: numbers in a table of differences, from which a product of matrices pays
	UnreadLeast        = 4       // guess: places of a layer's answer for each that is read, from which the others are worth a word
	AllocatorSwing     = 1 << 20 // guess: bytes of private memory from one look to the next, from which memory is given back and taken
	AllocatorDiffers   = 1.5     // guess: times as many page faults, from which parts of a run differ
	LayersRepeat       = 4       // guess: products with weights for each parameter in a step, beyond which layers are called in a loop
	AllocatorLasts     = 0.6     // guess: of the steps with page faults, below which it comes and goes
	AllocatorSteps     = 8       // guess: steps without a trace that must have been looked at: of four, every second run says the opposite
	// guess: ns of system time that a page fault takes at most, with clearing the page and giving it back: 1,600 to 1,900 on one machine
	FaultMost  = 4e3
	HeapSeen   = 100  // guess: pages that a step takes again in some stretch of the run, from which the heap's end can go back
	HeapMapped = 4    // guess: times what is free in the heap, beyond which steps fault on blocks with mappings of their own
	HeapSame   = 0.95 // guess: of the most pages that a stretch takes again, from which all stretches take the same
	// measured: ns of a run for a page fault: by two threads 950 to 2,200 in fifteen programs, by one 1,400 to 1,900 in three
	FaultUsual = 1.5e3
	// measured: 10 µs for a page that a virtual machine's host had to give first (python bench/prices/graphs.py)
	FreshFaultMost = 15e3
	GraphGrowth    = 512 << 20 // guess: bytes by which a process at least doubles after the last step, from which a graph fills it
)
