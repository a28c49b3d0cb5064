package export

import (
	"context"
	"fmt"
	"io"

	"github.com/google/pprof/profile"

	"bottleneck/internal/model"
)

// pprofStates are the values of the label "state".
var pprofStates = [...]string{"unknown", "cpu", "gil-wait", "blocked", "idle"}

// pprofKey tells samples apart that pprof keeps apart.
type pprofKey struct {
	foldKey
	state model.ThreadState
	gil   bool
}

// writePprof writes samples of all processes in one profile. CPU time is that of samples on a CPU, GIL time that of
// samples that hold the lock.
func writePprof(ctx context.Context, s *model.Session, w io.Writer, opt Options) error {
	processes := sampledProcesses(s, opt)
	if len(processes) == 0 {
		return &UnavailableError{"pprof", needSamples}
	}
	b := &pprofBuilder{s: s, functions: map[model.Frame]*profile.Function{}, locations: map[model.Frame]*profile.Location{}}
	b.out = &profile.Profile{
		SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}, {Type: "cpu", Unit: "nanoseconds"},
			{Type: "gil", Unit: "nanoseconds"}, {Type: "wall", Unit: "nanoseconds"}},
		DefaultSampleType: "wall",
		PeriodType:        &profile.ValueType{Type: "wall", Unit: "nanoseconds"},
		Period:            int64(samplePeriod(&processes[0].Samples)),
	}
	first, last := processes[0].Samples.Time[0], model.Time(0)
	for _, p := range processes {
		if err := ctx.Err(); err != nil {
			return err
		}
		first, last = min(first, p.Samples.Time[0]), max(last, p.Samples.Time[p.Samples.Len()-1])
		b.process(p)
	}
	b.out.TimeNanos, b.out.DurationNanos = int64(first), int64(last-first)
	if err := b.out.CheckValid(); err != nil {
		return fmt.Errorf("export to pprof: %w", err)
	}
	return b.out.Write(w)
}

type pprofBuilder struct {
	s         *model.Session
	out       *profile.Profile
	functions map[model.Frame]*profile.Function
	locations map[model.Frame]*profile.Location
}

func (b *pprofBuilder) process(p *model.Process) {
	sm := &p.Samples
	counts := map[pprofKey]int64{}
	var order []pprofKey
	for i, st := range sm.WithNative() {
		key := pprofKey{foldKey{sm.Thread[i], st}, sm.State[i], sm.Flags[i]&model.SampleHoldsGIL != 0}
		if counts[key] == 0 {
			order = append(order, key)
		}
		counts[key]++
	}
	period := int64(samplePeriod(sm))
	var frames []model.FrameID
	for _, key := range order {
		frames = framesOf(&sm.Stacks, key.stack, frames)
		if len(frames) == 0 {
			continue
		}
		n := counts[key]
		row := &profile.Sample{Value: []int64{n, 0, 0, n * period}, Label: map[string][]string{
			"process": {processName(p)}, "thread": {threadName(b.s, p, key.thread)},
			"state": {pprofStates[min(int(key.state), len(pprofStates)-1)]}}}
		if key.state == model.StateCPU {
			row.Value[1] = n * period
		}
		if key.gil {
			row.Value[2] = n * period
		}
		for _, f := range frames {
			row.Location = append(row.Location, b.location(sm.Stacks.Frames[f]))
		}
		b.out.Sample = append(b.out.Sample, row)
	}
}

func (b *pprofBuilder) location(f model.Frame) *profile.Location {
	if l := b.locations[f]; l != nil {
		return l
	}
	key := f
	key.Line = 0
	fn := b.functions[key]
	if fn == nil {
		name := b.s.Strings.Text(f.Function)
		fn = &profile.Function{ID: uint64(len(b.out.Function) + 1), Name: name, SystemName: name,
			Filename: b.s.Strings.Text(f.File), StartLine: int64(f.First)}
		b.functions[key] = fn
		b.out.Function = append(b.out.Function, fn)
	}
	l := &profile.Location{ID: uint64(len(b.out.Location) + 1), Line: []profile.Line{{Function: fn, Line: int64(f.Line)}}}
	b.locations[f] = l
	b.out.Location = append(b.out.Location, l)
	return l
}
