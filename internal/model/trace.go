package model

// Trace is one file (or one window) of a tracing profiler: Kineto, or the old autograd profiler.
type Trace struct {
	Input    int // index in Session.Inputs
	Process  int // index in Session.Processes; -1 for a trace from elsewhere
	Window   int // index in that process's Windows; -1 otherwise
	Rank     int // NoRank unknown
	World    int // 0 unknown
	From, To Time
	Header   Header
	Lanes    []Lane
	Events   Events
	Memory   MemoryEvents
	Counters []CounterEvent
	// Ranges are the counters that the device itself kept for ranges of its work, in the order of the file.
	Ranges   []RangeCounter
	Steps    []TraceStep
	Features Features
	Modules  *Modules // nil where calls of modules were not recorded
	// MemoryTimelines are torch's own, one per device; nil where the agent did not have them made.
	MemoryTimelines []MemoryTimeline
}

// Header is what the file says of itself.
type Header struct {
	Host, TraceName string
	Devices         []GPU
	Backend         string            // of torch.distributed
	Groups          []ProcessGroup    // process groups
	Metadata        map[string]string // every other top-level key, raw JSON, cut at 256 KiB each
}

// ProcessGroup is one group of ranks.
type ProcessGroup struct {
	Name, Description string
	Ranks             []int
}

// Features are the parts of the format that the file uses.
type Features struct {
	Device, Shapes, Memory, PythonStacks, Sync, Flops bool
	// ExternalLinks says that "External id" of runtime and device rows names the op (it did not from 1.12 to 2.2).
	ExternalLinks bool
}

// LaneKind tells CPU threads from device streams.
type LaneKind uint8

// Kinds of lanes.
const (
	LaneThread LaneKind = iota
	LaneStream
	LaneOther
)

// Lane is a row of the timeline: one CPU thread or one stream of a device.
type Lane struct {
	Kind       LaneKind
	PID, TID   Str   // as written in the file
	Thread     int64 // native thread id, where numeric
	Device     int32 // device index of a stream, else -1
	Stream     int64
	Name       Str
	FirstEvent EventID // events of a lane are contiguous and sorted by start, longest first
	EndEvent   EventID
}

// Kind is what an event is.
type Kind uint8

// Kinds of events.
const (
	KindOther         Kind = iota
	KindOp                 // an operator (cpu_op)
	KindAnnotation         // record_function, ProfilerStep, Optimizer.step (user_annotation)
	KindPython             // a Python or C function call (python_function)
	KindRuntime            // a call of the device's runtime or driver
	KindKernel             // a device kernel
	KindMemcpy             // a device copy
	KindMemset             // a device memset
	KindGPUAnnotation      // an annotation's span on a stream
	KindSync               // a synchronisation as the device's collector saw it (cuda_sync)
	KindDeviceEvent        // a recorded device event (cuda_event)
	KindOverhead           // the collector's own work
)

// Device says whether the kind is work on the device (kernel, copy or set).
func (k Kind) Device() bool { return k == KindKernel || k == KindMemcpy || k == KindMemset }

// Events are the complete events of a trace in columns of equal length, sorted by (lane, start, −duration, file order).
type Events struct {
	Start []Time
	Dur   []Dur
	Name  []Str
	Kind  []Kind
	Lane  []LaneID
	// Parent is the innermost event of the same lane that encloses this one (CPU lanes; NoEvent at top level).
	Parent []EventID
	// Link is, on device rows, the runtime call that launched the work; on runtime rows, the first device row; else NoEvent.
	Link []EventID
	// Op is, on runtime and device rows, the innermost operator that launched it; else NoEvent.
	Op []EventID
	// Detail is an index into OpDetails (ops, annotations), PythonDetails, RuntimeDetails or DeviceDetails, by kind; -1 without one.
	Detail []int32

	OpDetails      []OpDetail
	PythonDetails  []PythonDetail
	RuntimeDetails []RuntimeDetail
	DeviceDetails  []DeviceDetail

	// Arguments that many events have alike, each distinct set once: see OpArgsOf and DeviceArgsOf.
	OpArgs     []OpArgs
	DeviceArgs []DeviceArgs
}

// Len is the number of events.
func (e *Events) Len() int { return len(e.Start) }

// End is the end of an event.
func (e *Events) End(id EventID) Time { return e.Start[id] + Time(e.Dur[id]) }

var (
	noOpArgs     OpArgs
	noDeviceArgs = DeviceArgs{Device: -1, Stream: -1, Occupancy: -1, Bytes: -1, WaitCorrelation: -1, WaitStream: -1}
)

// OpArgsOf is what an operator or annotation was called with, by its Detail; all empty where there is no such row.
func (e *Events) OpArgsOf(detail int32) *OpArgs {
	if detail < 0 || int(detail) >= len(e.OpDetails) || int(e.OpDetails[detail].Args) >= len(e.OpArgs) {
		return &noOpArgs
	}
	return &e.OpArgs[e.OpDetails[detail].Args]
}

// DeviceArgsOf is what a row of a device was launched with, by its Detail; all unknown where there is no such row.
func (e *Events) DeviceArgsOf(detail int32) *DeviceArgs {
	if detail < 0 || int(detail) >= len(e.DeviceDetails) || int(e.DeviceDetails[detail].Args) >= len(e.DeviceArgs) {
		return &noDeviceArgs
	}
	return &e.DeviceArgs[e.DeviceDetails[detail].Args]
}

// OpDetail holds what tells an operator from others that were called alike.
type OpDetail struct {
	External  int64  // "External id"; 0 none
	Sequence  int64  // forward ↔ backward; -1 none
	FwdThread int32  // internal thread id of the forward op; 0 none
	Args      uint32 // row of OpArgs
}

// OpArgs are arguments of operators. Texts are raw JSON as written ("[[2, 3], []]"), interned.
type OpArgs struct {
	Shapes   Str
	Strides  Str
	Types    Str
	Concrete Str
	Stack    Str // "file(line): fn;…", innermost first
	Module   Str
	Extra    Str // other arguments as one JSON object (kernel_file, collective name, …), "" none
	Unended  bool
}

// PythonDetail holds the arguments of a Python call.
type PythonDetail struct {
	ID, ParentID int64
	ModuleID     int64 // -1 for a plain function
	From         Str   // "file:line" of the call, where the trace has it (PyTorch 2.12 and later)
}

// RuntimeDetail holds the arguments of a runtime call.
type RuntimeDetail struct {
	Correlation int64
	External    int64
}

// DeviceDetail holds what tells a kernel, copy, set, sync or device event from others that were launched alike.
type DeviceDetail struct {
	Correlation int64
	External    int64
	Args        uint32 // row of DeviceArgs
}

// DeviceArgs are arguments of rows of a device.
type DeviceArgs struct {
	Device          int32
	Stream          int64
	Grid, Block     [3]int32
	Registers       int32
	SharedBytes     int32
	BlocksPerSM     float32
	WarpsPerSM      float32
	Occupancy       float32 // per cent; -1 unknown
	Bytes           int64   // copies and sets; -1 unknown
	BandwidthGBs    float32
	GraphNode       int64
	WaitCorrelation int64 // of the event a sync waits on; -1 none
	WaitStream      int64
	Collective      Str // raw JSON object of the collective's arguments, "" for other kernels
}

// MemoryEvents are allocations and frees, in columns of equal length, sorted by time.
type MemoryEvents struct {
	Time        []Time
	Lane        []LaneID
	Addr        []uint64
	Bytes       []int64 // negative: free
	Allocated   []int64 // total after the event
	Reserved    []int64
	DeviceType  []int8 // torch's DeviceType
	DeviceIndex []int8
}

// CounterEvent is one value of a counter row.
type CounterEvent struct {
	Time  Time
	Name  Str
	Key   Str
	PID   Str
	Value float64
}

// RangeCounter is one hardware counter of one range that CUPTI's range profiler measured (cuda_profiler_range): a kernel, or
// whatever else the user marked.
type RangeCounter struct {
	Range int32 // number of the range in the file
	Start Time
	Name  Str // of the range
	Key   Str // of the counter, as CUPTI names it
	Value float64
}

// TraceStep is one step found in a trace.
type TraceStep struct {
	Number     int64
	Start, End Time
	Source     StepSource
	Warmup     bool // set apart: warm-up or outlier
}
