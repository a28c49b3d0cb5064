package tables

import (
	"testing"

	"bottleneck/internal/model"
)

// What was added stands before what the profiler writes, each in the order of its keys.
func TestMetadata(t *testing.T) {
	trace := &model.Trace{Header: model.Header{Metadata: map[string]string{
		"schemaVersion": "1", "run": `"night 7"`, "settings": `{"lr": 0.1}`,
	}}}
	want := [][2]string{{"run", `"night 7"`}, {"settings", `{"lr": 0.1}`}, {"schemaVersion", "1"}}
	rows := metadataRows(trace, nil)
	if len(rows) != len(want) {
		t.Fatalf("%d rows, want %d", len(rows), len(want))
	}
	for i, row := range rows {
		if got := [2]string{row[0].Text, row[1].Text}; got != want[i] {
			t.Errorf("row %d: %q, want %q", i, got, want[i])
		}
	}
}
