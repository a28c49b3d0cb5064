package kineto

// Event is one row of traceEvents as written. The scanner reuses it; byte slices are valid until the next call of Next.
type Event struct {
	Offset   int64 // of its first byte in the decompressed text
	Phase    byte  // 'X', 'M', 'i', 's', 'f', 'C', 'B', 'E', …; 0 when missing
	Cat      Text
	Name     Text
	PID, TID ID
	TS, Dur  int64 // nanoseconds; see Has
	Has      uint64
	Ints     [numInts]int64
	Floats   [numFloats]float32
	Texts    [numTexts]Text // Input Dims and the like are in Scanner.JSON, the others in Scanner.Names
	Grid     [3]int32
	Block    [3]int32
	Extra    []Extra // arguments that have no field, in the order of the file
}

// ID is a pid or tid: a plain integer, or any other text as written.
type ID struct {
	Num  int64
	Text Text // 0 for a plain integer; in Scanner.Names
	Set  bool
}

// Extra is an argument without a field of its own: its key and its raw JSON value.
type Extra struct {
	Key Text // in Scanner.Names
	Raw []byte
}

// Field is one known value of an event. The first ones index Ints, the next Floats, the next Texts.
type Field uint8

// Fields that are integers.
const (
	External Field = iota
	Correlation
	Sequence
	FwdThread
	PythonID
	PythonParent
	PythonModule
	Device
	Stream
	Registers
	SharedBytes
	Bytes
	GraphNode
	WaitCorrelation
	WaitStream
	DeviceType
	DeviceID
	Addr
	MemoryBytes
	Allocated
	Reserved
	numInts
)

// Fields that are numbers with a fraction.
const (
	BlocksPerSM Field = iota + numInts
	WarpsPerSM
	Occupancy
	Bandwidth
	endFloats
)

// Fields that are texts.
const (
	Dims     Field = iota + endFloats // raw JSON
	Strides                           // raw JSON
	Types                             // raw JSON
	Concrete                          // raw JSON
	CallStack
	CallFrom // "file:line" from which Python called
	Module
	ArgName // args.name of metadata rows
	Labels  // args.labels of metadata rows
	endTexts
)

const (
	numFloats = endFloats - numInts
	numTexts  = endTexts - endFloats
)

// Other bits of Has.
const (
	hasTS Field = iota + endTexts
	hasDur
	hasGrid
	hasUnfinished
)

// Int is an integer argument, and whether the event has it.
func (e *Event) Int(f Field) (int64, bool) { return e.Ints[f], e.Has>>f&1 != 0 }

// IntOr is an integer argument, or none where the event lacks it.
func (e *Event) IntOr(f Field, none int64) int64 {
	if e.Has>>f&1 != 0 {
		return e.Ints[f]
	}
	return none
}

// FloatOr is a fractional argument, or none where the event lacks it.
func (e *Event) FloatOr(f Field, none float32) float32 {
	if e.Has>>f&1 != 0 {
		return e.Floats[f-numInts]
	}
	return none
}

// Text is a text argument; 0 where the event lacks it.
func (e *Event) Text(f Field) Text {
	if e.Has>>f&1 != 0 {
		return e.Texts[f-endFloats]
	}
	return 0
}

// HasTS and HasDur say whether the event has a readable time stamp and duration.
func (e *Event) HasTS() bool  { return e.Has>>hasTS&1 != 0 }
func (e *Event) HasDur() bool { return e.Has>>hasDur&1 != 0 }

// HasGrid says whether the event has launch dimensions.
func (e *Event) HasGrid() bool { return e.Has>>hasGrid&1 != 0 }

// Unfinished says that the operator was still open when recording ended.
func (e *Event) Unfinished() bool { return e.Has>>hasUnfinished&1 != 0 }

func (e *Event) set(f Field) { e.Has |= 1 << f }

// reset forgets the last event; argument values are guarded by Has and stay.
func (e *Event) reset(offset int64) {
	e.Offset, e.Phase, e.Cat, e.Name, e.Has = offset, 0, 0, 0, 0
	e.PID, e.TID = ID{}, ID{}
	e.Extra = e.Extra[:0]
}

// action is how a value is read.
type action uint8

const (
	actNone     action = iota // nothing follows: the arguments end
	actEnd                    // the event ends
	actPhase                  // a constant, part of the layout
	actCat                    // likewise
	actConstant               // likewise, without meaning here
	actName
	actPID
	actTID
	actTime
	actDur
	actInt
	actFloat
	actString
	actJSON
	actGrid
	actBlock
	actFinished
	actSkip
	actExtra
	actArgs
)

type slot struct {
	act   action
	field Field
}

// topKeys are the keys of an event itself.
var topKeys = map[string]slot{
	"ph": {act: actPhase}, "cat": {act: actCat}, "name": {act: actName}, "pid": {act: actPID}, "tid": {act: actTID},
	"ts": {act: actTime}, "dur": {act: actDur}, "args": {act: actArgs}, "bp": {act: actConstant}, "s": {act: actConstant},
	"id": {act: actSkip},
}

// argKeys are the keys of args, in all spellings that Kineto has had.
var argKeys = map[string]slot{
	"External id": {actInt, External}, "external id": {actInt, External},
	"correlation":     {actInt, Correlation},
	"Sequence number": {actInt, Sequence}, "Fwd thread id": {actInt, FwdThread},
	"Python id": {actInt, PythonID}, "Python parent id": {actInt, PythonParent}, "Python module id": {actInt, PythonModule},
	"device": {actInt, Device}, "stream": {actInt, Stream},
	"registers per thread": {actInt, Registers}, "shared memory": {actInt, SharedBytes},
	"bytes": {actInt, Bytes}, "graph node id": {actInt, GraphNode},
	"wait_on_cuda_event_record_corr_id": {actInt, WaitCorrelation}, "wait_on_stream": {actInt, WaitStream},
	"Device Type": {actInt, DeviceType}, "Device Id": {actInt, DeviceID}, "Addr": {actInt, Addr}, "Bytes": {actInt, MemoryBytes},
	"Total Allocated": {actInt, Allocated}, "Total Reserved": {actInt, Reserved},
	"blocks per SM": {actFloat, BlocksPerSM}, "warps per SM": {actFloat, WarpsPerSM},
	"est. achieved occupancy %": {actFloat, Occupancy}, "theoretical occupancy %": {actFloat, Occupancy},
	"memory bandwidth (GB/s)": {actFloat, Bandwidth},
	"Input Dims":              {actJSON, Dims}, "Input dims": {actJSON, Dims}, "Input Strides": {actJSON, Strides},
	"Input type": {actJSON, Types}, "Concrete Inputs": {actJSON, Concrete},
	"Call stack": {actString, CallStack}, "CallFrom": {actString, CallFrom}, "Module Hierarchy": {actString, Module},
	"name": {actString, ArgName}, "labels": {actString, Labels},
	"grid": {actGrid, 0}, "block": {actBlock, 0}, "finished": {actFinished, 0},
	"Ev Idx": {act: actSkip}, "Profiler Event Index": {act: actSkip}, "Record function id": {act: actSkip},
	"cbid": {act: actSkip}, "cid": {act: actSkip}, "queued": {act: actSkip}, "context": {act: actSkip},
	"Trace name": {act: actSkip}, "Trace iteration": {act: actSkip}, "sort_index": {act: actSkip},
	"external ts": {act: actSkip}, "graph id": {act: actSkip}, "channel": {act: actSkip}, "channel_type": {act: actSkip},
	"Output dims": {act: actSkip}, "Output type": {act: actSkip}, "Output names": {act: actSkip}, "Input names": {act: actSkip},
	"Extra arguments": {act: actSkip}, "ptr": {act: actSkip}, "occupancy": {act: actSkip}, "priority": {act: actSkip},
	"Python thread": {act: actSkip}, "Op count": {act: actSkip},
}
