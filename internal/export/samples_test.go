package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"bottleneck/internal/model"
)

// sampledSession has one process with two threads: main for 2 s of which 0.5 s in f called by main, and one idle thread.
func sampledSession() *model.Session {
	s := &model.Session{Strings: &model.Strings{}}
	p := &model.Process{PID: 7, Rank: model.NoRank, WorkerIndex: -1, MainThread: 70, Role: model.RoleMain}
	sm := &p.Samples
	sm.AskedHz, sm.AchievedHz = 100, 100
	sm.Threads = map[int32]model.Str{70: s.Strings.Intern("MainThread"), 71: s.Strings.Intern("wait;er")}
	sm.Stacks.Frames = []model.Frame{
		{Function: s.Strings.Intern("main"), File: s.Strings.Intern("/a.py"), First: 1, Line: 3},
		{Function: s.Strings.Intern("f;g"), File: s.Strings.Intern("/b.py"), First: 10, Line: 12},
	}
	sm.Stacks.Frame, sm.Stacks.Parent = []model.FrameID{0, 1}, []model.StackID{model.NoStack, 0}
	for i := range 200 {
		stack, state := model.StackID(0), model.StateCPU
		if i%4 == 0 {
			stack, state = 1, model.StateBlocked
		}
		at := model.Time(1e18 + int64(i)*10_000_000)
		sm.Time = append(sm.Time, at, at)
		sm.Thread = append(sm.Thread, 70, 71)
		sm.Stack = append(sm.Stack, stack, 1)
		sm.State = append(sm.State, state, model.StateIdle)
		sm.Flags = append(sm.Flags, model.SampleHoldsGIL, 0)
	}
	s.Processes = []*model.Process{p}
	return s
}

func exportSamples(t *testing.T, format string) []byte {
	t.Helper()
	f, err := Find(format)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := f.Write(context.Background(), sampledSession(), &out, Options{Rank: model.NoRank}); err != nil {
		t.Fatal(err)
	}
	var missing *UnavailableError
	if err := f.Write(context.Background(), &model.Session{Strings: &model.Strings{}}, &bytes.Buffer{},
		Options{Rank: model.NoRank}); !errors.As(err, &missing) {
		t.Errorf("a session without samples: %v", err)
	}
	return out.Bytes()
}

func TestFolded(t *testing.T) {
	want := "MainThread (70);main (/a.py:3) 150\nMainThread (70);main (/a.py:3);f:g (/b.py:12) 50\n"
	if got := string(exportSamples(t, "folded")); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// TestSpeedscope checks the file by the rules of its schema: as many weights as stacks, frames that exist, times that
// add up.
func TestSpeedscope(t *testing.T) {
	var f speedscopeFile
	if err := json.Unmarshal(exportSamples(t, "speedscope"), &f); err != nil {
		t.Fatal(err)
	}
	if f.Schema != speedscopeSchema || len(f.Profiles) != 1 || len(f.Shared.Frames) != 2 {
		t.Fatalf("schema %q, %d profiles, %d frames", f.Schema, len(f.Profiles), len(f.Shared.Frames))
	}
	p := f.Profiles[0]
	sum, own := 0.0, 0.0
	for i, stack := range p.Samples {
		for _, k := range stack {
			if k < 0 || k >= len(f.Shared.Frames) {
				t.Fatalf("frame %d does not exist", k)
			}
		}
		sum += p.Weights[i]
		if len(stack) == 2 && f.Shared.Frames[stack[1]].Name == "f;g" {
			own += p.Weights[i]
		}
	}
	if len(p.Samples) != len(p.Weights) || math.Abs(sum-2) > 1e-6 || math.Abs(p.End-p.Start-sum) > 1e-6 || math.Abs(own-0.5) > 1e-6 {
		t.Errorf("%d stacks, %d weights, sum %v, from %v to %v, f %v", len(p.Samples), len(p.Weights), sum, p.Start, p.End, own)
	}
}

func TestPprof(t *testing.T) {
	p, err := profile.ParseData(exportSamples(t, "pprof"))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]int64{}
	for _, s := range p.Sample {
		key := s.Label["thread"][0] + " " + s.Location[0].Line[0].Function.Name + " " + s.Label["state"][0]
		got[key] = s.Value
	}
	for key, want := range map[string][4]int64{
		"MainThread (70) main cpu":    {150, 1.5e9, 1.5e9, 1.5e9},
		"MainThread (70) f;g blocked": {50, 0, 0.5e9, 0.5e9},
		"wait;er (71) f;g idle":       {200, 0, 0, 2e9},
	} {
		if v := got[key]; len(v) != 4 || [4]int64(v) != want {
			t.Errorf("%s: %v, want %v", key, v, want)
		}
	}
}

// TestGecko follows every index of the tables.
func TestGecko(t *testing.T) {
	var f struct {
		Threads []geckoThread `json:"threads"`
	}
	if err := json.Unmarshal(exportSamples(t, "gecko"), &f); err != nil {
		t.Fatal(err)
	}
	if len(f.Threads) != 2 || f.Threads[0].Name != "GeckoMain" {
		t.Fatalf("threads %+v", f.Threads)
	}
	leaves := map[string]int{}
	for _, th := range f.Threads {
		for _, row := range th.Samples.Data {
			stack := th.StackTable.Data[int(row[0].(float64))]
			frame := th.FrameTable.Data[int(stack[1].(float64))]
			leaves[strings.Fields(th.StringTable[int(frame[0].(float64))])[0]]++
		}
	}
	if leaves["main"] != 150 || leaves["f;g"] != 250 {
		t.Errorf("leaves %v", leaves)
	}
}
