package export

import (
	"bufio"
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// torchRow is what testdata/torchtable holds of torch's key_averages().
type torchRow struct {
	Name    string
	Count   int64
	SelfCPU float64 `json:"self_cpu_us"`
	Bytes   int64   `json:"cpu_bytes"`
}

func memoryFixture(t *testing.T) (*model.Session, []torchRow) {
	t.Helper()
	var fixture struct{ Rows []torchRow }
	readGzipJSON(t, "../../testdata/torchtable/memory.json.gz", &fixture)
	return readSession(t, readFile(t, "../../testdata/torchtable/memory.trace.json.gz"), "memory"), fixture.Rows
}

// TestAveragesAreTorchs compares both forms with torch's own rows.
func TestAveragesAreTorchs(t *testing.T) {
	s, want := memoryFixture(t)
	var text, list bytes.Buffer
	if err := writeCSV(context.Background(), s, &text, Options{Rank: model.NoRank}); err != nil {
		t.Fatal(err)
	}
	if err := writeAveragesJSON(context.Background(), s, &list, Options{Rank: model.NoRank}); err != nil {
		t.Fatal(err)
	}
	var rows []torchRow
	if err := json.Unmarshal(list.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	lines, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != len(want) || len(lines) != len(want)+1 || lines[0][0] != "name" || lines[0][2] != "self_cpu_us" {
		t.Fatalf("%d objects and %d lines for %d rows; header %v", len(rows), len(lines), len(want), lines[0])
	}
	for i, w := range want {
		self, _ := strconv.ParseFloat(lines[i+1][2], 64)
		if rows[i].Name != w.Name || rows[i].Count != w.Count || rows[i].Bytes != w.Bytes || math.Abs(rows[i].SelfCPU-w.SelfCPU) > 0.001 ||
			lines[i+1][0] != w.Name || math.Abs(self-w.SelfCPU) > 0.001 {
			t.Errorf("row %d is %+v and %v, torch has %+v", i, rows[i], lines[i+1], w)
		}
	}
}

func TestAveragesSortAndLimit(t *testing.T) {
	s, _ := memoryFixture(t)
	var out bytes.Buffer
	if err := writeAveragesJSON(context.Background(), s, &out, Options{Rank: model.NoRank, SortBy: "self_cpu_time_total",
		RowLimit: 3}); err != nil {
		t.Fatal(err)
	}
	var rows []torchRow
	if err := json.Unmarshal(out.Bytes(), &rows); err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3 || rows[0].SelfCPU < rows[1].SelfCPU || rows[1].SelfCPU < rows[2].SelfCPU {
		t.Errorf("rows %+v", rows)
	}
}

// TestEventsAddUpToTheTable sums the streamed events by name and compares with torch's rows.
func TestEventsAddUpToTheTable(t *testing.T) {
	s, want := memoryFixture(t)
	var out bytes.Buffer
	if err := writeEvents(context.Background(), s, &out, Options{Rank: model.NoRank}); err != nil {
		t.Fatal(err)
	}
	sums := map[string]torchRow{}
	lines := bufio.NewScanner(&out)
	for lines.Scan() {
		var e struct {
			Name    string
			SelfCPU float64 `json:"self_cpu_us"`
			Bytes   int64   `json:"cpu_bytes"`
		}
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil {
			t.Fatalf("%v: %s", err, lines.Bytes())
		}
		sum := sums[e.Name]
		sums[e.Name] = torchRow{Count: sum.Count + 1, SelfCPU: sum.SelfCPU + e.SelfCPU, Bytes: sum.Bytes + e.Bytes}
	}
	for _, w := range want {
		if got := sums[w.Name]; got.Count != w.Count || got.Bytes != w.Bytes || math.Abs(got.SelfCPU-w.SelfCPU) > 0.001 {
			t.Errorf("%s adds up to %+v, torch has %+v", w.Name, got, w)
		}
	}
}

// TestLightningOperators splits a recorded run into two actions, and a second window of the same process doubles them.
func TestLightningOperators(t *testing.T) {
	s, _ := memoryFixture(t)
	trace := s.Traces[0]
	second := *trace
	s.Traces = append(s.Traces, &second)
	trace.Process, second.Process = 0, 0
	middle := trace.From + (trace.To-trace.From)/2
	s.Processes = []*model.Process{{Rank: 0, Spans: []model.Span{
		{Kind: model.SpanAction, Name: s.Strings.Intern("run_training_epoch"), Start: trace.From - 5, End: middle},
		{Kind: model.SpanAction, Name: s.Strings.Intern("outside"), Start: trace.To + 1e9, End: trace.To + 2e9},
	}}}
	var out bytes.Buffer
	if err := writeLightningOperators(context.Background(), s, &out, Options{Rank: model.NoRank}); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	if !strings.HasPrefix(text, "FIT Profiler Report\nProfile stats for: run_training_epoch rank: 0\n---") ||
		strings.Contains(text, "outside") {
		t.Errorf("%s", text)
	}
	var fields []string
	for line := range strings.Lines(text) {
		if f := strings.Fields(line); len(f) > 3 && f[0] == "aten::conv2d" {
			fields = f
		}
	}
	// One of the two training steps lies in the first half; two windows make it two calls. Columns from the right: calls.
	if len(fields) == 0 || fields[len(fields)-1] != "2" {
		t.Errorf("conv2d: %q in\n%s", fields, text)
	}
}
