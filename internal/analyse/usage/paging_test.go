package usage

import (
	"math"
	"testing"

	"bottleneck/internal/model"
)

// paged is program with that many page faults in each step, of 2 µs of system time, half of them on the first thread, and so many MiB that
// come and go.
func paged(faults func(step float64) float64, swing float64) *model.Process {
	p := program(func(step, part float64) float64 { return 400 + swing*math.Abs(math.Mod(7*part+step/3, 1)) })
	sum, step := 0.0, 0.0
	for i := range p.Usage {
		for now := float64(p.Usage[i].At) / float64(second) * 10; step+1 <= now+1e-9; step++ {
			sum += faults(step)
		}
		part := float64(p.Usage[i].At)/float64(second)*10 - step
		at := sum + part*faults(step)
		u := &p.Usage[i]
		u.MinorFaults, u.System, u.User = int64(at), model.Dur(at*2000), model.Dur(at*500)
		u.First = &model.ThreadUse{MinorFaults: int64(at / 2), System: model.Dur(at * 1000), User: model.Dur(at * 250), Waits: int64(i)}
	}
	for i := range p.Steps {
		p.Steps[i].Phase = model.PhaseBaseline
	}
	return p
}

func near(got, want float64) bool { return math.Abs(got-want) <= 0.03*want+1e-9 }

func TestPagingOf(t *testing.T) {
	g, ok := PagingOf(paged(func(float64) float64 { return 1000 }, 100), 0)
	if !ok || !near(g.Process.Faults, 1000) || !near(g.Process.System, 2e6) || g.First == nil || !near(g.First.System, 1e6) ||
		!near(g.Least, 1000) || !near(g.Most, 1000) || g.Swing < 10<<20 || g.OtherSwing != 0 || g.Traced != 0 {
		t.Errorf("steady: %+v, %v", g, ok)
	}
	traced := paged(func(step float64) float64 {
		if step >= 200 && step < 300 {
			return 100
		}
		return 1000
	}, 100)
	traced.Windows = []model.Window{{Start: model.Time(20 * second), End: model.Time(30 * second), StopDone: model.Time(31 * second)}}
	if g, ok = PagingOf(traced, 0); !ok || !near(g.Process.Faults, 1000) || !near(g.Traced, 100) {
		t.Errorf("a trace takes fewer: %+v, %v", g, ok)
	}
	if g, ok = PagingOf(paged(func(step float64) float64 { return 1000 - step }, 0), 0); !ok || g.Most < 1.5*g.Least {
		t.Errorf("fewer and fewer: %+v, %v", g, ok)
	}
	validation := paged(func(float64) float64 { return 1000 }, 100)
	for i := range validation.Steps {
		validation.Steps[i].Kind = model.Str(i / 300)
	}
	if g, ok = PagingOf(validation, 1); !ok || !near(g.Steps, 300) {
		t.Errorf("half of the steps are of the kind: %+v, %v", g, ok)
	}
	warm := paged(func(float64) float64 { return 1000 }, 100)
	for i := range warm.Steps {
		warm.Steps[i].Phase = model.PhaseWarmup
	}
	if _, ok = PagingOf(warm, 0); ok {
		t.Error("warm-up counts")
	}
	if _, ok = PagingOf(&model.Process{}, 0); ok {
		t.Error("pages of a process that nobody looked at")
	}
	before := paged(func(float64) float64 { return 1000 }, 100)
	for i := range before.Usage {
		before.Usage[i].First = nil
	}
	if g, ok = PagingOf(before, 0); !ok || g.First != nil {
		t.Errorf("a session of before: %+v, %v", g, ok)
	}
}

// Steps that have no entry of their own count like the others.
func TestPagingOfSkippedSteps(t *testing.T) {
	p := paged(func(float64) float64 { return 1000 }, 100)
	var some []model.Step
	for i := 0; i+1 < len(p.Steps); i += 10 {
		st := p.Steps[i]
		st.Skipped = 9
		some = append(some, st)
	}
	p.Steps = some
	if g, ok := PagingOf(p, 0); !ok || !near(g.Process.Faults, 1000) || !near(g.Steps, 590) {
		t.Errorf("%+v, %v", g, ok)
	}
}

func TestPerStep(t *testing.T) {
	p := paged(func(float64) float64 { return 1000 }, 100)
	worker := &model.Process{}
	for i := range p.Usage {
		u := p.Usage[i]
		u.Read, u.Written, u.MajorFaults = int64(i)*1000, -1, int64(i)
		worker.Usage = append(worker.Usage, u)
	}
	u, ok := PerStep(worker, p, 0)
	if !ok || u.Read == nil || !near(*u.Read, 400) || !near(u.MajorFaults, 0.4) || u.Waits == nil || !near(*u.Waits, 0.4) ||
		!near(u.System, 2e6) || !near(u.MinorFaults, 1000) {
		t.Errorf("%+v, %v", u, ok)
	}
	for i := range worker.Usage {
		worker.Usage[i].Read, worker.Usage[i].First = -1, nil
	}
	if u, ok = PerStep(worker, p, 0); !ok || u.Read != nil || u.Waits != nil {
		t.Errorf("unknown: %+v, %v", u, ok)
	}
	if _, ok = PerStep(worker, worker, 0); ok {
		t.Error("per step of a process without steps")
	}
}

// early says what the kernel had given at the ends of the first steps of a program, by what each of them took and grew by, in pages.
func early(p *model.Process, steps int, taken, grown func(step int) int64) {
	sum, held := int64(1000), int64(5000)
	for i := range steps {
		sum, held = sum+taken(i), held+grown(i)
		p.Pages = append(p.Pages, model.Pages{At: p.Steps[i].End, Faults: sum, Resident: held})
	}
}

func TestTakenAgain(t *testing.T) {
	many := func(int) int64 { return 3000 }
	none := func(int) int64 { return 0 }
	// turns takes 6,000 pages in one step and gives 6,000 back in the next.
	turns := func(i int) int64 { return 12000 * (int64(i+1) % 2) }
	until := func(end, i int) int64 {
		if i < end {
			return 1
		}
		return 0
	}
	ends := func(i int) int64 { return 4000 * until(1, (i+49)%50) }
	sways := func(i int) int64 { return 6000 * (1 - 2*int64(i%2)) }
	for name, c := range map[string]struct {
		taken, grown func(int) int64
		windows      []int // steps that are traced; the next one is the edge
		change       func(*model.Process)
		want         float64
	}{
		"each step":                      {many, none, nil, nil, 3000},
		"what grows is not taken again":  {many, many, nil, nil, 0},
		"in turns":                       {turns, sways, nil, nil, 6000},
		"until a window":                 {func(i int) int64 { return 3000 * until(8, i) }, none, []int{0, 8}, nil, 3000},
		"in two steps only":              {func(i int) int64 { return 3000 * until(4, i) }, none, []int{1, 4, 5}, nil, 0},
		"beside what the profiler takes": {func(i int) int64 { return 90000 * until(1, i%50) }, none, []int{0, 50}, nil, 0},
		"what the profiler's end adds":   {ends, ends, []int{0, 50}, nil, 0},
		"steps of another kind": {many, none, nil, func(p *model.Process) {
			for i := range p.Steps {
				p.Steps[i].Kind = 1
			}
		}, 0},
		"rows that lack": {many, none, nil, func(p *model.Process) { p.Pages = append(p.Pages[:1], p.Pages[90:94]...) }, 3000},
		"nothing known":  {many, none, nil, func(p *model.Process) { p.Pages = nil }, 0},
	} {
		p := paged(func(float64) float64 { return 0 }, 0)
		early(p, 100, c.taken, c.grown)
		for _, w := range c.windows {
			p.Steps[w].Phase, p.Steps[w+1].Phase = model.PhaseTrace, model.PhaseEdge
		}
		if c.change != nil {
			c.change(p)
		}
		if _, got := TakenAgain(p, 0); math.Abs(got-c.want) > 0.1*c.want+100 {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestTakenAgainInStretches(t *testing.T) {
	p := paged(func(float64) float64 { return 0 }, 0)
	early(p, 100, func(i int) int64 { return 3000 + 1000*int64(i/50) }, func(int) int64 { return 0 })
	p.Steps[50].Phase = model.PhaseTrace
	if least, most := TakenAgain(p, 0); least != 3000 || most != 4000 {
		t.Errorf("from %v to %v", least, most)
	}
}

func TestFreeOf(t *testing.T) {
	p := paged(func(float64) float64 { return 0 }, 0)
	for i := range p.Steps {
		p.InUse = append(p.InUse, model.InUse{At: p.Steps[i].End, Bytes: 1 << 20, Free: int64(i%2) * 100})
	}
	if free, ok := FreeOf(p, 0); !ok || free != 100 {
		t.Errorf("%v, %v", free, ok)
	}
	if _, ok := FreeOf(p, 1); ok {
		t.Error("of steps that there are not")
	}
	for i := range p.InUse {
		p.InUse[i].Free = -1
	}
	if _, ok := FreeOf(p, 0); ok {
		t.Error("of a C library that does not tell")
	}
}
