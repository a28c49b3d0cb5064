package finding

import (
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// Stable names of causes; docs/causes has a page for each. A new cause's may stand in its own file.
const (
	Input     = "input"
	Python    = "python"
	Launch    = "launch"
	Sync      = "sync"
	Compile   = "compile"
	Warmup    = "warmup"
	IO        = "io"
	GC        = "gc"
	GIL       = "gil"
	Machine   = "machine"
	Threads   = "threads"
	Straggler = "straggler"
	Comm      = "comm-exposed"
	Copy      = "copy"
	Compute   = "compute"

	Alloc       = "alloc"
	Precision   = "precision"
	Layout      = "layout"
	MemoryBound = "memory-bound"
	NoDemand    = "no-demand"

	MemoryGrowth = "memory-growth"
	Again        = "again"
	Padding      = "padding"

	UnusedGradients = "unused-gradients"
)

// Finding is one cause with its place, its evidence and what removing it would save.
type Finding struct {
	Cause, Sub string
	Title      wording.Text // a sentence without place and saving
	Share      float64
	OfRun      bool   // Share is of the run, not of the step
	Kind       string // of the steps that it is about, where these are not the accounted ones
	Where      Where
	Step       Range // ns per step of the main kind, averaged; all 0 where the saving is not per step
	Run        Range // ns of this run's wall-clock time
	Evidence   []wording.Text
	Fix        Fix
	Caveat     []wording.Text // sentences
	Confidence Confidence
	Because    *Finding
	// InOrder is what the finding saves once all before it are fixed; nil where no replay knows.
	InOrder *Ordered
	// Stops marks what ends the program or lets it hang; it comes first, and has no saving.
	Stops bool
	// Later marks what will end the program, but not soon: it stands behind what saves time.
	Later bool
	// Healthy marks the statement that nothing is wrong; it has no saving.
	Healthy bool
	// Repaid marks what a run spends once and a longer one gets back: it stands behind what each step loses.
	Repaid bool
	// Throughout marks what is spread over all of a part of the account, also over what other findings end.
	Throughout bool
	// Shared is the share of the best guess that findings of their own cures save as well, 0..1: it counts for no rank.
	Shared float64
	// Booked is the time that was booked for the finding, by part of the account (ns over the accounted windows).
	Booked Parts
	// Ask is the fix as a replay can be asked for it; nil where no replay knows its price better than the rule.
	Ask *replay.Change
	// Elsewhere is what of Run lies outside of the accounted kind's steps, ns.
	Elsewhere Range
	Cost      float64 // ns per step that the fix itself takes and no replay knows
	Busy      float64 // ns of cores per step that is computed under the fix; 0 where it is no more at once than before
	// Asleep is the share of the claim in which the driving thread is off the CPU, 0..1.
	Asleep float64
	// Bare is the finding's own price, before settle put it beside the others; nil until then.
	Bare  *OwnPrice
	rests price.Kind // what the numbers of the price book come from by which it is priced
	// Guess marks a price that rests on the machine's limits alone, with nothing of this program measured under the fix.
	Guess bool
	// Measured marks a price that comes from a measurement of this program's operators under the fix.
	Measured bool
}

// Ordered is a saving that counts the fixes before it: ns per step, and the step that is then left.
type Ordered struct{ Step, After float64 }

// Range is an estimate with its bounds.
type Range = price.Range

func Bounds(low, mid, high float64) Range { return Range{Low: low, Mid: mid, High: high} }

// Where is the place of a finding. Zero values do not apply; Rank is -1 where it does not apply.
type Where struct {
	File, Function string
	Line           int
	Source         string // the line's text
	Op             string
	Rank           int
	Process        string
}

func Nowhere() Where { return Where{Rank: model.NoRank} }

// Fix says what to change.
type Fix struct {
	Advice []wording.Text // sentences
	Action Action
}

// Confidence says how far it can be trusted that a finding is the cause, and why. How far its saving can be is SavingConfidence's.
type Confidence struct {
	Level string
	Why   []wording.Text // parts of a sentence
}

// Levels of confidence.
const (
	High   = "high"
	Medium = "medium"
	Low    = "low"
)

// Floor is the share of the step (or, for what happens outside of steps, of the run) under which nothing is said.
const Floor = price.Floor
