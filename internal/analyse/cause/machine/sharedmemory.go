package machine

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
	"strings"
)

// Names of the agent's spans for shared memory that was full: an exception that reached the program, and one in a thread that
// writes into a queue, of which the side that waits never learns.
const (
	shmFull = "shm full"
	shmLost = "shm lost"
)

// FindSHM names shared memory that was too small for what processes hand to one another. Nothing gets slower by it: the program ends,
// or waits for a batch that is lost.
func FindSHM(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	p, sp := shmSpan(c)
	if sp == nil {
		return nil
	}
	lost := c.Text(sp.Name) == shmLost
	f := finding.NewDraft(finding.Finding{Cause: finding.Machine, Sub: "shm", Where: c.At(sp.File, sp.Line), Stops: true, OfRun: true}, nil)
	f.Where.Rank = p.Rank
	f.Title, f.Confidence = shmTitle(sp), finding.Confidence{Level: finding.High, Why: []wording.Text{wording.Say("machine.basis-shm")}}
	if strings.Contains(c.Text(sp.Detail), "Bus error") {
		f.Title = wording.Say("machine.title-shm-bus", wording.With("title", f.Title))
		f.Confidence = finding.Confidence{
			Level: finding.Medium, Why: []wording.Text{wording.Say("machine.basis-shm-bus"), wording.Say("machine.basis-shm-bus-other")},
		}
	}
	switch run := c.S.Run; {
	case lost:
		f.Title = wording.Say("machine.title-shm-lost", wording.With("title", f.Title))
	case run != nil && (run.ExitCode != 0 || run.Signal != ""):
		f.Title = wording.Say("machine.title-shm-ended", wording.With("title", f.Title))
	}
	f.Evidence = append([]wording.Text{wording.Say("machine.shm-error", wording.Named("error", c.Text(sp.Detail)))}, inFlight(c, p, sp)...)
	f.Fix.Advice = []wording.Text{wording.Say("machine.fix-shm", facts.MoreSHM), wording.Say("machine.fix-shm-less")}
	f.Caveat = []wording.Text{wording.Say("machine.caveat-shm")}
	return []finding.Draft{f}
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
func shmSpan(c *facts.Facts) (in *model.Process, at *model.Span) {
	for _, p := range c.S.Processes {
		for i := range p.Spans {
			sp := &p.Spans[i]
			if name := c.Text(sp.Name); sp.Kind == model.SpanOther && (name == shmFull || name == shmLost) &&
				(at == nil || sp.Start < at.Start) {
				in, at = p, sp
			}
		}
	}
	return in, at
}

// inFlight says how many batches of the DataLoader that a span of process p names can be in shared memory at once.
func inFlight(c *facts.Facts, p *model.Process, sp *model.Span) []wording.Text {
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
