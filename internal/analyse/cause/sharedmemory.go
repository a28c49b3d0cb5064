package cause

import (
	"strings"

	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// smallSHM is the size of shared memory in bytes under which batches of DataLoader workers easily do not fit; a container has
// 64 MiB unless it asks for more.
const smallSHM = 256 << 20

// Names of the agent's spans for shared memory that was full: an exception that reached the program, and one in a thread that
// writes into a queue, of which the side that waits never learns.
const (
	shmFull = "shm full"
	shmLost = "shm lost"
)

// findSHM names shared memory that was too small for what processes hand to one another. Nothing gets slower by it: the program ends,
// or waits for a batch that is lost.
func findSHM(c *Facts, _ Ledger) []Draft {
	p, sp := c.shmSpan()
	if sp == nil {
		return nil
	}
	lost := c.text(sp.Name) == shmLost
	f := draft(Finding{Cause: Machine, Sub: "shm", Where: nowhere(), Stops: true, OfRun: true}, nil)
	f.Where.Rank = p.Rank
	if sp.File != 0 {
		f.Where.File, f.Where.Line = c.text(sp.File), int(sp.Line)
		f.Where.Source = c.source(f.Where.File, f.Where.Line)
	}
	f.Title, f.Confidence = shmTitle(sp), Confidence{Level: High, Why: []wording.Text{wording.Say("machine.basis-shm")}}
	if strings.Contains(c.text(sp.Detail), "Bus error") {
		f.Title = wording.Say("machine.title-shm-bus", wording.With("title", f.Title))
		f.Confidence = Confidence{Level: Medium, Why: []wording.Text{wording.Say("machine.basis-shm-bus"), wording.Say("machine.basis-shm-bus-other")}}
	}
	switch run := c.S.Run; {
	case lost:
		f.Title = wording.Say("machine.title-shm-lost", wording.With("title", f.Title))
	case run != nil && (run.ExitCode != 0 || run.Signal != ""):
		f.Title = wording.Say("machine.title-shm-ended", wording.With("title", f.Title))
	}
	f.Evidence = append([]wording.Text{wording.Say("machine.shm-error", wording.Named("error", c.text(sp.Detail)))}, c.inFlight(p, sp)...)
	f.Fix.Advice = []wording.Text{wording.Say("machine.fix-shm", moreSHM), wording.Say("machine.fix-shm-less")}
	f.Caveat = []wording.Text{wording.Say("machine.caveat-shm")}
	return []Draft{f}
}

// shmTitle says what did not fit into which memory.
func shmTitle(sp *model.Span) wording.Text {
	room, what := wording.Say("machine.shm-unsized"), wording.Say("machine.shm-objects")
	if n := max(sp.Value, 0); n > 0 {
		room = wording.Say("machine.shm", wording.Size("size", float64(n)))
	}
	if sp.File != 0 {
		what = wording.Say("machine.shm-batches")
	}
	return wording.Say("machine.title-shm", wording.With("room", room), wording.With("what", what))
}

// shmSpan is the first event of full shared memory in a process of the run; nil where there is none.
func (c *Facts) shmSpan() (in *model.Process, at *model.Span) {
	for _, p := range c.S.Processes {
		for i := range p.Spans {
			sp := &p.Spans[i]
			if name := c.text(sp.Name); sp.Kind == model.SpanOther && (name == shmFull || name == shmLost) && (at == nil || sp.Start < at.Start) {
				in, at = p, sp
			}
		}
	}
	return in, at
}

// inFlight says how many batches of the DataLoader that a span of process p names can be in shared memory at once.
func (c *Facts) inFlight(p *model.Process, sp *model.Span) []wording.Text {
	for _, of := range []*model.Process{p, c.P} {
		for i := range of.Loaders {
			l := &of.Loaders[i]
			if l.File == 0 || l.File != sp.File || l.Line != sp.Line || l.Workers < 1 {
				continue
			}
			ahead := max(l.Prefetch, 1)
			return []wording.Text{wording.Say("machine.shm-in-flight", wording.Count("batches", l.Workers*ahead),
				wording.Count("workers", l.Workers), wording.Count("prefetch", ahead))}
		}
	}
	return nil
}

// moreSHM is how a program gets more shared memory.
var moreSHM = wording.With("how", wording.Say("machine.shm-larger"))

// roomForWorkers warns where more workers are advised and shared memory is small; nothing where it is not, or its size is unknown.
func (c *Facts) roomForWorkers() []wording.Text {
	size := c.S.Environment.SHMBytes
	if size == nil || *size >= smallSHM {
		return nil
	}
	return []wording.Text{wording.Say("machine.caveat-room", wording.Size("size", float64(*size)), moreSHM)}
}
