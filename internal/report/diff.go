package report

import "io"

// DiffSchema is the name and version of the document of a comparison.
const DiffSchema = "bottleneck.diff/1"

// Verdicts of a comparison.
const (
	Slower    = "slower"
	Faster    = "faster"
	Equal     = "equal"
	Undecided = "undecided"
	Unlike    = "unlike" // the two are not of the same workload
)

// Diff compares two sides, each of one or several runs of the same program. Lists are never null.
type Diff struct {
	Schema   string      `json:"schema"`
	Tool     string      `json:"tool,omitempty"`
	Verdict  string      `json:"verdict"`
	Sentence string      `json:"sentence"`
	Per      string      `json:"per"` // what times and counts are of: "step", "item", "token" or "run"
	Step     DiffStep    `json:"step"`
	Before   DiffSide    `json:"before"`
	After    DiffSide    `json:"after"`
	Rows     []DiffRow   `json:"rows"`
	Memory   []DiffBytes `json:"memory"`
	Counters []DiffCount `json:"counters"`
	Findings DiffFound   `json:"findings"`
	// Unlike is what makes the sides two workloads; Around is what else differs between them.
	Unlike []DiffFact `json:"unlike"`
	Around []DiffFact `json:"around"`
	// SmallestMs is the smallest difference that the runs could have shown; with NoiseCovered false it rests on the steps of single runs,
	// and what differs from one run to the next comes on top. Absent where not even that is known.
	SmallestMs   *float64 `json:"smallest_ms,omitempty"`
	NoiseCovered bool     `json:"noise_covered"`
	// MoreRuns is how many more runs a side would show a difference of 2 %.
	MoreRuns *int     `json:"more_runs,omitempty"`
	Notes    []string `json:"notes"`
	// InTurns is of runs that were made in turns: the intervals hold whenever one stops.
	InTurns *DiffTurns `json:"in_turns,omitempty"`
}

// DiffTurns says how the runs of both sides were made in turns.
type DiffTurns struct {
	Pairs int     `json:"pairs"`
	Level float64 `json:"level"` // of the intervals: how often one misses the difference
	// Stopped is why no further pair was run: "decided", "runs", "budget", "interrupted" or "failed".
	Stopped string   `json:"stopped"`
	Failed  []string `json:"failed"` // runs that failed, and how
}

// DiffStep is the step (or run, item, token) on both sides. Low and High are of the difference.
type DiffStep struct {
	BeforeMs     float64  `json:"before_ms"`
	AfterMs      float64  `json:"after_ms"`
	DifferenceMs float64  `json:"difference_ms"`
	LowMs        *float64 `json:"low_ms,omitempty"`
	HighMs       *float64 `json:"high_ms,omitempty"`
}

// DiffSide is what one side consists of.
type DiffSide struct {
	Path  string    `json:"path"`
	Runs  []DiffRun `json:"runs"`
	Basis string    `json:"basis"` // what the times are of: "unprofiled steps", "traced steps", "run", "recording", "calls" or "samples"
}

// DiffRun is one run of a side. Effective is how many independent steps its median is worth.
type DiffRun struct {
	Ms        float64  `json:"ms"`
	Count     int      `json:"count"` // steps, or 1
	ErrorMs   *float64 `json:"error_ms,omitempty"`
	Effective *float64 `json:"effective,omitempty"`
}

// DiffRow is a part of the difference. The rows of one kind, with the one named "unexplained", sum to the step's difference; rows of each
// one kind are another cut of the same time.
type DiffRow struct {
	Kind  string `json:"kind"`
	Name  string `json:"name"`
	Was   string `json:"was,omitempty"`   // the name before, where it changed
	Under string `json:"under,omitempty"` // the caller that stands for a row of several names
	Where *Place `json:"where,omitempty"`
	Text  string `json:"text,omitempty"` // of the line

	DifferenceMs float64  `json:"difference_ms"`
	LowMs        *float64 `json:"low_ms,omitempty"`
	HighMs       *float64 `json:"high_ms,omitempty"`
	// CallsMs is the part that more calls make at the price before, PriceMs what dearer calls make; both absent where calls are not
	// counted.
	CallsMs *float64 `json:"calls_ms,omitempty"`
	PriceMs *float64 `json:"price_ms,omitempty"`
	Before  DiffCost `json:"before"`
	After   DiffCost `json:"after"`
	// Different says that the runs show a difference of this row, all rows taken together (Holm).
	Different bool `json:"different"`
}

// DiffBytes is a part of the difference of the memory peak; with "unexplained" they sum to the one named "peak".
type DiffBytes struct {
	Device     string `json:"device"`
	Name       string `json:"name"`
	Difference int64  `json:"difference"`
	Before     int64  `json:"before"`
	After      int64  `json:"after"`
}

// DiffCost is one side of a row, a step.
type DiffCost struct {
	Ms    float64  `json:"ms"`
	Count *float64 `json:"count,omitempty"`
}

// DiffCount is a counter on both sides.
type DiffCount struct {
	Kind       string  `json:"kind"`
	Name       string  `json:"name,omitempty"`
	Per        string  `json:"per"`
	Unit       string  `json:"unit"`
	Before     float64 `json:"before"`
	After      float64 `json:"after"`
	Difference float64 `json:"difference"`
	Exact      bool    `json:"exact"`     // both sides count the same each time
	Different  bool    `json:"different"` // decided
	// Where is the line that makes the difference, and Because how it is known: "call stacks", or "the only changed line that …".
	Where   *Place `json:"where,omitempty"`
	Text    string `json:"text,omitempty"`
	Because string `json:"because,omitempty"`
}

// DiffFact is something that differs between the sides; a side that does not tell is empty.
type DiffFact struct {
	What   string `json:"what"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// DiffFound are the findings of both sides. What moved to another place is changed.
type DiffFound struct {
	Gone    []DiffFinding `json:"gone"`
	New     []DiffFinding `json:"new"`
	Changed []DiffFinding `json:"changed"`
}

// DiffFinding is a finding with its prices; prices are milliseconds a step, or seconds of the run where Of is "run".
type DiffFinding struct {
	Cause  string   `json:"cause"`
	Sub    string   `json:"sub,omitempty"`
	Title  string   `json:"title"`
	Of     string   `json:"of"`
	Before *float64 `json:"before,omitempty"`
	After  *float64 `json:"after,omitempty"`
	Was    *Place   `json:"was,omitempty"` // its place before, where it moved
	Where  *Place   `json:"where,omitempty"`
}

// WriteDiffJSON writes the document, one object, indented, with a final newline.
func WriteDiffJSON(w io.Writer, d *Diff) error { return writeDocument(w, d, "comparison") }
