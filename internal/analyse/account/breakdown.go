package account

import (
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/analyse/naming"
	"bottleneck/internal/analyse/times"
	"bottleneck/internal/model"
)

// PartID names a part of where a step goes (table in docs/causes/README.md).
type PartID uint8

// Parts of a step, in the order in which a report breaks ties. PartUnknown is what nothing explains.
const (
	PartUnknown PartID = iota
	PartGPUCompute
	PartGPUCopy
	PartGPUIdle
	PartDataWait
	PartOps
	PartPython
	PartGILWait
	PartGC
	PartIO
	PartCompile
	PartSync
	PartComm
	PartBlocked
	PartImport
	PartProfiler
	numParts
)

var partNames = [numParts]string{
	"unknown", "GPU compute", "GPU copy, exposed", "GPU idle", "data wait", "CPU operators", "Python", "GIL wait", "GC", "I/O",
	"compile", "sync", "communication", "waiting in a call", "import", "profiler",
}

func (p PartID) String() string { return partNames[min(p, numParts-1)] }

// Basis says what a part's time rests on.
type Basis string

// Bases of parts.
const (
	BasisSpans   Basis = "exact spans"
	BasisSamples Basis = "samples"
	BasisTrace   Basis = "traced steps"
	BasisRest    Basis = "remainder"
	BasisEvents  Basis = "device events"
)

// Part is the time of one part over all accounted steps. Kinds split it further (operator kinds); they sum to Time.
type Part struct {
	ID    PartID
	Time  float64 // ns over all windows
	Basis Basis
	Kinds []KindTime
}

// KindTime is the time of one kind of operator, in ns.
type KindTime struct {
	Kind naming.OpKind
	Time float64
}

// Attributed is one sample of the driving thread with the part it was given and the time it stands for.
type Attributed struct {
	Index  int // in Process.Samples
	Part   PartID
	Weight float64 // ns
	Exact  bool    // it lies in an exact span
}

// Breakdown is the account of one thread over the baseline steps of one kind, or over the whole run where there are no
// steps. The parts' times sum to Total exactly; PartUnknown is explicit.
type Breakdown struct {
	Process *model.Process // nil when nothing could be accounted
	Thread  int
	Kind    model.Str
	PerStep bool // windows are steps; else the whole run
	Phase   model.PhaseKind
	Windows []times.Interval // sorted, disjoint
	Total   float64          // ns
	// Ahead is what of Total the device took for the windows' steps when the program was through with them, in ns: it runs ahead, and
	// Total and Median are by the device's clock.
	Ahead   float64
	Median  float64 // ns of a window; equal to Total without steps
	Parts   []Part  // most first, PartUnknown last
	Samples []Attributed
	// StepItems is the mean number of items in a step's batch, 0 unknown.
	StepItems float64
	Ops       *OpAccount // nil without a usable trace
	Device    DeviceUse
	Notes     []string
	foreign   map[line]bool // lines whose native code is another library's than PyTorch
	unseen    bool          // without steps: most of what computes lies before or behind all windows, which say nothing of it
}

// Part returns the time of one part, 0 where it is absent.
func (b *Breakdown) Part(id PartID) float64 {
	for i := range b.Parts {
		if b.Parts[i].ID == id {
			return b.Parts[i].Time
		}
	}
	return 0
}

// Steps is the number of accounted steps; 0 where the account is of the run.
func (b *Breakdown) Steps() int {
	if !b.PerStep {
		return 0
	}
	return len(b.Windows)
}

// Mean is the mean length of a window in ns.
func (b *Breakdown) Mean() float64 {
	if len(b.Windows) == 0 {
		return 0
	}
	return b.Total / float64(len(b.Windows))
}

// Of accounts for the steps of process p, or for its whole run where it has no steps. It uses, in this order:
// exact spans (data wait, GC, compile, I/O), samples of the driving thread, and traced steps with the tracing cost taken
// out where samples are too few. A nil process gives an empty account.
func Of(s *model.Session, p *model.Process) *Breakdown {
	if p == nil {
		return &Breakdown{}
	}
	b := &Breakdown{Process: p}
	if kind, ok := MainKind(p); ok {
		chooseWindows(b, p, kind)
	} else {
		wholeRun(b, p)
	}
	return b.account(s)
}

// KindBreakdown accounts for the steps of one kind of process p.
func KindBreakdown(s *model.Session, p *model.Process, kind model.Str) *Breakdown {
	b := &Breakdown{Process: p}
	chooseWindows(b, p, kind)
	return b.account(s)
}

// account fills the parts of chosen windows.
func (b *Breakdown) account(s *model.Session) *Breakdown {
	p := b.Process
	if len(b.Windows) == 0 {
		return b
	}
	lanes := exactSpans(b, p)
	cls := code.NewFrameClasses(s, p)
	b.unseen = !b.PerStep && b.computesElsewhere(TracedSteps(s, b), cls)
	b.Ops = traceOps(s, b)
	attributeSamples(b, cls, &lanes)
	b.Device = b.waitsForDevices(s)
	b.closeAccount(lanes, b.Device)
	return b
}

// computesElsewhere says that most samples of operators lie before the first or behind the last of a run's windows.
func (b *Breakdown) computesElsewhere(windows []TracedStep, cls *code.FrameClasses) bool {
	if len(windows) == 0 {
		return false
	}
	from, to := windows[0].Start, windows[0].End
	for _, w := range windows {
		from, to = min(from, w.Start), max(to, w.End)
	}
	sm := &b.Process.Samples
	all, between := 0, 0
	for i := range min(sm.Len(), len(sm.Thread), len(sm.Stack), len(sm.State), len(sm.Flags)) {
		if int(sm.Thread[i]) != b.Thread {
			continue
		}
		if part := partOfSample(b.Process, cls, i); part != PartOps && part != PartSync {
			continue
		}
		all++
		if from <= sm.Time[i] && sm.Time[i] < to {
			between++
		}
	}
	return all >= MinRestSamples && 2*between < all
}

// MinRestSamples is the number of samples in steps from which the split of the time that spans do not explain follows
// the samples: 60 give a share of a half within ±13 points (95 %), while tracing distorts small operators by more.
const MinRestSamples = 60

// closeAccount turns span times, sample weights and traced operators into parts that sum to Total.
func (b *Breakdown) closeAccount(lanes exact, w DeviceUse) {
	var times [numParts]float64
	var basis [numParts]Basis
	for id, t := range lanes.time {
		if t > 0 {
			times[id], basis[id] = t, BasisSpans
		}
	}
	rest := max(b.Total-b.Ahead-lanes.total(), 0)
	counted := 0
	for i := range b.Samples {
		if !lanes.covers(b.Samples[i].Index) {
			counted++
		}
	}
	switch {
	case counted >= MinRestSamples:
		for i := range b.Samples {
			if a := &b.Samples[i]; !lanes.covers(a.Index) {
				times[a.Part] += a.Weight
				if basis[a.Part] == "" {
					basis[a.Part] = BasisSamples
				}
			}
		}
	case b.Ops != nil && b.Ops.Steps > 0:
		if counted >= minStateSamples {
			rest -= b.waits(&lanes, &times, &basis)
		}
		ops := min(b.Ops.Share*b.Total, rest)
		times[PartOps] += ops
		times[PartPython] += rest - ops
		basis[PartOps], basis[PartPython] = BasisTrace, BasisTrace
	default:
		times[PartUnknown] += rest
	}
	bound := 0.0
	if w.Computes >= DeviceBound {
		bound = max(w.Computes*b.Total-b.Ahead, 0)
	}
	if pool := times[PartOps] + times[PartSync]; w.busy+w.copy+w.idle+bound > 0 && pool > 0 {
		// Native code that is in no operator looks to samples like one: nobody waits for a device there.
		if most := max(w.most*b.Total-b.Ahead, 0) / pool; w.busy > most {
			w.busy, w.copy, w.idle = most, w.copy*most/w.busy, w.idle*most/w.busy
		}
		w.busy = max(w.busy, min(bound/pool, 1))
		w.copy = min(w.copy, 1-w.busy)
		w.idle = min(w.idle, 1-w.busy-w.copy)
		times[PartGPUCompute], basis[PartGPUCompute] = w.busy*pool, BasisTrace
		times[PartGPUCopy], basis[PartGPUCopy] = w.copy*pool, BasisTrace
		times[PartSync], basis[PartSync] = w.idle*pool, BasisTrace
		times[PartOps] = max(pool-times[PartGPUCompute]-times[PartGPUCopy]-times[PartSync], 0)
	}
	if b.Ahead > 0 {
		times[PartGPUCompute] += b.Ahead
		basis[PartGPUCompute] = BasisEvents
	}
	for id := range numParts {
		if times[id] > 0 || id == PartUnknown {
			part := Part{ID: id, Time: times[id], Basis: basis[id]}
			if id == PartOps && b.Ops != nil {
				part.Kinds = b.Ops.split(part.Time)
			}
			b.Parts = append(b.Parts, part)
		}
	}
	sortParts(b.Parts)
	b.settle()
}

// minStateSamples is the number of samples from which what a trace cannot see (waiting for a lock, for another process, for a
// file) follows the samples, where they are too few to split the rest.
const minStateSamples = 16

// waits books the samples that say neither operator nor interpreter, and gives their time in ns.
func (b *Breakdown) waits(lanes *exact, times *[numParts]float64, basis *[numParts]Basis) (sum float64) {
	for i := range b.Samples {
		a := &b.Samples[i]
		if lanes.covers(a.Index) || a.Part == PartOps || a.Part == PartPython || a.Part == PartUnknown {
			continue
		}
		times[a.Part] += a.Weight
		sum += a.Weight
		if basis[a.Part] == "" {
			basis[a.Part] = BasisSamples
		}
	}
	return sum
}

// settle puts the rounding of the sums into unknown, so that the account closes exactly.
func (b *Breakdown) settle() {
	sum := 0.0
	for i := range b.Parts {
		sum += b.Parts[i].Time
	}
	for i := range b.Parts {
		if b.Parts[i].ID == PartUnknown {
			b.Parts[i].Time = max(b.Parts[i].Time+b.Total-sum, 0)
			if b.Parts[i].Time < 1e-9*b.Total {
				b.Parts[i].Time = 0 // rounding
			}
			b.Parts[i].Basis = BasisRest
		}
	}
}
