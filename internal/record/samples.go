package record

import (
	"bottleneck/internal/model"
)

// SamplesName is the file of Python stacks in a launcher's folder; TreeName the processes as they came and went.
const (
	SamplesName = "samples.pb.zst"
	TreeName    = "tree.jsonl.gz"
)

// SampleSchema names the message that each chunk of a sample file holds: ProfilesData of the OpenTelemetry protocol's
// development version of profiles, as of its release 1.11.
const SampleSchema = "opentelemetry.proto.profiles.v1development/1.11"

// Attributes of resources, profiles and samples. Those without the prefix "bottleneck." are OpenTelemetry's own.
const (
	attrSchema     = "bottleneck.samples.schema"
	attrPID        = "process.pid"
	attrPPID       = "process.parent_pid"
	attrExecutable = "process.executable.path"
	attrArgs       = "process.command_args"
	attrRuntime    = "process.runtime.version"
	attrHost       = "host.name"
	attrTicks      = "bottleneck.process.start_ticks"
	attrRole       = "bottleneck.role"
	attrRank       = "bottleneck.rank"
	attrLocalRank  = "bottleneck.local_rank"
	attrWorld      = "bottleneck.world_size"
	attrWorker     = "bottleneck.worker"
	attrListens    = "bottleneck.listens"
	attrMono       = "bottleneck.clock.monotonic_ns"
	attrUnix       = "bottleneck.clock.unix_ns"
	attrHz         = "bottleneck.asked_hz"
	attrWakes      = "bottleneck.snapshots"
	attrLate       = "bottleneck.late"
	attrFailed     = "bottleneck.failed"
	attrThread     = "thread.id"
	attrThreadName = "thread.name"
	attrState      = "thread.state"
	attrFlags      = "bottleneck.flags"
	attrRun        = "bottleneck.run"
	attrNative     = "bottleneck.native"
)

// SampleProcess identifies a process in a sample file.
type SampleProcess struct {
	Host        string
	PID, PPID   int
	StartTicks  int64 // since boot: a PID with it is not reused
	Role        model.Role
	Rank        int // model.NoRank outside a job
	LocalRank   int
	WorldSize   int
	WorkerIndex int // -1 otherwise
	Listens     model.Listening
	Args        []string
	Executable  string
	Python      string
}

// SampleFrame is one line of one function.
type SampleFrame struct {
	Function, File string
	First, Line    int32
	Native         bool
}

// SampleCounts is how a process was sampled during a chunk.
type SampleCounts struct {
	AskedHz   float64
	Snapshots int64 // that were taken of the process
	Late      int64
	Failed    int64
	FromNS    int64 // Unix time of the chunk's begin
	DurNS     int64
}

// Add sums the counts of consecutive chunks.
func (c *SampleCounts) Add(o SampleCounts) {
	if c.FromNS == 0 {
		c.FromNS = o.FromNS
	}
	c.AskedHz = o.AskedHz
	c.Snapshots += o.Snapshots
	c.Late += o.Late
	c.Failed += o.Failed
	c.DurNS = max(c.DurNS, o.FromNS+o.DurNS-c.FromNS)
}

var stateWords = [...]string{model.StateUnknown: "unknown", model.StateCPU: "cpu", model.StateGILWait: "gil",
	model.StateBlocked: "blocked", model.StateIdle: "idle"}

// StateWord is the word for a state in files and tables.
func StateWord(s model.ThreadState) string { return stateWords[min(int(s), len(stateWords)-1)] }

func stateOf(word string) model.ThreadState {
	for i, w := range stateWords {
		if w == word {
			return model.ThreadState(i)
		}
	}
	return model.StateUnknown
}

// StackTable interns frames and stacks as a tree, so that a stack is one number. The numbers hold until Reset.
type StackTable struct {
	frames  []SampleFrame
	frameAt map[SampleFrame]int32
	parent  []int32 // of each stack; -1 for outermost frames
	frame   []int32
	at      map[uint64]int32 // parent+1 and frame to stack
	// Epoch changes with Reset: numbers of an older one mean nothing.
	Epoch int
}

// maxStacks bounds the table; beyond it the owner starts a new one.
const maxStacks = 1 << 18

// NewStackTable makes an empty table.
func NewStackTable() *StackTable {
	t := &StackTable{}
	t.Reset()
	return t
}

// Reset empties the table. Chunks that were cut before keep what they refer to.
func (t *StackTable) Reset() {
	*t = StackTable{frameAt: map[SampleFrame]int32{}, at: map[uint64]int32{}, Epoch: t.Epoch + 1}
}

// Full says that the table should be reset at the next cut.
func (t *StackTable) Full() bool { return len(t.parent) > maxStacks || len(t.frames) > maxStacks }

// Frame returns the number of a frame.
func (t *StackTable) Frame(f SampleFrame) int32 {
	if i, ok := t.frameAt[f]; ok {
		return i
	}
	i := int32(len(t.frames))
	t.frames = append(t.frames, f)
	t.frameAt[f] = i
	return i
}

// Frames are the frames of a stack, innermost first, appended to a slice.
func (t *StackTable) Frames(stack int32, to []SampleFrame) []SampleFrame {
	for ; stack >= 0 && int(stack) < len(t.frame); stack = t.parent[stack] {
		to = append(to, t.frames[t.frame[stack]])
	}
	return to
}

// Push returns the stack that calls frame from stack parent (-1: outermost).
func (t *StackTable) Push(parent, frame int32) int32 {
	key := uint64(uint32(parent+1))<<32 | uint64(uint32(frame))
	if i, ok := t.at[key]; ok {
		return i
	}
	i := int32(len(t.parent))
	t.parent = append(t.parent, parent)
	t.frame = append(t.frame, frame)
	t.at[key] = i
	return i
}
