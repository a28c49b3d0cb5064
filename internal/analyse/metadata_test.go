package analyse

import (
	"strings"
	"testing"

	"bottleneck/internal/model"
)

// What was added stands before what the profiler writes; values are one line each and not longer than can be read.
func TestMetadata(t *testing.T) {
	long := strings.Repeat("ä", 400)
	trace := &model.Trace{Header: model.Header{Metadata: map[string]string{
		"schemaVersion": "1", "run": `"night\n 7"`, "settings": "{\"lr\": 0.1,\n \"layers\": [1, 2]}", "long": `"` + long + `"`, "broken": `{"a":`,
	}}}
	want := [][2]string{{"broken", `{"a":`}, {"long", long[:maxMetadataText] + "…"}, {"run", "night 7"}, {"settings", `{"lr": 0.1, "layers": [1, 2]}`}, {"schemaVersion", "1"}}
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
