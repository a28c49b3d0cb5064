package report

// Schema is the name and version of the report document.
const Schema = "bottleneck.report/1"

// Report is the report document: what `--json` writes and what the text and web reports show.
// Absent values were not measured or do not apply; they are never 0. Lists are never null.
type Report struct {
	Schema        string          `json:"schema"`
	Tool          string          `json:"tool,omitempty"` // version of bottleneck
	Growing       bool            `json:"growing,omitempty"`
	Inputs        []Input         `json:"inputs"`
	Environment   Environment     `json:"environment"`
	Run           *Run            `json:"run,omitempty"`
	Steps         []StepKind      `json:"steps"`
	Breakdown     []Part          `json:"breakdown"`
	Kinds         []KindAccount   `json:"kinds,omitempty"` // of steps beside the accounted one
	Account       *Account        `json:"account,omitempty"`
	Verdict       Verdict         `json:"verdict"`
	Findings      []Finding       `json:"findings"`
	KeyAverages   []OpRow         `json:"key_averages"`
	KeyAveragesOf string          `json:"key_averages_of,omitempty"` // what was traced, where it was no whole step
	Kernels       []KernelRow     `json:"kernels"`
	GPU           []GPURow        `json:"gpu"`
	Communication []CommRow       `json:"communication"`
	CriticalPath  []CriticalRow   `json:"critical_path"`
	CriticalRanks []RankShare     `json:"critical_path_ranks"`
	Roofline      []Roofline      `json:"roofline"`
	Copies        []CopyRow       `json:"copies"`
	Bandwidth     []BandwidthRow  `json:"bandwidth"`
	Streams       []StreamRow     `json:"streams"`
	Sequences     []SequenceRow   `json:"sequences"`
	StepParts     []StepPartsRow  `json:"step_parts"`
	Python        *Python         `json:"python,omitempty"`
	Workers       []Worker        `json:"workers"`
	Loaders       []Loader        `json:"loaders"`
	Calls         []CallRow       `json:"calls"`
	Lines         []CallRow       `json:"lines"`
	CountedLines  []CountedFunc   `json:"counted_lines"`
	Actions       []ActionRow     `json:"actions"`
	Memory        []MemoryRow     `json:"memory"`
	Snapshots     []SnapshotRow   `json:"memory_snapshots"`
	System        []SystemRow     `json:"system"`
	Tables        []Table         `json:"tables"` // of analyses that give one table each
	Contents      []Contents      `json:"contents"`
	Ranks         []Rank          `json:"ranks"`
	Files         map[string]File `json:"files"`
	Counts        *Counts         `json:"counts,omitempty"`
	Measured      *Measured       `json:"measured,omitempty"`
	Next          []string        `json:"next"` // commands to look further
	// Unread names parts of the report that could not be made, each with the reason.
	Unread []string `json:"unread"`
}

// Input is one file that was read.
type Input struct {
	Path        string           `json:"path"`
	Format      string           `json:"format"`
	Bytes       int64            `json:"bytes"`
	Events      int64            `json:"events"`
	Counts      map[string]int64 `json:"counts"`
	Rank        *int             `json:"rank,omitempty"`
	Diagnostics []Diagnostic     `json:"diagnostics"`
	Note        string           `json:"note,omitempty"` // of a file that holds no profile: what it is, and what to do instead
}

// Diagnostic is one kind of damage or oddity of an input.
type Diagnostic struct {
	Kind        string `json:"kind"`
	Count       int64  `json:"count"`
	FirstOffset *int64 `json:"first_offset,omitempty"`
	Text        string `json:"text"`
}

// Environment is the machine and the software.
type Environment struct {
	Python           string            `json:"python,omitempty"`
	Torch            string            `json:"torch,omitempty"`
	CUDA             string            `json:"cuda,omitempty"`
	HIP              string            `json:"hip,omitempty"`
	OS               string            `json:"os,omitempty"`
	Host             string            `json:"host,omitempty"`
	CPUs             int               `json:"cpus,omitempty"`
	CPUModel         string            `json:"cpu_model,omitempty"`
	CPUQuota         *float64          `json:"cpu_quota,omitempty"`
	ThrottledSeconds *float64          `json:"throttled_s,omitempty"`
	Affinity         []int             `json:"affinity"`
	Threads          map[string]string `json:"threads"`
	SHMBytes         *int64            `json:"shm_bytes,omitempty"`
	Libc             string            `json:"libc,omitempty"`
	HugePages        string            `json:"huge_pages,omitempty"` // to whom the kernel gives huge pages: always, madvise, never
	MemoryBytes      *int64            `json:"memory_bytes,omitempty"`
	LoadBefore       *float64          `json:"load_before,omitempty"`       // runnable tasks per core
	OthersBusyCores  *float64          `json:"others_busy_cores,omitempty"` // by other programs during the run, on average
	GPUs             []GPU             `json:"gpus"`
	Packages         []Package         `json:"packages"`
	Missing          []string          `json:"missing"`
}

// GPU is one device.
type GPU struct {
	Index             int      `json:"index"`
	Name              string   `json:"name"`
	MemoryBytes       int64    `json:"memory_bytes,omitempty"`
	ComputeCapability string   `json:"compute_capability,omitempty"`
	SMs               int      `json:"sms,omitempty"`
	ClockMHz          *float64 `json:"clock_mhz,omitempty"`
	MaxClockMHz       *float64 `json:"max_clock_mhz,omitempty"`
	PowerState        string   `json:"power_state,omitempty"`
	UsedByOthers      *float64 `json:"used_by_others,omitempty"` // 0..1
}

// Package is an installed Python package.
type Package struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Run is the launched command.
type Run struct {
	Command    []string `json:"command"`
	ExitCode   int      `json:"exit_code"`
	Signal     *string  `json:"signal,omitempty"`
	WallS      float64  `json:"wall_s"`
	PlainWallS *float64 `json:"plain_wall_s,omitempty"`
	Parts      []Part   `json:"parts,omitempty"`        // start, steps by kind, end: sum to the wall time; none without steps
	Steady     *float64 `json:"steady_share,omitempty"` // of the wall time: steps but the warm-up ones, 0..1
	Phases     []Phase  `json:"phases"`
	Distortion *float64 `json:"distortion,omitempty"`
	Own        OwnCost  `json:"own"`
	Notes      []string `json:"notes"`
}

// Phase is a stretch of the run, in seconds from its start.
type Phase struct {
	Name  string  `json:"name"`
	FromS float64 `json:"from_s"`
	ToS   float64 `json:"to_s"`
	Steps int     `json:"steps"`
}

// OwnCost is what bottleneck itself cost.
type OwnCost struct {
	LongestPauseMs *float64 `json:"longest_pause_ms,omitempty"`
	AgentCPUS      *float64 `json:"agent_cpu_s,omitempty"`
	SamplerCPUS    *float64 `json:"sampler_cpu_s,omitempty"`
	LauncherBytes  *int64   `json:"launcher_rss_bytes,omitempty"`
	AgentBytes     *int64   `json:"agent_bytes,omitempty"`
}

// StepKind is the timing of one kind of step; the main kind comes first.
type StepKind struct {
	Kind        string     `json:"kind"`
	Source      string     `json:"source"`
	Count       int        `json:"count"`
	TotalS      float64    `json:"total_s"`
	Baseline    *Quantiles `json:"baseline,omitempty"`
	Traced      *Quantiles `json:"traced,omitempty"`
	Distortion  *float64   `json:"distortion,omitempty"`
	ItemsPerSec *float64   `json:"samples_per_s,omitempty"`
	Items       *float64   `json:"samples,omitempty"` // in a step's batch, mean
}

// Quantiles are step times in milliseconds.
type Quantiles struct {
	Count    int      `json:"count"`
	MedianMs float64  `json:"median_ms"`
	MeanMs   *float64 `json:"mean_ms,omitempty"`
	P10Ms    *float64 `json:"p10_ms,omitempty"`
	P90Ms    *float64 `json:"p90_ms,omitempty"`
	P99Ms    *float64 `json:"p99_ms,omitempty"`
	// ErrorMs is the standard error of the median, from the medians of consecutive stretches of steps; absent of few steps. Effective is
	// how many independent steps would leave as large an error: neighbours are alike.
	ErrorMs   *float64 `json:"error_ms,omitempty"`
	Effective *float64 `json:"effective,omitempty"`
}

// Part is one part of where the step (or the run) goes.
type Part struct {
	Part  string  `json:"part"`
	Ms    float64 `json:"ms"`
	Share float64 `json:"share"` // 0..1
	Basis string  `json:"basis,omitempty"`
	Of    []Part  `json:"of,omitempty"` // the same time, split further
}

// Account says what the breakdown describes and rests on.
type Account struct {
	Unit    string   `json:"unit"`           // "step" or "run"
	Kind    string   `json:"kind,omitempty"` // of the accounted steps, where there are several kinds
	TotalMs float64  `json:"total_ms"`
	Process string   `json:"process"`
	Rank    *int     `json:"rank,omitempty"`
	Basis   string   `json:"basis"`
	Steps   int      `json:"steps"`
	Samples int      `json:"samples"`
	Notes   []string `json:"notes"`
}

// Verdict is the answer in one sentence.
type Verdict struct {
	Bound      string     `json:"bound"`
	Sentence   string     `json:"sentence"`
	Confidence Confidence `json:"confidence"`
}

// Confidence says how far a statement can be trusted, and why.
type Confidence struct {
	Level string `json:"level"` // high, medium, low
	Why   string `json:"why"`
	// Saving is how far a finding's saving can be trusted, where Level is of its cause.
	Saving *Confidence `json:"saving,omitempty"`
}

// Text is the confidence as a line says it, of a finding that of its cause and that of its saving.
func (c *Confidence) Text() string {
	if c.Saving == nil {
		return c.Level + " (" + c.Why + ")"
	}
	text := "cause " + c.Level + " (" + c.Why + "); saving " + c.Saving.Level
	if c.Saving.Why != "" {
		text += " (" + c.Saving.Why + ")"
	}
	return text
}

// Finding is one cause of lost time (or, without a saving, the statement that there is none).
type Finding struct {
	Cause      string      `json:"cause"`
	Sub        string      `json:"sub,omitempty"`
	Title      string      `json:"title"`
	Share      float64     `json:"share"` // of the step or, for start-up, of the run: 0..1
	Of         string      `json:"of"`    // what the share is of: "step" or "run"
	Because    *Finding    `json:"because,omitempty"`
	Where      Where       `json:"where"`
	Saving     *Saving     `json:"saving,omitempty"`
	Evidence   []Evidence  `json:"evidence"`
	Fix        Fix         `json:"fix"`
	Caveat     string      `json:"caveat,omitempty"`
	Confidence *Confidence `json:"confidence,omitempty"`

	Stops bool `json:"-"` // it ended the program, or lets it hang, which counts for more than any saving
}

// Counts says that a finding is a defect: it saves something, or ends the program.
func (f *Finding) Counts() bool { return f.Saving != nil || f.Stops }

// Where is the place of a finding.
type Where struct {
	File     string `json:"file,omitempty"`
	Line     int    `json:"line,omitempty"`
	Function string `json:"function,omitempty"`
	Source   string `json:"source,omitempty"` // the line's text
	Op       string `json:"op,omitempty"`
	Kernel   string `json:"kernel,omitempty"`
	Module   string `json:"module,omitempty"`
	Rank     *int   `json:"rank,omitempty"`
	Thread   *int   `json:"thread,omitempty"`
	Process  string `json:"process,omitempty"`
}

// Saving is what removing the cause would save.
type Saving struct {
	StepMs *Range `json:"step_ms,omitempty"` // milliseconds per step, averaged over the steps
	RunS   *Range `json:"run_s,omitempty"`   // seconds of this run's wall clock time
	// InOrderMs is what the fix saves per step once all findings before this one are fixed, LeftMs the step that is then left.
	InOrderMs *float64 `json:"in_order_ms,omitempty"`
	LeftMs    *float64 `json:"left_ms,omitempty"`
}

// Range is an estimate with its bounds.
type Range struct {
	Low  float64 `json:"low"`
	Mid  float64 `json:"mid"`
	High float64 `json:"high"`
}

// Evidence is one observation behind a finding.
type Evidence struct {
	Text  string   `json:"text"`
	Value *float64 `json:"value,omitempty"`
	Unit  string   `json:"unit,omitempty"`
	Span  *Span    `json:"span,omitempty"`
	ID    string   `json:"id,omitempty"` // of the text
	Facts []Fact   `json:"facts,omitempty"`
}

// Fact is one number or name of a text: in ns, bytes, 0..1 (ratio), counted, or without a unit (number, ordinal).
type Fact struct {
	ID    string   `json:"id"`
	Value *float64 `json:"value,omitempty"`
	Unit  string   `json:"unit,omitempty"`
	Name  string   `json:"name,omitempty"`
}

// Span is an interval of the run, microseconds from its start.
type Span struct {
	StartUs float64 `json:"start_us"`
	EndUs   float64 `json:"end_us"`
}

// Fix says what to change.
type Fix struct {
	Text   string   `json:"text"`
	IDs    []string `json:"ids,omitempty"`    // of the sentences of Text, which stay when these are written anew
	Change string   `json:"change,omitempty"` // the changed line or call
	Was    string   `json:"was,omitempty"`    // the line at Where that becomes Change, where that is certain
	Where  *Place   `json:"where,omitempty"`
	// Action is the change for a program to carry out; absent where it is advice only.
	Action *Action `json:"action,omitempty"`
}

// Action is a fix as a program can apply it to a copy of the sources.
type Action struct {
	Kind      string     `json:"kind"`                // set-argument, set-environment, edit-line, insert-line
	Call      string     `json:"call,omitempty"`      // set-argument: what is called
	Arguments []Argument `json:"arguments,omitempty"` // set-argument
	Variable  string     `json:"variable,omitempty"`  // set-environment
	Value     string     `json:"value,omitempty"`     // set-environment
	// insert-line: the line; edit-line and set-argument: what Fix.Was becomes, where that is certain
	Line string `json:"line,omitempty"`
	// insert-line: the user's line at Fix.Where, before which Line goes, as deep as that, where that is certain
	Before string `json:"before,omitempty"`
	// Saving is what the change alone saves, where the finding's own is that of another fix, or of more.
	Saving *Saved `json:"saving,omitempty"`
}

// Argument is one argument of a call; one without a name is the only one.
type Argument struct {
	Name  string `json:"name,omitempty"`
	Value string `json:"value"`
}

// Place is a line of a file.
type Place struct {
	File string `json:"file"`
	Line int    `json:"line"`
}
