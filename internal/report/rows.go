package report

import (
	"fmt"
)

// OpRow is one row of the operator table, with the columns of torch.profiler's key averages.
type OpRow struct {
	Name             string  `json:"name"`
	Count            int64   `json:"count"`
	SelfCPUUs        float64 `json:"self_cpu_us"`
	CPUUs            float64 `json:"cpu_us"`
	SelfDeviceUs     float64 `json:"self_device_us"`
	DeviceUs         float64 `json:"device_us"`
	SelfCPUBytes     int64   `json:"self_cpu_bytes"`
	CPUBytes         int64   `json:"cpu_bytes"`
	SelfDeviceBytes  int64   `json:"self_device_bytes"`
	DeviceBytes      int64   `json:"device_bytes"`
	Flops            int64   `json:"flops"`
	InputShapes      string  `json:"input_shapes,omitempty"`
	Stack            string  `json:"stack,omitempty"`
	Module           string  `json:"module,omitempty"`
	DeviceType       string  `json:"device_type"`
	IsUserAnnotation bool    `json:"is_user_annotation"`
}

// KernelRow is one device kernel (or copy), over all its launches.
type KernelRow struct {
	Name     string  `json:"name"`
	Count    int64   `json:"count"`
	DeviceUs float64 `json:"device_us"`
	MeanUs   float64 `json:"mean_us"`
	MinUs    float64 `json:"min_us"`
	MaxUs    float64 `json:"max_us"`
	Stream   *int64  `json:"stream,omitempty"`
	Category string  `json:"category"`
	Launcher Where   `json:"launcher"`
	Tensor   bool    `json:"tensor_cores,omitempty"`
}

// GPURow is one device's time. All times are unions of intervals, in microseconds.
type GPURow struct {
	Rank   *int `json:"rank,omitempty"`
	Device int  `json:"device"`
	// Steps are the steps after the warm-up that the row's trace covers, and StepsUs their time; 0 where it covers none, or that is not
	// known, as of traces from elsewhere. Its work may begin long after the first of them.
	Steps           int        `json:"steps,omitempty"`
	StepsUs         float64    `json:"steps_us,omitempty"`
	SpanUs          float64    `json:"span_us"`
	BusyUs          float64    `json:"busy_us"`
	ComputeUs       float64    `json:"compute_us"`
	CommunicationUs float64    `json:"communication_us"`
	OverlapUs       float64    `json:"overlap_us"`
	CopyUs          float64    `json:"copy_us"`
	ExposedCommUs   float64    `json:"exposed_communication_us"` // while nothing computes
	ExposedCopyUs   float64    `json:"exposed_copy_us"`          // while nothing computes or communicates
	IdleUs          float64    `json:"idle_us"`
	IdleByCause     []IdleRow  `json:"idle_by_cause"`
	Launches        *LaunchRow `json:"launches,omitempty"`
	// Estimates of the device's use, 0..1: of its multiprocessors over the span, of their warps while kernels run, and the share
	// of kernel time in kernels whose names show matrix units.
	SMEfficiency *float64 `json:"sm_efficiency,omitempty"`
	Occupancy    *float64 `json:"occupancy,omitempty"`
	TensorCores  *float64 `json:"tensor_core_share,omitempty"`
}

// IdleRow is idle device time with the same cause.
type IdleRow struct {
	Cause string  `json:"cause"`
	Us    float64 `json:"us"`
	Gaps  int64   `json:"gaps"`
	Where Where   `json:"where"`
}

// LaunchRow describes how far the launching side runs ahead of the device.
type LaunchRow struct {
	Count           int64    `json:"count"`
	MedianDelayUs   float64  `json:"median_delay_us"`
	P90DelayUs      float64  `json:"p90_delay_us"`
	Short           int64    `json:"short"`      // the work took less time than its launching call
	SlowCalls       int64    `json:"slow_calls"` // launching calls of more than 50 µs
	QueueEmptyShare *float64 `json:"queue_empty_share,omitempty"`
}

// CommRow is one kind of collective of one rank.
type CommRow struct {
	Rank      *int     `json:"rank,omitempty"`
	Op        string   `json:"op"`
	Group     string   `json:"group,omitempty"`
	Count     int64    `json:"count"`
	DeviceUs  float64  `json:"device_us"`
	Bytes     int64    `json:"bytes"`
	Dtype     string   `json:"dtype,omitempty"`
	AlgBW     *float64 `json:"algbw_gb_s,omitempty"`
	BusBW     *float64 `json:"busbw_gb_s,omitempty"`
	ExposedUs *float64 `json:"exposed_us,omitempty"`
	WaitUs    *float64 `json:"wait_us,omitempty"`
	LateRank  *int     `json:"late_rank,omitempty"`
}

// CriticalRow is one kind of work on the critical path.
type CriticalRow struct {
	Kind  string         `json:"kind"`
	Us    float64        `json:"us"`
	Share float64        `json:"share"`
	Spans []CriticalSpan `json:"spans"`
}

// CriticalSpan is one stretch of the critical path.
type CriticalSpan struct {
	Rank    *int    `json:"rank,omitempty"`
	Name    string  `json:"name"`
	StartUs float64 `json:"start_us"`
	Us      float64 `json:"us"`
	Lane    string  `json:"lane"`
}

// Python is what the stack samples say.
type Python struct {
	AskedHz    float64      `json:"asked_hz"`
	AchievedHz float64      `json:"achieved_hz"`
	Samples    int          `json:"samples"`
	Late       int64        `json:"late"`
	Failed     int64        `json:"failed"`
	Scope      string       `json:"scope"` // what the tables cover
	ScopeS     float64      `json:"scope_s"`
	Functions  []FuncRow    `json:"functions"`
	Lines      []LineRow    `json:"lines"`
	Processes  []ProcessRow `json:"processes"`
	Native     *Native      `json:"native,omitempty"` // absent where no native frames were recorded
}

// FuncRow is one function's time. Times are wall-clock time of the thread that drives the step.
type FuncRow struct {
	Function  string  `json:"function"`
	File      string  `json:"file"`
	Line      int     `json:"line"`
	SelfS     float64 `json:"self_s"`
	TotalS    float64 `json:"total_s"`
	ShareLow  float64 `json:"share_low"`  // 95 % interval of the total's share
	ShareHigh float64 `json:"share_high"` // of the scope
}

// LineRow is one line's time.
type LineRow struct {
	File     string  `json:"file"`
	Line     int     `json:"line"`
	Function string  `json:"function"`
	SelfS    float64 `json:"self_s"`
	TotalS   float64 `json:"total_s"`
	Source   string  `json:"source,omitempty"`
}

// ProcessRow is one process that was sampled or traced.
type ProcessRow struct {
	PID     int     `json:"pid"`
	Role    string  `json:"role"`
	Rank    *int    `json:"rank,omitempty"`
	Command string  `json:"command"`
	Samples int     `json:"samples"`
	CPUPart float64 `json:"cpu_share"` // share of its main thread's samples on a CPU
}

// Worker is one DataLoader worker.
type Worker struct {
	PID        int        `json:"pid"`
	Role       string     `json:"role"`
	Index      int        `json:"index"`
	Loader     int        `json:"loader"`
	Batches    int        `json:"batches"`
	FetchMs    float64    `json:"fetch_ms"` // mean per batch
	BusyShare  *float64   `json:"busy_share,omitempty"`
	QueueDepth *float64   `json:"queue_depth_mean,omitempty"`
	Stages     []StageRow `json:"stages"`
}

// StageRow is a part of a worker's batch, by the user's line.
type StageRow struct {
	Name string  `json:"name"`
	Ms   float64 `json:"ms"` // per batch
	File string  `json:"file,omitempty"`
	Line int     `json:"line,omitempty"`
}

// Loader is one DataLoader of the program as its consumer saw it.
type Loader struct {
	Process    string   `json:"process"`
	Rank       *int     `json:"rank,omitempty"`
	Workers    int      `json:"workers"`
	BatchSize  int      `json:"batch_size"`
	Dataset    string   `json:"dataset"`
	File       string   `json:"file,omitempty"`
	Line       int      `json:"line,omitempty"`
	Batches    int      `json:"batches"`
	WaitMs     float64  `json:"wait_ms"`  // mean per batch
	FetchMs    float64  `json:"fetch_ms"` // mean per batch, in the process that fetched
	QueueDepth *float64 `json:"queue_depth_mean,omitempty"`
}

// CallRow is an exact count of a function or line.
type CallRow struct {
	File     string  `json:"file"`
	Line     int     `json:"line"`
	Function string  `json:"function,omitempty"`
	Hits     int64   `json:"hits"`
	SelfS    float64 `json:"self_s"`
	TotalS   float64 `json:"total_s"`
}

// ActionRow is a trainer's action or a region that the user named.
type ActionRow struct {
	Name   string  `json:"name"`
	Count  int64   `json:"count"`
	TotalS float64 `json:"total_s"` // mean times count
	MeanMs float64 `json:"mean_ms"` // of undistorted calls, of all where there are none
	SelfS  float64 `json:"self_s"`
	Rank   *int    `json:"rank,omitempty"`
	// Undistorted counts an action's calls outside of the profiler's windows; absent for regions.
	Undistorted *int64    `json:"undistorted,omitempty"`
	FunctionsOf int64     `json:"functions_of,omitempty"` // calls within which functions were counted
	Functions   []CallRow `json:"functions,omitempty"`    // most cumulative time first
}

// Rank is one rank's steps.
type Rank struct {
	Rank     int      `json:"rank"`
	Host     string   `json:"host"`
	Steps    int      `json:"steps"`
	MedianMs float64  `json:"median_ms"`
	WaitsMs  *float64 `json:"waits_ms,omitempty"` // per step, for other ranks
	LateMs   *float64 `json:"late_ms,omitempty"`  // per step, behind the mean rank
	Clock    *Clock   `json:"clock,omitempty"`
}

// Clock is how a rank's clock was aligned.
type Clock struct {
	OffsetUs    float64 `json:"offset_us"`
	ErrorUs     float64 `json:"error_us"`
	Collectives int     `json:"collectives"` // that were compared
}

// File counts the session's files of one kind.
type File struct {
	Count int   `json:"count"`
	Bytes int64 `json:"bytes"`
	// Paths are the first few.
	Paths []string `json:"paths"`
}

// Counts are numbers that do not depend on how fast anything ran. What the input cannot tell has no row.
type Counts struct {
	Per   string     `json:"per"`   // "step", or "recording" where no steps were found
	Steps int        `json:"steps"` // traced ones, of all ranks, or recordings
	Rows  []CountRow `json:"rows"`
}

// CountRow is something that is counted.
type CountRow struct {
	Kind  string  `json:"kind"` // see countWords; "op" and "call" are of one operator
	Name  string  `json:"name,omitempty"`
	Where *Where  `json:"where,omitempty"` // of a call
	Per   string  `json:"per"`             // "step", "recording" or "run"
	Unit  string  `json:"unit"`            // "calls", "bytes" or "times"
	Value float64 `json:"value"`           // median over the steps
	Low   float64 `json:"low"`
	High  float64 `json:"high"`
	Exact bool    `json:"exact"` // the same program counts the same each time
	// Under are the operators and annotations around most calls of an "op", the outermost first.
	Under []string `json:"under,omitempty"`
}

func RankText(r *int) string {
	if r == nil {
		return "-"
	}
	return fmt.Sprint(*r)
}

// FileLine is a place as editors open it; files of other profilers do not tell every line.
func FileLine(file string, line int) string {
	if line <= 0 {
		return file
	}
	return fmt.Sprintf("%s:%d", file, line)
}
