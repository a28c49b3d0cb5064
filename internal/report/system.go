package report

import (
	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/usage"
	"bottleneck/internal/model"
)

// maxHeldPoints is how many points over time the document has of a process's memory.
const maxHeldPoints = 200

// SystemRow is what a process held over time, and used while steps were taken, as the kernel counted it from outside.
type SystemRow struct {
	Process   string `json:"process"`
	PID       int    `json:"pid"`
	Host      string `json:"host,omitempty"`
	Rank      *int   `json:"rank,omitempty"`
	Allocator string `json:"allocator,omitempty"` // what serves its malloc
	// PeakBytes is the most of its resident memory that was seen, private and shared pages together.
	PeakBytes int64 `json:"peak_bytes"`
	// ProportionalBytes is its memory with each page divided by how many processes have it (PSS), at the last look; of forks only.
	ProportionalBytes *float64 `json:"proportional_bytes,omitempty"`
	// Held is its memory at moments of the run, of which the document keeps some.
	Held []HeldPoint `json:"held"`
	Use  *SystemUse  `json:"use,omitempty"` // absent where no steps were seen that no profiler recorded
}

// HeldPoint is what a process held at a moment, in bytes. Shared memory and pages of files are other processes' as well.
type HeldPoint struct {
	AtS     float64 `json:"at_s"` // from the process's first point
	Private int64   `json:"private_bytes"`
	File    int64   `json:"file_bytes"`
	Shared  int64   `json:"shared_bytes"`
	Swapped int64   `json:"swapped_bytes"` // of the private memory, what is on a disk
}

// SystemUse is what a process used per step, in steps that no profiler recorded.
type SystemUse struct {
	Steps        int      `json:"steps"` // that were seen
	UserMs       float64  `json:"user_ms"`
	SystemMs     float64  `json:"system_ms"`
	MinorFaults  float64  `json:"minor_faults"` // pages that the kernel gave
	MajorFaults  float64  `json:"major_faults"` // pages that it had to read first
	ReadBytes    *float64 `json:"read_bytes,omitempty"`
	WrittenBytes *float64 `json:"written_bytes,omitempty"`
	Waits        *float64 `json:"waits,omitempty"`  // times that the first thread left its core to wait
	Pushed       *float64 `json:"pushed,omitempty"` // the same for other threads
}

// systemRows makes the rows of what processes held and used.
func (b *Builder) systemRows() {
	for _, p := range b.S.Processes {
		if len(p.Usage) == 0 {
			continue
		}
		row := SystemRow{Process: processName(p), PID: p.PID, Host: p.Host, Rank: RankPtr(p.Rank), Allocator: p.Allocator, Held: held(p)}
		for i := range p.Usage {
			u := &p.Usage[i]
			row.PeakBytes = max(row.PeakBytes, u.Anonymous+u.File+u.Shared)
		}
		if n := len(p.Owned); n > 0 {
			row.ProportionalBytes = ptr(float64(p.Owned[n-1].Proportional))
		}
		row.Use = b.use(p)
		b.R.System = append(b.R.System, row)
	}
}

// held are some of the moments at which a process was looked at, the first and the last among them.
func held(p *model.Process) []HeldPoint {
	n := min(len(p.Usage), maxHeldPoints)
	out := make([]HeldPoint, n)
	for k := range out {
		u := &p.Usage[k*(len(p.Usage)-1)/max(n-1, 1)]
		out[k] = HeldPoint{AtS: u.At.Sub(p.Usage[0].At).Seconds(), Private: u.Private(), File: u.File, Shared: u.Shared, Swapped: u.Swapped}
	}
	return out
}

// use is what a process used in each of its own steps, else in those of the process that is accounted, if that is on its host.
func (b *Builder) use(p *model.Process) *SystemUse {
	driver := p
	if len(p.Steps) == 0 {
		driver = account.Driver(b.S)
	}
	if driver == nil || driver.Host != p.Host || len(driver.Steps) == 0 {
		return nil
	}
	u, ok := usage.PerStep(p, driver, b.mainKind(driver))
	if !ok {
		return nil
	}
	return &SystemUse{Steps: int(u.Steps), UserMs: u.User / 1e6, SystemMs: u.System / 1e6, MinorFaults: u.MinorFaults,
		MajorFaults: u.MajorFaults, ReadBytes: u.Read, WrittenBytes: u.Written, Waits: u.Waits, Pushed: u.Pushed}
}

// mainKind is the kind of steps that is accounted, else that of which a process has most.
func (b *Builder) mainKind(p *model.Process) model.Str {
	if a := b.res.account; a != nil && a.PerStep && a.Process == p {
		return a.Kind
	}
	count := map[model.Str]int{}
	best := p.Steps[0].Kind
	for i := range p.Steps {
		k := p.Steps[i].Kind
		if count[k]++; count[k] > count[best] {
			best = k
		}
	}
	return best
}
