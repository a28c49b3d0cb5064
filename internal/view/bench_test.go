package view_test

import (
	"bottleneck/internal/ingest"
	"bottleneck/internal/report"
	"bottleneck/internal/view"
	"context"
	"io"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkReport is all that a report with the default sections costs once its traces are read: analyses, prices and text. It is to be
// less than reading them (BenchmarkReport/…/read).
func BenchmarkReport(b *testing.B) {
	folder := os.Getenv("BOTTLENECK_TRACES")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "shared", "traces")
	}
	for _, name := range []string{"segment-anything-fast/eager_False.json.gz", "tracelens-big-mi300/mi300_owlv2-large.json.gz",
		"hta-df-index-resolver-v100/trace_8_rank_1.json.gz", "megatron-tp8-a100/megatron_kineto_*.json.gz"} {
		paths, err := filepath.Glob(filepath.Join(folder, name))
		if err != nil || len(paths) == 0 {
			b.Skipf("no real traces here: %s", name)
		}
		s, err := ingest.Open(context.Background(), paths, ingest.Options{})
		if err != nil {
			b.Fatal(err)
		}
		events := 0
		for _, t := range s.Traces {
			events += t.Events.Len()
		}
		b.Run(filepath.Dir(name)+"/read", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ingest.Open(context.Background(), paths, ingest.Options{}); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(filepath.Dir(name)+"/report", func(b *testing.B) {
			b.ReportAllocs()
			b.ReportMetric(float64(events), "events")
			for b.Loop() {
				if err := view.WriteText(io.Discard, report.Build(s, report.Options{Sections: view.TextOptions{}.Shown()}),
					view.TextOptions{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
