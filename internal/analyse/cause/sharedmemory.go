package cause

import (
	"fmt"
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

// moreSHM is how a program gets more shared memory.
const moreSHM = "docker run --shm-size=8g (or --ipc=host), in Kubernetes an emptyDir with medium: Memory at /dev/shm, elsewhere mount -o remount,size=8g /dev/shm"

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
	size := "the shared memory"
	if n := max(sp.Value, 0); n > 0 {
		size = fmt.Sprintf("/dev/shm (%s)", mib(n))
	}
	what := "what processes hand to one another"
	if sp.File != 0 {
		what = "the batches that DataLoader workers hand over"
		f.Where.File, f.Where.Line = c.text(sp.File), int(sp.Line)
		f.Where.Source = c.source(f.Where.File, f.Where.Line)
	}
	f.Title = wording.Raw(size + " is too small for " + what)
	f.Confidence = Confidence{High, []wording.Text{wording.Raw("the error that the program got")}}
	if strings.Contains(c.text(sp.Detail), "Bus error") {
		f.Title = wording.Raw("a worker died of a bus error, most likely because " + f.Title.String())
		f.Confidence = Confidence{Medium, []wording.Text{wording.Raw("what PyTorch says of a worker that a bus error ends; any other mapped file without room on its disk does the same")}}
	}
	switch run := c.S.Run; {
	case lost:
		f.Title = wording.Raw(f.Title.String() + ": one is lost, and the program waits for it without end")
	case run != nil && (run.ExitCode != 0 || run.Signal != ""):
		f.Title = wording.Raw(f.Title.String() + ", which ended the program")
	}
	f.Evidence = append([]wording.Text{wording.Raw(c.text(sp.Detail))}, c.inFlight(p, sp)...)
	f.Fix.Advice = []wording.Text{wording.Raw("Make it larger: " + moreSHM + ". Without that, let less be in it at once: small types (bytes that become floats in the training process), " +
		"smaller batches, prefetch_factor=1, fewer workers; or none (num_workers=0).")}
	f.Caveat = []wording.Text{wording.Raw("Files that killed programs have left in /dev/shm, and other programs' there, take the same room: ls -l /dev/shm.")}
	return []Draft{f}
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
			n := l.Workers * max(l.Prefetch, 1)
			return []wording.Text{wording.Raw(fmt.Sprintf("%s × prefetch_factor %d: %s can be in it at once, and those that the program still holds", plural(l.Workers, "worker"), max(l.Prefetch, 1),
				batches(n)), wording.RawFact(float64(n), ""))}
		}
	}
	return nil
}

func batches(n int) string {
	if n == 1 {
		return "1 batch"
	}
	return fmt.Sprintf("%d batches", n)
}

// roomForWorkers warns where more workers are advised and shared memory is small; nothing where it is not, or its size is unknown.
func (c *Facts) roomForWorkers() []wording.Text {
	size := c.S.Environment.SHMBytes
	if size == nil || *size >= smallSHM {
		return nil
	}
	return []wording.Text{wording.Raw(fmt.Sprintf("/dev/shm holds only %s here: more batches of workers may not fit, and the program would end; make it larger first: %s.", mib(*size), moreSHM))}
}
