package export

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"bottleneck/internal/model"
)

// geckoVersion is the version of the raw Gecko profile format that is written (firefox-devtools/profiler,
// docs-developer/gecko-profile-format.md).
const geckoVersion = 27

type geckoSchema map[string]int

type geckoTable struct {
	Schema geckoSchema `json:"schema"`
	Data   [][]any     `json:"data"`
}

type geckoThread struct {
	Name           string     `json:"name"`
	ProcessName    string     `json:"processName"`
	ProcessType    string     `json:"processType"`
	PID            int        `json:"pid"`
	TID            int32      `json:"tid"`
	RegisterTime   float64    `json:"registerTime"`
	UnregisterTime *float64   `json:"unregisterTime"`
	Samples        geckoTable `json:"samples"`
	Markers        geckoTable `json:"markers"`
	StackTable     geckoTable `json:"stackTable"`
	FrameTable     geckoTable `json:"frameTable"`
	StringTable    []string   `json:"stringTable"`
}

// Categories of frames: what the thread did at its samples.
var geckoCategories = []map[string]any{
	{"name": "Python", "color": "yellow", "subcategories": []string{"Other"}},
	{"name": "GIL wait", "color": "orange", "subcategories": []string{"Other"}},
	{"name": "Blocked", "color": "grey", "subcategories": []string{"Other"}},
	{"name": "Idle", "color": "transparent", "subcategories": []string{"Other"}},
}

var geckoCategoryOf = [...]int{model.StateUnknown: 0, model.StateCPU: 0, model.StateGILWait: 1, model.StateBlocked: 2, model.StateIdle: 3}

func writeGecko(ctx context.Context, s *model.Session, w io.Writer, opt Options) error {
	processes := sampledProcesses(s, opt)
	if len(processes) == 0 {
		return &UnavailableError{"gecko", needSamples}
	}
	base := processes[0].Samples.Time[0]
	for _, p := range processes {
		base = min(base, p.Samples.Time[0])
	}
	threads := []*geckoThread{}
	for _, p := range processes {
		for _, thread := range threadsOf(p) {
			if err := ctx.Err(); err != nil {
				return err
			}
			threads = append(threads, geckoOf(s, p, thread, base))
		}
	}
	file := map[string]any{
		"meta": map[string]any{"version": geckoVersion, "startTime": float64(base) / 1e6, "processType": 0,
			"interval": samplePeriod(&processes[0].Samples).Ms(), "product": "bottleneck", "stackwalk": 1, "debug": 0, "gcpoison": 0,
			"asyncstack": 0, "categories": geckoCategories, "markerSchema": []any{}, "extensions": map[string]any{
				"schema": geckoSchema{"id": 0, "name": 1, "baseURL": 2}, "data": []any{}}},
		"libs": []any{}, "threads": threads, "processes": []any{}, "pausedRanges": []any{},
	}
	if err := json.NewEncoder(w).Encode(file); err != nil {
		return fmt.Errorf("write gecko profile: %w", err)
	}
	return nil
}

// geckoBuilder interns the tables of one thread.
type geckoBuilder struct {
	t       *geckoThread
	strings map[string]int
	frames  map[geckoFrame]int
	stacks  map[[2]int]int
}

type geckoFrame struct {
	id       model.FrameID
	category int
}

func geckoOf(s *model.Session, p *model.Process, thread int32, base model.Time) *geckoThread {
	t := &geckoThread{Name: threadName(s, p, thread), ProcessName: processName(p), ProcessType: "default", PID: p.PID, TID: thread,
		StringTable: []string{},
		Samples:     geckoTable{geckoSchema{"stack": 0, "time": 1, "eventDelay": 2}, [][]any{}},
		Markers:     geckoTable{geckoSchema{"name": 0, "startTime": 1, "endTime": 2, "phase": 3, "category": 4, "data": 5}, [][]any{}},
		StackTable:  geckoTable{geckoSchema{"prefix": 0, "frame": 1}, [][]any{}},
		FrameTable: geckoTable{geckoSchema{"location": 0, "relevantForJS": 1, "innerWindowID": 2, "implementation": 3, "line": 4,
			"column": 5, "category": 6, "subcategory": 7}, [][]any{}},
	}
	if int(thread) == p.MainThread {
		t.Name = "GeckoMain" // the viewer takes the thread of this name for the process's main one
	}
	b := &geckoBuilder{t, map[string]int{}, map[geckoFrame]int{}, map[[2]int]int{}}
	sm := &p.Samples
	stacks := sm.WithNative()
	var frames []model.FrameID
	for i := range sm.Time {
		if sm.Thread[i] != thread {
			continue
		}
		category := geckoCategoryOf[min(int(sm.State[i]), len(geckoCategoryOf)-1)]
		frames = framesOf(&sm.Stacks, stacks[i], frames)
		at := -1
		for k := len(frames) - 1; k >= 0; k-- {
			at = b.stack(at, b.frame(s, &sm.Stacks.Frames[frames[k]], geckoFrame{frames[k], category}))
		}
		var stack any
		if at >= 0 {
			stack = at
		}
		t.Samples.Data = append(t.Samples.Data, []any{stack, model.Dur(sm.Time[i] - base).Ms(), 0})
	}
	return t
}

func (b *geckoBuilder) frame(s *model.Session, f *model.Frame, key geckoFrame) int {
	i, ok := b.frames[key]
	if !ok {
		text := frameText(s, f)
		name, ok := b.strings[text]
		if !ok {
			name = len(b.t.StringTable)
			b.strings[text] = name
			b.t.StringTable = append(b.t.StringTable, text)
		}
		i = len(b.t.FrameTable.Data)
		b.frames[key] = i
		b.t.FrameTable.Data = append(b.t.FrameTable.Data, []any{name, true, 0, nil, f.Line, nil, key.category, 0})
	}
	return i
}

func (b *geckoBuilder) stack(prefix, frame int) int {
	key := [2]int{prefix, frame}
	i, ok := b.stacks[key]
	if !ok {
		i = len(b.t.StackTable.Data)
		b.stacks[key] = i
		var p any
		if prefix >= 0 {
			p = prefix
		}
		b.t.StackTable.Data = append(b.t.StackTable.Data, []any{p, frame})
	}
	return i
}
