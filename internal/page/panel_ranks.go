package page

import (
	"cmp"
	"fmt"
	"slices"
	"sort"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/collectives"
	"bottleneck/internal/model"
)

// rankSteps are the steps of one rank, each with the time that it waited for others.
type rankSteps struct {
	rank   int
	number []int64
	us     []float64
	waits  []float64
	from   []model.Time
	to     []model.Time
}

// rankCharts are maps of ranks by steps: each rank's own time, and its waiting for others.
func rankCharts(p *Page) []Chart {
	ranks := liveRanks(p.session)
	if ranks == nil {
		ranks = tracedRanks(p.session)
	}
	if len(ranks) < 2 {
		return nil
	}
	slices.SortFunc(ranks, func(a, b rankSteps) int { return cmp.Compare(a.rank, b.rank) })
	own, waits := newSeries("own time"), newSeries("waiting")
	rows := []string{}
	for row := range ranks {
		r := &ranks[row]
		rows = append(rows, fmt.Sprint("rank ", r.rank))
		for i := range r.number {
			own.addIn(row, float64(r.number[i]), max(r.us[i]-r.waits[i], 0))
			waits.addIn(row, float64(r.number[i]), r.waits[i])
			if p.timeline != nil {
				from, to := p.timeline.us(r.from[i]), p.timeline.us(r.to[i])
				own.From, own.To = append(own.From, from), append(own.To, to)
				waits.From, waits.To = append(waits.From, from), append(waits.To, to)
			}
		}
	}
	step, time := Axis{Head: "step", Unit: unitCount}, Axis{Head: "time", Unit: unitTime}
	charts := []Chart{
		heatOf("Own time of each rank", "a step without its waiting for other ranks: the rank that stands out is the late one",
			rows, step, time, own),
		heatOf("Waiting for other ranks", "within the same steps", rows, step, time, waits),
	}
	return charts
}

// maxHeat is how many cells a map has; of longer runs it shows the last steps.
const maxHeat = 20_000

func heatOf(title, aside string, rows []string, x, y Axis, s Series) Chart {
	c := Chart{Title: title, Aside: aside, Kind: chartHeat, X: x, Y: y, Rows: rows, Series: []Series{s}}
	if n := len(s.X); n > maxHeat {
		first := slices.Max(s.X) - float64(maxHeat/len(rows))
		var keep []int
		for i := range s.X {
			if s.X[i] > first {
				keep = append(keep, i)
			}
		}
		c.Series[0] = Series{Name: s.Name, X: picked(s.X, keep), Y: picked(s.Y, keep), Row: picked(s.Row, keep),
			From: picked(s.From, keep), To: picked(s.To, keep)}
		c.Aside += fmt.Sprintf("; the last %d steps", maxHeat/len(rows))
	}
	return c
}

// liveRanks are the accounted steps of a live job's ranks; waiting is what samples show in collectives.
func liveRanks(s *model.Session) []rankSteps {
	var out []rankSteps
	for _, p := range s.Processes {
		if p.Rank < 0 || len(p.Steps) == 0 || p.Role == model.RoleWorker || p.Role == model.RoleCompile {
			continue
		}
		b := account.Of(s, p)
		if !b.PerStep || len(b.Samples) == 0 {
			continue
		}
		number := map[model.Time]int64{}
		for i := range p.Steps {
			number[p.Steps[i].Start] = p.Steps[i].Number
		}
		r := rankSteps{rank: p.Rank}
		for _, w := range b.Windows {
			r.add(number[w.Start], w.Start, w.End)
		}
		for _, sample := range b.Samples {
			if sample.Part == account.PartComm {
				r.wait(p.Samples.Time[sample.Index], sample.Weight)
			}
		}
		out = append(out, r)
	}
	return out
}

// tracedRanks are the steps of traces of several ranks; waiting is the time in a collective before its last rank began it.
func tracedRanks(s *model.Session) []rankSteps {
	var traces []*model.Trace
	for _, t := range s.Traces {
		if t.Rank >= 0 && !slices.ContainsFunc(traces, func(o *model.Trace) bool { return o.Rank == t.Rank }) {
			traces = append(traces, t)
		}
	}
	if len(traces) < 2 {
		return nil
	}
	out := make([]rankSteps, len(traces))
	for i, t := range traces {
		out[i].rank = t.Rank
		for _, st := range t.Steps {
			if !st.Warmup && st.End > st.Start {
				out[i].add(st.Number, st.Start, st.End)
			}
		}
	}
	calls, clocks := collectives.MatchedCalls(traces, s.Strings)
	for _, call := range calls {
		last := model.Time(0)
		begins := func(i int) model.Time {
			return traces[i].Events.Start[call[i]] - model.Time(clocks[i].Offset)
		}
		for i := range call {
			last = max(last, begins(i))
		}
		for i := range call {
			waited := min(last.Sub(begins(i)), traces[i].Events.Dur[call[i]])
			out[i].wait(traces[i].Events.Start[call[i]], float64(waited))
		}
	}
	return slices.DeleteFunc(out, func(r rankSteps) bool { return len(r.us) == 0 })
}

func (r *rankSteps) add(number int64, from, to model.Time) {
	r.number, r.us, r.waits = append(r.number, number), append(r.us, float64(to-from)/1e3), append(r.waits, 0)
	r.from, r.to = append(r.from, from), append(r.to, to)
}

// wait books waiting, ns, to the step that it began in.
func (r *rankSteps) wait(at model.Time, ns float64) {
	k := sort.Search(len(r.from), func(i int) bool { return r.from[i] > at }) - 1
	if k >= 0 && at < r.to[k] {
		r.waits[k] += ns / 1e3
	}
}
