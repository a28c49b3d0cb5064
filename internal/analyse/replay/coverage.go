package replay

import (
	"bottleneck/internal/model"
)

// PerStep says whether answers are about steps, else about the whole run, or all that was traced of it.
func (r *Session) PerStep() bool {
	if r.b != nil {
		return r.b.PerStep
	}
	return len(r.graph.traces[r.graph.windows[0].trace].Steps) > 0
}

// Basis is what answers are about, in words.
func (r *Session) Basis() string {
	switch {
	case r.b == nil && !r.PerStep():
		return "traced run"
	case r.b == nil:
		return "traced steps"
	case !r.b.PerStep:
		return "sampled run"
	}
	switch r.b.Phase {
	case model.PhaseBaseline:
		return "unprofiled steps"
	case model.PhaseWarmup:
		return "warm-up steps"
	}
	return "traced steps"
}

// rankOf is the rank whose steps of a trace answers are about; model.NoRank.
func (r *Session) rankOf(trace int) int {
	if r.b != nil {
		return r.b.Process.Rank
	}
	return r.graph.traces[trace].Rank
}

// Ranks are how many ranks the recording has, 0 where it has none.
func (r *Session) Ranks() int {
	ranks := map[int]bool{}
	if r.b == nil {
		for _, t := range r.s.Traces {
			ranks[t.Rank] = true
		}
	} else {
		for _, p := range r.s.Processes {
			ranks[p.Rank] = ranks[p.Rank] || trains(p)
		}
	}
	n := 0
	for rank, has := range ranks {
		if rank >= 0 && has {
			n++
		}
	}
	return n
}

// LeftOut is how many traces of the recording are not replayed, beside those of unprofiled steps: of each rank one is, and of so many ranks
// at most.
func (r *Session) LeftOut() int {
	if r.b != nil {
		return 0
	}
	return len(r.s.Traces) - len(r.graph.traces)
}

// coverage is the share of the run that steps such as the replayed ones last: unprofiled ones stand for all of their kind, traced ones
// for themselves in what was traced. 0 where it is not known.
func (r *Session) coverage(trace int) float64 {
	if r.b != nil {
		return r.ofRun()
	}
	t, sum := r.graph.traces[trace], 0.0
	for _, st := range r.steps {
		if st.Trace == trace && (r.only == nil || st.Number == *r.only) {
			sum += float64(st.Recorded)
		}
	}
	return share(sum, float64(t.To.Sub(t.From)))
}

// ofRun is coverage of an account.
func (r *Session) ofRun() float64 {
	p := r.b.Process
	wall := float64(p.End - p.Start)
	if run := r.s.Run; run != nil && run.Start > 0 && run.End > run.Start {
		wall = float64(run.End - run.Start)
	}
	if !r.b.PerStep {
		return share(r.b.Total, wall)
	}
	sum := 0.0
	for i := range p.Steps {
		st := &p.Steps[i]
		if st.Kind != r.b.Kind || r.only != nil && st.Number != *r.only {
			continue
		}
		sum += float64(st.End - st.Start)
		if r.only == nil && st.Skipped > 0 && i+1 < len(p.Steps) {
			sum += float64(p.Steps[i+1].Start - st.End)
		}
	}
	return share(sum, wall)
}

// share is a part of a whole, 1 at most, and 0 of nothing.
func share(part, whole float64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(part/whole, 1)
}
