package export

import (
	"bytes"
	"context"
	"encoding/json"
	"testing"

	"bottleneck/internal/model"
)

// TestChromeOfSamples: a recording without operators is a timeline of its functions, on one row for each thread.
func TestChromeOfSamples(t *testing.T) {
	s := sampledSession()
	var out bytes.Buffer
	if err := writeChrome(context.Background(), s, &out, Options{Rank: model.NoRank}); err != nil {
		t.Fatal(err)
	}
	var doc struct {
		TraceEvents []struct {
			Ph, Name string
			TS, Dur  float64
			TID      any
			Args     map[string]any
		}
	}
	if err := json.Unmarshal(out.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	sum, count, rows := map[string]float64{}, map[string]int{}, map[string]bool{}
	for _, e := range doc.TraceEvents {
		if name, ok := e.Args["name"].(string); ok && e.Name == "thread_name" {
			rows[name] = true
		}
		if e.Ph == "X" {
			sum[e.Name] += e.Dur
			count[e.Name]++
		}
	}
	// main stands in all of 200 samples of 10 ms, f;g in every fourth.
	if sum["main"] != 2e6 || count["main"] != 1 || sum["f;g"] != 50*10_000 || count["f;g"] != 50 {
		t.Errorf("microseconds %v in %v slices", sum, count)
	}
	if !rows["bottleneck: Python of MainThread (70)"] || len(rows) != 1 {
		t.Errorf("rows %v", rows)
	}
}

// TestSamplesThatStop end their slices: a thread that was not seen for a while did nothing that is known.
func TestSamplesThatStop(t *testing.T) {
	s := sampledSession()
	sm := &s.Processes[0].Samples
	sm.Time, sm.Thread, sm.Stack = []model.Time{1e9, 1.01e9, 5e9}, []int32{70, 70, 70}, []model.StackID{0, 0, 0}
	sm.State, sm.Flags = sm.State[:3], sm.Flags[:3]
	for i := range sm.State {
		sm.State[i] = model.StateCPU
	}
	var out bytes.Buffer
	if err := writeChrome(context.Background(), s, &out, Options{Rank: model.NoRank}); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(out.Bytes(), []byte(`"dur": 20000.000`)); n != 1 {
		t.Errorf("%d slices of 20 ms:\n%s", n, out.Bytes())
	}
	if n := bytes.Count(out.Bytes(), []byte(`"dur": 10000.000`)); n != 1 {
		t.Errorf("%d slices of 10 ms", n)
	}
}

// TestSlicesNest: of two slices that begin and end together the outer function's comes first.
func TestSlicesNest(t *testing.T) {
	s := sampledSession()
	sm := &s.Processes[0].Samples
	sm.Time, sm.Thread, sm.Stack, sm.State, sm.Flags = sm.Time[:1], sm.Thread[:1], []model.StackID{1},
		[]model.ThreadState{model.StateCPU}, sm.Flags[:1]
	var out bytes.Buffer
	if err := writeChrome(context.Background(), s, &out, Options{Rank: model.NoRank}); err != nil {
		t.Fatal(err)
	}
	main, f := bytes.Index(out.Bytes(), []byte(`"name": "main", "pid": 7, "tid": 2000001000`)),
		bytes.Index(out.Bytes(), []byte(`"name": "f;g", "pid": 7, "tid": 2000001000`))
	if main < 0 || f < main {
		t.Errorf("main at %d, what it called at %d:\n%s", main, f, out.Bytes())
	}
}
