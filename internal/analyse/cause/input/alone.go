package input

import (
	"math"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/usage"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// company is what workers take of the cores, and from the step where they leave none idle; ns per step.
type company struct {
	work  float64 // what the workers compute: fetching, and sending what was fetched
	takes float64 // how much longer the step's own work takes beside them
	cores float64 // how many the training process itself kept busy, on average
	full  bool    // all cores were busy
}

// company counts it from what the kernel says that the processes computed. Where that is not known, nothing is taken.
func (v *inputView) company(c *facts.Facts) company {
	n := len(c.B.Windows)
	mean := c.B.Mean()
	if n == 0 || mean <= 0 || c.OwnCores() <= 0 {
		return company{}
	}
	from, to := c.B.Windows[0].Start, c.B.Windows[n-1].End
	own, ok := usage.ProcessorOf(c.P, from, to)
	batch, seen := v.workOfBatch(from, to)
	if !ok || !seen {
		return company{}
	}
	b := company{work: batch * v.perStep(c), cores: own.CPU / float64(own.To-own.From)}
	b.full = b.cores+b.work/mean >= price.AllCores*c.OwnCores()
	if b.full {
		// Threads that compute an operator together wait for the one whose core a worker took; other work may go on on another core.
		shared := min(c.SharedOps(), mean)
		other := max(mean-shared-c.PerStep(v.wait), 0)
		b.takes = b.work * (shared + price.Displaced.Mid*other) / mean
	}
	return b
}

// workOfBatch is what the workers compute for a batch, ns, over a stretch of the run.
func (v *inputView) workOfBatch(from, to model.Time) (ns float64, ok bool) {
	cpu, batches := 0.0, 0
	for _, w := range v.serving {
		u, seen := usage.ProcessorOf(w.P, from, to)
		if !seen {
			return 0, false
		}
		cpu += u.CPU
		for i := range w.P.Spans {
			if sp := &w.P.Spans[i]; sp.Kind == model.SpanFetch && sp.End > u.From && sp.End <= u.To {
				batches++
			}
		}
	}
	return cpu / float64(max(batches, 1)), batches > 0
}

// withoutWorkers prices a program that fetches its batches itself, ns per step: it waits for nobody and keeps its cores, but the fetch is
// the step's own then.
func (v *inputView) withoutWorkers(c *facts.Facts) finding.Range {
	lost, b := c.PerStep(v.wait+v.release.time), v.company(c)
	fetch := v.fetch * v.perStep(c)
	left := finding.Bounds(fetch, fetch, fetch)
	if b.full { // beside it, each core did less
		left = price.FetchedAlone.Times(min(fetch, b.work))
	}
	mid := max(lost+b.takes-left.Mid, 0)
	low := max(price.LighterHandover.Bounds().Low*lost+b.takes-left.High, 0)
	return finding.Bounds(min(low, price.LighterHandover.Bounds().Low*mid), mid, max(lost+b.takes-left.Low, mid))
}

// needless is the finding where the step hardly waits for its workers, but would be shorter if they were not there: what they compute takes
// cores from it, and costs more beside it than it would cost the program itself.
func (v *inputView) needless(c *facts.Facts) (f finding.Draft, ok bool) {
	b := v.company(c)
	saving := v.withoutWorkers(c)
	if !b.full || v.blocked >= 0.5 || saving.Mid < finding.Floor*c.B.Mean() {
		return f, false
	}
	f = finding.NewDraft(finding.Finding{Cause: finding.Input, Sub: "workers", Where: v.place(c, "workers"),
		Share: min(saving.Mid/c.B.Mean(), 1), Confidence: c.ExactBasis(v.batches)}, finding.Parts{v.part: v.wait})
	f.Claim.Parts[account.PartOps] += b.takes * float64(len(c.B.Windows))
	f.By(price.FetchedAlone)
	f.Step = saving
	f.Run = c.OverRun(f.Step)
	f.Title = wording.Say("input.title-crowding", wording.Share("share", f.Share), c.Said())
	v.evidence(c, &f.Finding)
	f.Evidence = append(f.Evidence, b.said(c))
	f.Fix.Advice = []wording.Text{wording.Say("input.fix-needless")}
	f.Caveat = []wording.Text{wording.Say("input.caveat-needless")}
	v.proposeNone(c, &f.Finding)
	if f.Confidence.Level == finding.High {
		f.Confidence.Level = finding.Medium
	}
	return f, true
}

// said is the evidence that the workers take cores.
func (b *company) said(c *facts.Facts) wording.Text {
	return wording.Say("input.taken", wording.Time("work", b.work), c.Said(), wording.Count("cores", math.Round(c.OwnCores())),
		wording.Value("busy", b.cores))
}
