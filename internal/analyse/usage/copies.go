package usage

import "bottleneck/internal/model"

// Copies are pages that forked workers shared with the process that forked them, and came to own.
type Copies struct {
	Bytes   int64 // of all workers
	Workers int
	Span    model.Dur // in which the worker with most came to own its pages
}

const (
	// leastCopied is what workers must have copied together to speak of it, leastOfWorker each of them: those of a dataset of tensors
	// owned 10 MiB in all after one epoch (PyTorch 2.15). Both are guesses above that.
	leastCopied   = 64 << 20
	leastOfWorker = 16 << 20
)

// CopiesOf tells whether a process's workers copy what they share with it. What a worker holds on top of what it held at first is its own
// work, and no copy. Of workers that came one after the other, with the same index, the one that copied most counts.
func CopiesOf(s *model.Session, parent *model.Process) (Copies, bool) {
	var out Copies
	most, byIndex := int64(0), map[int]int64{}
	for _, w := range s.Processes {
		if w.Role != model.RoleWorker || w.PPID != parent.PID || w.Host != parent.Host || len(w.Owned) < 2 {
			continue
		}
		first, last := w.Owned[0], w.Owned[len(w.Owned)-1]
		copied := last.Private - first.Private - max(0, anonymousAt(w, last.At)-anonymousAt(w, first.At))
		if copied < leastOfWorker {
			continue
		}
		byIndex[w.WorkerIndex] = max(copied, byIndex[w.WorkerIndex])
		if copied > most {
			most, out.Span = copied, last.At.Sub(first.At)
		}
	}
	for _, copied := range byIndex {
		out.Bytes += copied
	}
	out.Workers = len(byIndex)
	return out, out.Bytes >= leastCopied
}

// anonymousAt is the private and shared anonymous memory that a process had mapped at a time.
func anonymousAt(p *model.Process, at model.Time) (bytes int64) {
	for i := range p.Usage {
		if p.Usage[i].At > at {
			break
		}
		bytes = p.Usage[i].Anonymous
	}
	return bytes
}
