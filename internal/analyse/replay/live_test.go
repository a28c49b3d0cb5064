package replay_test

import (
	"fmt"
	"math"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/model"
)

const ms = 1_000_000

// epoch is when simulated programs start.
const epoch model.Time = 1_700_000_000_000_000_000

// pipeline is a program whose DataLoader's workers fetch batches while it computes; simulate says what it would do.
type pipeline struct {
	workers, prefetch, batches int
	fetch, rest, hand          float64 // ms; fetch of batch i takes fetch × (1 ± a fifth), by turns
}

func (p pipeline) fetchTime(i int) float64 { return p.fetch * (1 + 0.2*math.Sin(float64(i))) }

// simulate gives the times of waits and fetches, as PyTorch's loader works: batch i goes to worker i mod n, and is handed out
// when batch i − n × prefetch has been taken.
func (p pipeline) simulate() (waits, fetches [][2]float64) {
	free := make([]float64, p.workers)
	now, given := 0.0, make([]float64, p.batches)
	fetches = make([][2]float64, p.batches)
	ahead := p.workers * p.prefetch
	start := func(i int) {
		w := i % p.workers
		begin := max(free[w], given[i])
		free[w] = begin + p.fetchTime(i)
		fetches[i] = [2]float64{begin, free[w]}
	}
	for i := range min(ahead, p.batches) {
		start(i)
	}
	for i := range p.batches {
		from := now
		now = max(now+0.2, fetches[i][1]+p.hand)
		waits = append(waits, [2]float64{from, now})
		if i+ahead < p.batches {
			given[i+ahead] = now
			start(i + ahead)
		}
		now += p.rest
	}
	return waits, fetches
}

// step is the mean step that the simulation takes, in ms.
func (p pipeline) step() float64 {
	waits, _ := p.simulate()
	return (waits[len(waits)-1][1] + p.rest) / float64(len(waits))
}

// session records the simulated run as the agent would.
func (p pipeline) session() *model.Session {
	s := &model.Session{Strings: &model.Strings{}}
	s.Environment.CPUs = 64
	at := func(t float64) model.Time { return epoch + model.Time(t*ms) }
	loader := model.Loader{ID: 3, Workers: p.workers, Prefetch: p.prefetch, Length: int64(p.batches)}
	main := &model.Process{PID: 100, Role: model.RoleMain, Rank: model.NoRank, WorkerIndex: -1, MainThread: 100, Start: epoch,
		Loaders: []model.Loader{loader}}
	s.Processes = []*model.Process{main}
	waits, fetches := p.simulate()
	kind := s.Strings.Intern("train")
	for i, w := range waits {
		main.Spans = append(main.Spans, model.Span{Kind: model.SpanDataWait, Start: at(w[0]), End: at(w[1]), Thread: 100,
			Loader: 0, Value: int64(i + 1)})
		main.Steps = append(main.Steps, model.Step{Number: int64(i), Kind: kind, Source: model.StepOptimizer, Phase: model.PhaseBaseline,
			Start: at(w[0]), End: at(w[1] + p.rest), Thread: 100})
	}
	for i := range p.workers {
		w := &model.Process{PID: 200 + i, PPID: 100, Role: model.RoleWorker, Rank: model.NoRank, WorkerIndex: i, MainThread: 200 + i,
			Start: epoch, Loaders: []model.Loader{loader}}
		for k := i; k < p.batches; k += p.workers {
			w.Spans = append(w.Spans, model.Span{Kind: model.SpanFetch, Start: at(fetches[k][0]), End: at(fetches[k][1]),
				Thread: 200 + i, Loader: 0})
		}
		s.Processes = append(s.Processes, w)
	}
	return s
}

// TestWorkersAgainstSimulation asks for other numbers of workers and other fetching times, and compares with a simulation of
// the program that has them.
func TestWorkersAgainstSimulation(t *testing.T) {
	for _, base := range []pipeline{{workers: 2, prefetch: 2, batches: 60, fetch: 40, rest: 9, hand: 1},
		{workers: 1, prefetch: 2, batches: 200, fetch: 10, rest: 2, hand: 1}} {
		againstSimulation(t, base)
	}
}

func againstSimulation(t *testing.T, base pipeline) {
	s := base.session()
	r := replay.NewSession(s, account.Of(s, account.Driver(s)))
	if r == nil || !r.Unprofiled() {
		t.Fatal("no replay of the steps")
	}
	if e := r.Error(); math.Abs(e) > maxError {
		t.Errorf("unmodified replay is off by %.2f %%", 100*e)
	}
	if e := r.Slack(); e > maxSlack {
		t.Errorf("slack is %.2f %%", 100*e)
	}
	for _, c := range []struct {
		change replay.Change
		alter  func(*pipeline)
	}{
		{replay.Change{}, func(*pipeline) {}},
		{replay.Change{Workers: 1}, func(p *pipeline) { p.workers = 1 }},
		{replay.Change{Workers: 3}, func(p *pipeline) { p.workers = 3 }},
		{replay.Change{Workers: 8}, func(p *pipeline) { p.workers = 8 }},
		{replay.Change{Scale: []replay.Scale{{Name: "data preparation", Factor: 0.5}}}, func(p *pipeline) { p.fetch /= 2 }},
		{replay.Change{Scale: []replay.Scale{{Name: "data preparation", Factor: 0.1}}}, func(p *pipeline) { p.fetch /= 10 }},
		{replay.Change{Scale: []replay.Scale{{Name: "unknown", Factor: 3}}}, func(p *pipeline) { p.rest *= 3 }},
	} {
		t.Run(fmt.Sprintf("%d %+v", base.workers, c.change), func(t *testing.T) {
			a, err := r.Ask(c.change)
			if err != nil {
				t.Fatal(err)
			}
			want := base
			c.alter(&want)
			got := a.After / ms
			t.Logf("replayed %.2f ms, simulated %.2f ms", got, want.step())
			if math.Abs(got-want.step()) > 0.06*want.step() {
				t.Errorf("a step of %.2f ms, the simulation says %.2f ms", got, want.step())
			}
		})
	}
}

// TestCrowdedCores: twice the workers on two cores do not fetch twice as fast.
func TestCrowdedCores(t *testing.T) {
	p := pipeline{workers: 1, prefetch: 2, batches: 40, fetch: 40, rest: 9, hand: 1}
	s := p.session()
	s.Environment.CPUs = 2
	r := replay.NewSession(s, account.Of(s, account.Driver(s)))
	a, err := r.Ask(replay.Change{Workers: 8})
	if err != nil {
		t.Fatal(err)
	}
	// 40 ms of fetching per step on two cores cannot take less than 20 ms.
	if got := a.After / ms; got < 19 {
		t.Errorf("a step of %.2f ms uses more than two cores", got)
	}
}
