package main

import (
	"bottleneck/internal/ingest"
	"bottleneck/internal/report"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// Recorded traces end in the verdict that was derived by hand.
func TestRecordedCases(t *testing.T) {
	traces := os.Getenv("BOTTLENECK_TRACES")
	if traces == "" {
		traces = filepath.Join("..", "..", "..", "shared", "traces")
	}
	if _, err := os.Stat(traces); err != nil {
		t.Skip("the real traces are not here")
	}
	for _, c := range allCases(t) {
		if !c.recorded() {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			o := outcome{name: c.name, expect: &c.expect, file: func(f string) string { return f }}
			o.slow = []document{recordedReport(t, traces, c.expect.Trace)}
			if !o.named() || o.hasPlace() && !o.placed() {
				t.Errorf("said %s, want %s at %s:%d %s: %s", o.finding(), c.expect.label(), c.expect.File, c.expect.Line,
					c.expect.Op, c.expect.Note)
			}
			if c.expect.TraceFixed == "" {
				return
			}
			if o.fixed = recordedReport(t, traces, c.expect.TraceFixed); !o.quiet() {
				t.Errorf("%s is still claimed on the cured program's trace", c.expect.Cause)
			}
		})
	}
}

// recordedReport makes the report document of a trace.
func recordedReport(t *testing.T, traces, name string) (doc document) {
	t.Helper()
	s, err := ingest.Open(t.Context(), []string{filepath.Join(traces, filepath.FromSlash(name))}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(report.Build(s, report.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	return doc
}
