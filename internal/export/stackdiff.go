package export

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/google/pprof/profile"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
)

// diffStack is one stack on both sides, with its time of a step (of the run, where a side has no steps), in ns.
type diffStack struct {
	key    string
	frames []diffFrame // from the outside in
	ns     [2]float64
}

// diffFrame is a call by what stays the same when lines move: its function and its file's name.
type diffFrame struct{ function, file string }

func (f diffFrame) text() string {
	if f.file == "" {
		return f.function
	}
	return fmt.Sprintf("%s (%s)", f.function, f.file)
}

// stackDiff are the stacks of two sessions, by their names. perStep says that times are of a step.
func stackDiff(format string, before, after *model.Session, opt Options) (rows []*diffStack, perStep bool, err error) {
	sides := [2]*model.Session{before, after}
	steps := [2]float64{stepsOf(before), stepsOf(after)}
	perStep = steps[0] > 0 && steps[1] > 0
	all := map[string]*diffStack{}
	for side, s := range sides {
		processes := sampledProcesses(s, opt)
		if len(processes) == 0 {
			return nil, false, &UnavailableError{format, needSamples}
		}
		of := 1.0
		if perStep {
			of = steps[side]
		}
		for _, p := range processes {
			addStacks(all, s, p, side, of)
		}
	}
	return slices.SortedFunc(maps.Values(all), func(x, y *diffStack) int { return cmp.Compare(x.key, y.key) }), perStep, nil
}

// stepsOf is how many steps the driving process took, 0 unknown.
func stepsOf(s *model.Session) float64 {
	p := account.Driver(s)
	if p == nil {
		return 0
	}
	if n := p.Counters["steps"]; n > 0 {
		return n
	}
	return float64(len(p.Steps))
}

func addStacks(all map[string]*diffStack, s *model.Session, p *model.Process, side int, of float64) {
	period := float64(samplePeriod(&p.Samples))
	known := map[model.StackID]*diffStack{}
	var ids []model.FrameID
	for i, st := range p.Samples.WithNative() {
		if p.Samples.State[i] == model.StateIdle {
			continue
		}
		row := known[st]
		if row == nil {
			ids = framesOf(&p.Samples.Stacks, st, ids)
			frames := []diffFrame{{function: string(p.Role)}}
			for k := len(ids) - 1; k >= 0; k-- {
				f := &p.Samples.Stacks.Frames[ids[k]]
				frames = append(frames, diffFrame{foldedCharacters.Replace(s.Strings.Text(f.Function)),
					foldedCharacters.Replace(path.Base(strings.ReplaceAll(s.Strings.Text(f.File), `\`, "/")))})
			}
			texts := make([]string, len(frames))
			for k := range frames {
				texts[k] = frames[k].text()
			}
			key := strings.Join(texts, ";")
			if row = all[key]; row == nil {
				row = &diffStack{key: key, frames: frames}
				all[key] = row
			}
			known[st] = row
		}
		row.ns[side] += period / of
	}
}

// writeFoldedDiff writes a line for each stack with its microseconds before and after, as flamegraph.pl --negate takes it.
func writeFoldedDiff(_ context.Context, before, after *model.Session, w io.Writer, opt Options) error {
	rows, _, err := stackDiff("folded", before, after, opt)
	if err != nil {
		return err
	}
	return buffered(w, func(out *bufio.Writer) error {
		for _, r := range rows {
			if _, err := fmt.Fprintf(out, "%s %.0f %.0f\n", r.key, r.ns[0]/1e3, r.ns[1]/1e3); err != nil {
				return err
			}
		}
		return nil
	})
}

// writePprofDiff writes what stacks take more, with negative values for what they take less.
func writePprofDiff(_ context.Context, before, after *model.Session, w io.Writer, opt Options) error {
	rows, _, err := stackDiff("pprof", before, after, opt)
	if err != nil {
		return err
	}
	out := &profile.Profile{SampleType: []*profile.ValueType{{Type: "difference", Unit: "nanoseconds"}}, DefaultSampleType: "difference"}
	locations := map[diffFrame]*profile.Location{}
	for _, r := range rows {
		sample := &profile.Sample{Value: []int64{int64(math.Round(r.ns[1] - r.ns[0]))}}
		for _, f := range slices.Backward(r.frames) {
			l := locations[f]
			if l == nil {
				fn := &profile.Function{ID: uint64(len(out.Function) + 1), Name: f.function, SystemName: f.function, Filename: f.file}
				l = &profile.Location{ID: uint64(len(out.Location) + 1), Line: []profile.Line{{Function: fn}}}
				locations[f] = l
				out.Function, out.Location = append(out.Function, fn), append(out.Location, l)
			}
			sample.Location = append(sample.Location, l)
		}
		out.Sample = append(out.Sample, sample)
	}
	if err := out.CheckValid(); err != nil {
		return fmt.Errorf("export to pprof: %w", err)
	}
	return out.Write(w)
}

// writeSpeedscopeDiff writes two profiles, since speedscope knows no negative weights: what takes more, and what takes less.
func writeSpeedscopeDiff(_ context.Context, before, after *model.Session, w io.Writer, opt Options) error {
	rows, perStep, err := stackDiff("speedscope", before, after, opt)
	if err != nil {
		return err
	}
	unit := map[bool]string{true: "a step", false: "the run"}[perStep]
	file := speedscopeFile{Schema: speedscopeSchema, Name: "bottleneck", Exporter: "bottleneck",
		Shared: speedscopeShared{Frames: []speedscopeFrame{}}}
	index := map[diffFrame]int{}
	for i, name := range []string{"takes more of " + unit, "takes less of " + unit} {
		out := speedscopeProfile{Type: "sampled", Name: name, Unit: "milliseconds", Samples: [][]int{}, Weights: []float64{}}
		for _, r := range rows {
			more := (r.ns[1] - r.ns[0]) / 1e6 * float64(1-2*i)
			if more <= 0 {
				continue
			}
			stack := make([]int, len(r.frames))
			for k, f := range r.frames {
				at, ok := index[f]
				if !ok {
					at = len(file.Shared.Frames)
					index[f] = at
					file.Shared.Frames = append(file.Shared.Frames, speedscopeFrame{Name: f.function, File: f.file})
				}
				stack[k] = at
			}
			out.Samples, out.Weights = append(out.Samples, stack), append(out.Weights, more)
			out.End += more
		}
		file.Profiles = append(file.Profiles, out)
	}
	if err := json.NewEncoder(w).Encode(file); err != nil {
		return fmt.Errorf("write speedscope file: %w", err)
	}
	return nil
}
