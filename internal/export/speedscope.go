package export

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"bottleneck/internal/model"
)

// speedscopeSchema names the format (jlfwong/speedscope, src/lib/file-format-spec.ts).
const speedscopeSchema = "https://www.speedscope.app/file-format-schema.json"

type speedscopeFile struct {
	Schema   string              `json:"$schema"`
	Name     string              `json:"name"`
	Exporter string              `json:"exporter"`
	Shared   speedscopeShared    `json:"shared"`
	Profiles []speedscopeProfile `json:"profiles"`
}

type speedscopeShared struct {
	Frames []speedscopeFrame `json:"frames"`
}

type speedscopeFrame struct {
	Name string `json:"name"`
	File string `json:"file,omitempty"`
	Line int32  `json:"line,omitempty"`
}

// speedscopeProfile is of type "sampled": stacks as indices of shared frames, outermost first, each with the time that it
// stands for. A gap is an empty stack, so that times add up to the real ones.
type speedscopeProfile struct {
	Type    string    `json:"type"`
	Name    string    `json:"name"`
	Unit    string    `json:"unit"`
	Start   float64   `json:"startValue"`
	End     float64   `json:"endValue"`
	Samples [][]int   `json:"samples"`
	Weights []float64 `json:"weights"`
}

func writeSpeedscope(ctx context.Context, s *model.Session, w io.Writer, opt Options) error {
	processes := sampledProcesses(s, opt)
	if len(processes) == 0 {
		return &UnavailableError{"speedscope", needSamples}
	}
	file := speedscopeFile{Schema: speedscopeSchema, Name: "bottleneck", Exporter: "bottleneck",
		Shared: speedscopeShared{Frames: []speedscopeFrame{}}, Profiles: []speedscopeProfile{}}
	index := map[speedscopeFrame]int{}
	base := processes[0].Samples.Time[0]
	for _, p := range processes {
		base = min(base, p.Samples.Time[0])
	}
	for _, p := range processes {
		for _, thread := range threadsOf(p) {
			if err := ctx.Err(); err != nil {
				return err
			}
			profile := speedscopeThread(&file, index, s, p, thread, base)
			if len(profile.Samples) > 0 {
				profile.Name = threadName(s, p, thread)
				if len(processes) > 1 {
					profile.Name = fmt.Sprintf("%s, %s", processName(p), profile.Name)
				}
				file.Profiles = append(file.Profiles, profile)
			}
		}
	}
	if err := json.NewEncoder(w).Encode(file); err != nil {
		return fmt.Errorf("write speedscope file: %w", err)
	}
	return nil
}

func speedscopeThread(file *speedscopeFile, index map[speedscopeFrame]int, s *model.Session, p *model.Process, thread int32,
	base model.Time) speedscopeProfile {
	out := speedscopeProfile{Type: "sampled", Unit: "seconds", Samples: [][]int{}, Weights: []float64{}}
	sm := &p.Samples
	stacks, period := sm.WithNative(), samplePeriod(sm)
	seconds := func(t model.Time) float64 { return model.Dur(t - base).Seconds() }
	known := map[model.StackID][]int{}
	var frames []model.FrameID
	var end model.Time
	push := func(stack []int, d model.Dur) {
		out.Samples = append(out.Samples, stack)
		out.Weights = append(out.Weights, d.Seconds())
		end += model.Time(d)
	}
	for i, t := range sm.Time {
		if sm.Thread[i] != thread || sm.State[i] == model.StateIdle {
			continue
		}
		if len(out.Samples) == 0 {
			out.Start, end = seconds(t), t
		}
		if gap := model.Dur(t - end); gap > period {
			push([]int{}, gap)
		}
		stack, ok := known[stacks[i]]
		if !ok {
			frames = framesOf(&sm.Stacks, stacks[i], frames)
			stack = make([]int, len(frames))
			for k, id := range frames {
				stack[len(frames)-1-k] = speedscopeIndex(file, index, s, &sm.Stacks.Frames[id])
			}
			known[stacks[i]] = stack
		}
		// A sample lasts until one period after its time; samples that came early share what is left.
		push(stack, max(model.Dur(t-end)+period, 0))
	}
	out.End = seconds(end)
	return out
}

func speedscopeIndex(file *speedscopeFile, index map[speedscopeFrame]int, s *model.Session, f *model.Frame) int {
	key := speedscopeFrame{s.Strings.Text(f.Function), s.Strings.Text(f.File), f.Line}
	i, ok := index[key]
	if !ok {
		i = len(file.Shared.Frames)
		index[key] = i
		file.Shared.Frames = append(file.Shared.Frames, key)
	}
	return i
}
