package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"bottleneck/bench/paired"
	"bottleneck/internal/collect"
	"bottleneck/internal/cpython"
	"bottleneck/internal/proc"
)

const (
	deepProgram = "bench/sampler/deep.py"
	endless     = "1000000000000"
	costHz      = 1000
)

// cost measures the CPU time of a sample: its parts inside this process, the whole of the samplers as commands.
func (b *bench) cost() error {
	for _, version := range b.table.costOf {
		python := b.pythons[version]
		if python == "" {
			fmt.Printf("    no CPython %s on this machine\n", version)
			continue
		}
		parts, err := b.parts(python)
		if err != nil {
			return err
		}
		for _, r := range parts {
			r.what = version + ": " + r.what
			b.table.add(r)
		}
		if err := b.wholeCost(version, python); err != nil {
			return err
		}
	}
	return nil
}

// sleeper stands still below 23 frames.
const sleeper = `
import time
def f(n):
    if n:
        f(n - 1)
    else:
        print("ready", flush=True)
        time.sleep(10000)
f(21)
`

// parts measures what one wake-up costs with more and more of a sample's work in it.
func (b *bench) parts(python string) ([]row, error) {
	busy, err := start(-1, python, deepProgram, endless)
	if err != nil {
		return nil, err
	}
	defer busy.stop()
	asleep, err := start(-1, python, "-c", sleeper)
	if err != nil {
		return nil, err
	}
	defer asleep.stop()
	moving, err := openProbe(busy.pid())
	if err != nil {
		return nil, err
	}
	defer moving.close()
	still, err := openProbe(asleep.pid())
	if err != nil {
		return nil, err
	}
	defer still.close()
	still.reader.Asleep = func(uint64) bool { return !still.thread.Ran() }
	kinds := []func() error{
		func() error { return nil },
		moving.take,
		moving.takeAndAsk,
		still.take,
	}
	spent, err := wakes(kinds, 2500*b.rounds)
	if err != nil {
		return nil, err
	}
	timer, stack, state, unchanged := spent[0], spent[1], spent[2], spent[3]
	var whole []float64
	for range b.rounds {
		us, err := wholeSample(busy.pid())
		if err != nil {
			return nil, err
		}
		whole = append(whole, us)
	}
	all := paired.Median(whole)
	const format = "%.1f µs"
	return []row{
		{what: "bare timer", value: timer, goal: "(the machine's)", format: format},
		{what: "stack of a running thread, beyond the timer", value: stack - timer, limit: 12, goal: "≤ 12 µs", format: format},
		{what: "stack that did not change, with its state, beyond the timer", value: unchanged - timer, limit: 10,
			goal: "≤ 4 + 6 µs", format: format},
		{what: "system state of a running thread, beyond that", value: state - stack, limit: 6, goal: "≤ 6 µs", format: format},
		{what: "all of a sample in a run of one second, start-up included", value: all, goal: "(see the next row)", format: format},
	}, nil
}

// probe reads one process as the sampler does.
type probe struct {
	mem    *proc.Live
	reader *cpython.Reader
	shot   cpython.Snapshot
	thread *proc.Thread
}

func openProbe(pid int) (*probe, error) {
	p := &probe{mem: proc.OpenMemory(pid)}
	in, err := cpython.Find(pid, p.mem)
	if err != nil {
		return nil, err
	}
	p.reader = cpython.NewReader(in, p.mem, costHz)
	if p.thread, err = proc.OpenThread(pid, pid); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *probe) close() {
	p.thread.Close()
	p.mem.Close()
}

func (p *probe) take() error { return p.reader.Take(&p.shot) }

func (p *probe) takeAndAsk() error {
	if err := p.take(); err != nil {
		return err
	}
	_, err := p.thread.State()
	return err
}

// wakes wakes up at the jittered times of the sampler and does one kind of work after another, in random order, so that
// whatever else the machine does falls on all of them alike. It returns µs of CPU per wake-up of each kind, sleep included.
func wakes(kinds []func() error, count int) ([]float64, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	runtime.GC()
	spent := make([][]float64, len(kinds))
	next := clock(unix.CLOCK_MONOTONIC)
	last := clock(unix.CLOCK_THREAD_CPUTIME_ID)
	for range count {
		i := rand.IntN(len(kinds))
		next += int64(float64(time.Second/costHz) * (0.5 + rand.Float64()))
		for clock(unix.CLOCK_MONOTONIC) < next {
			proc.SleepUntil(next)
		}
		if err := kinds[i](); err != nil {
			return nil, err
		}
		now := clock(unix.CLOCK_THREAD_CPUTIME_ID)
		spent[i] = append(spent[i], float64(now-last)/1e3)
		last = now
	}
	out := make([]float64, len(kinds))
	for i, v := range spent {
		out[i] = trimmedMean(v)
	}
	return out, nil
}

// trimmedMean leaves out the highest fiftieth: wake-ups into which an interrupt of something else fell.
func trimmedMean(values []float64) float64 {
	slices.Sort(values)
	values = values[:len(values)-len(values)/50]
	sum := 0.0
	for _, v := range values {
		sum += v
	}
	return sum / float64(max(len(values), 1))
}

func clock(id int32) int64 {
	var t unix.Timespec
	_ = unix.ClockGettime(id, &t)
	return t.Nano()
}

// wholeSample runs the sampler itself, as run and attach do, and returns its own account.
func wholeSample(pid int) (float64, error) {
	folder, err := os.MkdirTemp("", "bottleneck-bench-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(folder)
	s, err := collect.StartSampler(context.Background(), collect.SamplerOptions{PID: pid, Hz: costHz, Dir: folder})
	if err != nil {
		return 0, err
	}
	time.Sleep(time.Second)
	st := s.Stop()
	if st.Samples == 0 {
		return 0, fmt.Errorf("no sample of process %d", pid)
	}
	return float64(st.CPU.Nanoseconds()) / 1e3 / float64(st.Samples), nil
}

// Two lengths of a run: what the longer one costs more is free of start-up and report.
const shortRun, longRun = 1, 3

// wholeCost compares the samplers as commands: CPU time of the process per sample.
func (b *bench) wholeCost(version, python string) error {
	w, err := start(-1, python, deepProgram, endless)
	if err != nil {
		return err
	}
	defer w.stop()
	list := b.samplers()
	r := row{what: version + ": whole process, start-up and report taken out", format: "%.1f µs"}
	values := make([][]float64, len(list))
	for range b.rounds {
		for i, s := range list {
			v, err := perSample(s, w.pid(), costHz, false)
			if err != nil {
				return err
			}
			values[i] = append(values[i], 1e6*v)
		}
	}
	for i, s := range list {
		s.set(&r, paired.Median(values[i]))
	}
	r.goal, r.limit = "(no peer here)", 0
	if r.pySpy > 0 && r.au > 0 {
		r.limit = min(r.pySpy/5, r.au*3/5)
		r.goal = fmt.Sprintf("≤ 1/5 of py-spy, ≤ 3/5 of austin = %.1f µs", r.limit)
	}
	b.table.add(r)
	return nil
}

// perSample is the CPU time in seconds that a sampler needs for one more sample.
func perSample(s *sampler, pid, hz int, tree bool) (float64, error) {
	cpu, n, err := growth(s, pid, hz, tree)
	if err == nil && n <= 0 {
		return 0, fmt.Errorf("%s recorded nothing", s.name)
	}
	return cpu / float64(n), err
}

// growth is the CPU time and the samples by which a long run exceeds a short one.
func growth(s *sampler, pid, hz int, tree bool) (cpu float64, samples int64, err error) {
	for _, run := range []struct {
		seconds float64
		sign    int64
	}{{shortRun, -1}, {longRun, 1}} {
		folder, err := os.MkdirTemp("", "bottleneck-bench-")
		if err != nil {
			return 0, 0, err
		}
		spent, text, err := used(-1, s.command(pid, hz, run.seconds, tree, folder)...)
		if err != nil {
			return 0, 0, err
		}
		n, err := s.count(folder)
		if err == nil && s.cpu != nil {
			spent, err = s.cpu(folder)
		}
		os.RemoveAll(folder)
		if err != nil {
			return 0, 0, fmt.Errorf("%s left nothing: %w\n%s", s.name, err, text)
		}
		cpu += float64(run.sign) * spent.Seconds()
		samples += run.sign * n
	}
	return cpu, samples, nil
}
