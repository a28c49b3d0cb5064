package model

import "slices"

// Role is what a process does in its job.
type Role string

// Roles of processes.
const (
	RoleMain     Role = "main"     // the program itself, without ranks
	RoleRank     Role = "rank"     // one rank of a distributed job
	RoleWorker   Role = "worker"   // DataLoader worker
	RoleCompile  Role = "compile"  // Inductor compile worker
	RoleLauncher Role = "launcher" // torchrun, accelerate, a shell
	RoleOther    Role = "other"
)

// Process is one process of the job. What the agent did not see in it is empty; samples come from outside.
type Process struct {
	PID, PPID   int
	Host        string
	Role        Role
	Rank        int // NoRank outside a distributed job
	LocalRank   int
	WorldSize   int
	WorkerIndex int // of a DataLoader worker; -1 otherwise
	Listens     Listening
	Command     []string
	Folder      string // in which it was started; "" unknown
	Start, End  Time
	ExitStatus  *int
	Python      string
	Torch       string
	Agent       bool // the agent was loaded in it
	MainThread  int  // native thread id

	Steps     []Step
	Spans     []Span
	Windows   []Window
	Loaders   []Loader
	Imports   []Span // kind import, outermost first
	Samples   Samples
	Notes     []Note
	Queues    []QueueLength
	Padding   []Padding  // by time
	Asked     []Asked    // by time
	Parts     []Asked    // calls of modules within those of Asked, with a part of what these were given; by time
	Updates   []Updates  // by time
	Unused    []Unused   // by time
	Denormals []Denormal // by time
	Jacobians []Jacobian // by end
	Saved     []Saved    // by end
	Usage     []Usage    // by time
	Owned     []Owned    // by time; of forks only
	InUse     []InUse    // by time; at ends of steps
	Pages     []Pages    // by time; at the ends of the first steps
	// Allocator is the library that serves its malloc: "glibc", "jemalloc", …; "" unknown.
	Allocator string
	Exit      string  // how it ended, as the agent saw it ("exit", "exception", "os._exit"); "" when it was killed or still runs
	Own       OwnCost // of the agent in this process
	// NoKernels says why the work of the device that this process used may be missing from its traces, and the way round; "" without a
	// device.
	NoKernels string
	// Counters are torch's own and the agent's, at the end ("graph_breaks", "recompiles", …).
	Counters map[string]float64
}

// Listening says whether a process had a socket on which others could ask something of it, as the kernel told.
type Listening uint8

// Whether a process listens.
const (
	ListeningUnknown Listening = iota
	ListensYes
	ListensNo
)

// StepSource says what told the beginning of a step.
type StepSource string

// Sources of steps, strongest first.
const (
	StepMark       StepSource = "mark"
	StepProfiler   StepSource = "profiler-step"
	StepTrainer    StepSource = "trainer"
	StepOptimizer  StepSource = "optimizer"
	StepDataLoader StepSource = "dataloader"
	StepPeriod     StepSource = "period"
	StepSamples    StepSource = "samples" // of a forward step, which no mark begins
	StepNone       StepSource = "none"
)

// KindForward is the kind of a stretch between two updates in which the model is only called: a rollout before its updates, a validation
// after an epoch. It is cut off the step that an optimizer's marks bound, and has that step's number.
const KindForward = "forward"

// PhaseKind is what was measured while something ran.
type PhaseKind uint8

// Phases of a run; PhaseEdge is a step in which a profiler started or stopped, which counts for nothing.
const (
	PhaseWarmup PhaseKind = iota
	PhaseBaseline
	PhaseTrace
	PhaseDetail
	PhaseEdge
)

func (p PhaseKind) String() string {
	return [...]string{"warmup", "baseline", "trace", "detail", "edge"}[min(int(p), 4)]
}

// Step is one iteration of the program's loop in one process. Steps of a process do not overlap.
type Step struct {
	Number     int64 // counted from 0 over all kinds, as the agent counted
	Kind       Str   // "train", "validation", …
	Source     StepSource
	Phase      PhaseKind
	Start, End Time
	DeviceDur  Dur   // by device events, between the steps left out; 0 where there is no device
	Items      int32 // samples in the batch; 0 where not seen
	Thread     int   // native thread id that drives it
	// Skipped counts the steps between this one and the next that have no entry of their own: the agent leaves out some of very
	// many fast ones. Their time is from End to the next one's Start.
	Skipped int64
}

// Count is 1 for the step itself, and one for each that was left out after it.
func (s *Step) Count() int { return 1 + int(s.Skipped) }

// SpanKind is what an interval seen by the agent was.
type SpanKind uint8

// Kinds of spans.
const (
	SpanDataWait  SpanKind = iota // a DataLoader's __next__ in the consumer
	SpanFetch                     // a worker (or the main process) fetching one batch: reading, transforming, collating
	SpanGC                        // garbage collection
	SpanCompile                   // torch.compile at work
	SpanImport                    // import of a module
	SpanIO                        // checkpoint and other file writing or reading
	SpanRegion                    // record_function, NVTX, ITT, user marks
	SpanAction                    // Lightning's or another trainer's action
	SpanOptimizer                 // optimizer.step
	SpanProfiler                  // our own profiler starting, stopping or exporting
	SpanOther
)

// Span is an interval on one thread of a process.
type Span struct {
	Kind       SpanKind
	Start, End Time
	Thread     int // native thread id
	Name       Str
	File       Str // of the user's line that caused it, where known
	Line       int32
	Detail     Str   // reason of a recompilation, path of a file, …
	Value      int64 // generation of a collection, bytes written, batch index, …
	Loader     int32 // index in Loaders for SpanDataWait and SpanFetch, else -1
}

// Window is one session of torch's profiler that the agent made.
type Window struct {
	Number             int
	Phase              PhaseKind // PhaseTrace or PhaseDetail
	Start, End         Time      // recording
	StopDone           Time      // when the program went on
	FirstStep, EndStep int64     // half-open; both -1 for a program without steps
	Events             int64
	File               string // name of the trace in the process's folder, "" where none was written
	Error              string
}

// Loader is a DataLoader that the program built.
type Loader struct {
	ID         int32 // the agent's number of it in the process that built it; its workers' processes carry the same
	Workers    int
	BatchSize  int
	Prefetch   int
	Pin        bool
	Persistent bool
	Dataset    string // class name
	Iterable   bool   // the data set is iterated, not indexed: each worker goes through it
	Length     int64  // batches; -1 unknown
	File       Str    // where it was built
	Line       int32
}

// QueueLength is how many batches of a DataLoader were ready when the program asked for one.
type QueueLength struct {
	Time   Time
	Loader int32 // index in Loaders
	Ready  int32
}

// Padding is how much of a batch of sequences is filling, at one of the few batches that the agent looks at.
type Padding struct {
	Time                         Time
	Loader                       int32 // index in Loaders; -1: a model was called with it, in a program that has asked no loader so far
	File                         Str   // with Line: what calls the model
	Line                         int32
	Rows, Width, Filled, Longest int64 // sequences; columns; places that are no filling, of all sequences together and of the longest
}

// TimedOnDevice says that a device told how long some of the process's steps took.
func (p *Process) TimedOnDevice() bool {
	return slices.ContainsFunc(p.Steps, func(st Step) bool { return st.DeviceDur > 0 })
}

// Asked is one of the first calls of models from outside all modules, or of a part of a model: the same Inputs are tensors in which the
// same stands, or the same tensors, into which nothing was written in between.
type Asked struct {
	Time    Time
	End     Time  // of the call; 0 where that is not known
	Module  int64 // number of the model in the process, from 1
	Inputs  Str   // what stands for all that it was given; 0 where that cannot be told
	Weights int64 // grows with each change of its weights
	File    Str   // with Line: what calls it
	Line    int32
	Rows    int64 // that a layer would multiply with its weights, tokens each by itself; -1 unknown
	Fewest  int64 // those of the tensor that has the fewest; -1 unknown
	// Zeros is the form, rows and columns, of the largest matrix that it was given or holds beside its weights of which nearly all is
	// zero, as far as a part of it tells; {0, 0} for none.
	Zeros [2]int64
	// Gradients are recorded; some weight wants them (Trained); a dropout in it draws numbers (Random); it is in training mode.
	// Of some tensor among these no bytes were compared, as of all on a device: what changes no version of it is not seen there (Unread).
	Gradients, Trained, Random, Training, Unread bool
	// Some tensor of such numbers among these has no version, as inference_mode made it: what is written into it is not seen there.
	LooseInts, LooseFloats bool
}

// Unused are the weights of a model that hold gradients and that no optimizer had changed by then.
type Unused struct {
	Time   Time
	Module int64 // number of the model in the process, from 1, as of Asked
	Class  Str
	File   Str // with Line: what calls it
	Line   int32
	Sizes  map[int64]int64 // numbers of weights by their numbers of elements; nil where there are none any more
}

// Denormal are numbers too small to be kept whole that were met among those that a module was given.
type Denormal struct {
	Time        Time
	Class       Str // of the module
	File        Str // with Line: what calls the model that it is a part of
	Line        int32
	Size        int64 // numbers in the tensor
	Read, Found int64 // how many of them were read, and how many of these were so small
}

// Jacobian is one that torch has computed backward.
type Jacobian struct {
	Start, Backward, End Time  // when its function is called, and from when on it goes backward; that is Start where it is not known
	Outputs, Inputs      int64 // numbers that the function gives and takes
	ByRow                bool  // a backward pass for each of them, not one for all
	File                 Str   // with Line: what asks for it
	Line                 int32
}

// Updates is how many parameters an optimizer changes, at one of the few steps at which the agent counts them.
type Updates struct {
	Time       Time
	Optimizer  int64 // number of the optimizer in the process, from 1
	Parameters int64 // 0 where they are not the model's own
	Steps      int64 // that the optimizer has taken
	Backwards  int64 // backward passes of the process so far
	Optimizers int64 // that the process has built so far
}

// Saved is a call of torch.save that wrote much more than the tensors hold that it was given: parts of larger ones are written with all of
// these. It has a span of the same times and place.
type Saved struct {
	Start, End   Time
	Thread       int
	Used, Stored int64 // bytes that the tensors use of their storages, and bytes of these; Used < Stored
	File         Str
	Line         int32
}

// Note is something the agent or the sampler wants said ("a hook failed", "yielded to the program's own profiler").
type Note struct {
	Code string
	Text string
	Time Time
}
