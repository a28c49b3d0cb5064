package usage

import (
	"math"
	"testing"

	"bottleneck/internal/model"
)

const (
	second = int64(1e9)
	mega   = 1 << 20
)

// program has 600 steps of 0.1 s, and looks every 0.25 s that find what held says of a step and a part of it.
func program(held func(step, part float64) float64) *model.Process {
	p := &model.Process{}
	for i := range int64(600) {
		p.Steps = append(p.Steps, model.Step{Number: i, Start: model.Time(i * second / 10), End: model.Time((i + 1) * second / 10)})
	}
	for at := int64(0); at < 60*second; at += second / 4 {
		step, part := math.Modf(float64(at) / float64(second) * 10)
		p.Usage = append(p.Usage, model.Usage{At: model.Time(at), Anonymous: int64(held(step, part) * mega)})
	}
	return p
}

func TestGrowthOf(t *testing.T) {
	within := func(p *model.Process, from, to int64) *model.Process {
		p.Windows = append(p.Windows, model.Window{Start: model.Time(from), End: model.Time(to)})
		return p
	}
	window := func(p *model.Process, from, to int64) *model.Process { return within(p, from*second, to*second) }
	for name, c := range map[string]struct {
		p    *model.Process
		want float64 // MiB per step, 0: none
	}{
		"a leak":                         {program(func(step, _ float64) float64 { return 400 + 0.1*step }), 0.1},
		"beside what each step needs":    {program(func(step, part float64) float64 { return 400 + 0.1*step + 300*part }), 0.1},
		"nothing":                        {program(func(float64, float64) float64 { return 400 }), 0},
		"what each step needs":           {program(func(_, part float64) float64 { return 400 + 300*part }), 0},
		"a cache that gets full":         {program(func(step, _ float64) float64 { return 400 + min(step, 350)*0.2 }), 0},
		"a cache that is hit more often": {program(func(step, _ float64) float64 { return 400 + 100*(1-math.Exp(-step/100)) }), 0},
		"a list for each epoch":          {program(func(step, _ float64) float64 { return 400 + 0.5*math.Mod(step, 100) }), 0},
		"one more buffer, once":          {program(func(step, _ float64) float64 { return 400 + 50*math.Floor(step/400) }), 0},
		"some megabytes":                 {program(func(step, _ float64) float64 { return 400 + 0.01*step }), 0},
		"what a window adds": {window(program(func(step, _ float64) float64 {
			if step < 350 {
				return 400
			}
			return 480
		}), 33, 36), 0},
		"a leak beside a window": {window(program(func(step, _ float64) float64 {
			if step < 350 {
				return 400 + 0.1*step
			}
			return 480 + 0.1*step
		}), 33, 36), 0.1},
		"a leak beside a window that falls between two looks": {within(program(func(step, _ float64) float64 {
			if step < 331 {
				return 400 + 0.1*step
			}
			return 480 + 0.1*step
		}), 33*second+second/20, 33*second+second/5), 0.1},
		"a leak that first fills what a window let go": {window(program(func(step, _ float64) float64 {
			if step < 400 {
				return 400 + 0.2*step
			}
			return max(520, 400+0.2*step+20)
		}), 40, 42), 0.15}, // the fill counts as steps without growth
		"a cache that is full before a window": {window(program(func(step, _ float64) float64 {
			if step < 480 {
				return 400 + 0.2*min(step, 380)
			}
			return 560
		}), 48, 50), 0},
	} {
		g, ok := GrowthOf(c.p)
		if got := g.PerStep / mega; ok != (c.want > 0) || ok && math.Abs(got-c.want) > 0.015 {
			t.Errorf("%s: %v MiB a step, %v; want %v", name, got, ok, c.want)
		}
	}
	if _, ok := GrowthOf(&model.Process{}); ok {
		t.Error("growth of a process that nobody looked at")
	}
}

// TestGrowthInside has a program whose pages stay the same, since what it keeps fills what was free in its allocators.
func TestGrowthInside(t *testing.T) {
	for name, c := range map[string]struct {
		allocator string
		every     int64 // step
		bytes     func(step float64) float64
		blocks    func(step float64) float64
		want      float64 // MiB per step, 0: none
	}{
		"tensors":                   {"glibc", 3, func(s float64) float64 { return 100*mega + 0.1*mega*s }, nil, 0.1},
		"seldom looked at":          {"glibc", 30, func(s float64) float64 { return 100*mega + 0.1*mega*s }, nil, 0.1},
		"once in nine seconds":      {"glibc", 70, func(s float64) float64 { return 100*mega + 0.1*mega*s }, nil, 0.1},
		"a list for each epoch":     {"glibc", 70, func(s float64) float64 { return 100*mega + 0.1*mega*math.Mod(s, 250) }, nil, 0},
		"too seldom":                {"glibc", 100, func(s float64) float64 { return 100*mega + 0.1*mega*s }, nil, 0},
		"Python's objects":          {"jemalloc", 3, nil, func(s float64) float64 { return 1e6 + 4096*s }, 0.125},
		"another library's malloc":  {"jemalloc", 3, func(s float64) float64 { return 100*mega + 0.1*mega*s }, nil, 0},
		"nothing":                   {"glibc", 3, func(float64) float64 { return 100 * mega }, func(float64) float64 { return 1e6 }, 0},
		"a cache that gets full":    {"glibc", 3, func(s float64) float64 { return 100*mega + min(s, 350)*0.2*mega }, nil, 0},
		"numbers, and once a cache": {"glibc", 3, func(s float64) float64 { return 100*mega + 50*mega*math.Floor(s/400) }, func(s float64) float64 { return s }, 0},
		"neither can be asked":      {"glibc", 3, nil, nil, 0},
	} {
		p := program(func(float64, float64) float64 { return 400 })
		p.Allocator = c.allocator
		p.Windows = []model.Window{{Start: model.Time(33 * second), End: model.Time(33*second + second/5)}}
		for step := c.every; step < 600; step += c.every {
			u := model.InUse{At: p.Steps[step-1].End, Bytes: -1, Blocks: -1}
			if c.bytes != nil {
				u.Bytes = int64(c.bytes(float64(step)))
			}
			if c.blocks != nil {
				u.Blocks = int64(c.blocks(float64(step)))
			}
			p.InUse = append(p.InUse, u)
		}
		g, ok := GrowthOf(p)
		if got := g.PerStep / mega; ok != (c.want > 0) || ok && (math.Abs(got-c.want) > 0.001 || !g.Inside || g.Held != 400*mega) {
			t.Errorf("%s: %+v, %v; want %v MiB a step", name, g, ok, c.want)
		}
	}
}

// TestGrowthOfHoles has pages that grow beside what allocators have given out.
func TestGrowthOfHoles(t *testing.T) {
	for name, c := range map[string]struct{ given, want float64 }{ // MiB per step, -1 unknown; what is said of it, -2 for no growth
		"what is kept": {0.1, 0.1}, "and ten times as many holes": {0.01, 0.01}, "holes only": {0, -2}, "not known": {-1, -1},
	} {
		p := program(func(step, _ float64) float64 { return 400 + 0.1*step })
		p.Allocator = "glibc"
		for i := range p.Steps {
			bytes := int64(-1)
			if c.given >= 0 {
				bytes = int64((100 + c.given*float64(i)) * mega)
			}
			p.InUse = append(p.InUse, model.InUse{At: p.Steps[i].End, Bytes: bytes, Blocks: 1e6})
		}
		g, ok := GrowthOf(p)
		if given := g.GivenOut; given > 0 {
			g.GivenOut = given / mega
		}
		if ok != (c.want > -2) || ok && (math.Abs(g.GivenOut-c.want) > 0.001 || math.Abs(g.PerStep/mega-0.1) > 0.01) {
			t.Errorf("%s: %+v, %v", name, g, ok)
		}
	}
}
