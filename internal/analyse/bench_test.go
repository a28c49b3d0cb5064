package analyse_test

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/analyse/allocations"
	"bottleneck/internal/analyse/collectives"
	"bottleneck/internal/analyse/criticalpath"
	"bottleneck/internal/analyse/device"
	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
)

// bigTraces are the largest files of the traces folder: 54 to 81 MB of JSON, 100,000 to 218,000 complete events.
var bigTraces = []string{"hta-df-index-resolver-v100/trace_8_rank_1.json.gz", "segment-anything-fast/eager_False.json.gz",
	"tracelens-xdit-flux-mi300/profile_trace_rank_0.json.gz"}

func readFast(b *testing.B, name string) (*model.Trace, *model.Strings) {
	b.Helper()
	folder := os.Getenv("BOTTLENECK_TRACES")
	if folder == "" {
		folder = filepath.Join("..", "..", "..", "shared", "traces")
	}
	raw, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		b.Skipf("no real traces here: %v", err)
	}
	s := &model.Session{Strings: &model.Strings{}}
	t, err := ingest.ReadTrace(context.Background(), bytes.NewReader(raw), name, s)
	if err != nil {
		b.Fatal(err)
	}
	return t, s.Strings
}

func BenchmarkAnalyses(b *testing.B) {
	parts := []struct {
		name string
		run  func(*model.Trace, *model.Strings)
	}{
		{"KeyAverages", func(t *model.Trace, s *model.Strings) {
			keyaverages.Of([]*model.Trace{t}, s, keyaverages.Options{})
		}},
		{"KeyAveragesByShapes", func(t *model.Trace, s *model.Strings) {
			keyaverages.Of([]*model.Trace{t}, s, keyaverages.Options{ByShapes: true})
		}},
		{"Kernels", func(t *model.Trace, s *model.Strings) { device.Kernels([]*model.Trace{t}, s) }},
		{"GPUs", func(t *model.Trace, s *model.Strings) { device.GPUs(t, s) }},
		{"Streams", func(t *model.Trace, s *model.Strings) { device.Streams(t, s) }},
		{"Copies", func(t *model.Trace, s *model.Strings) { device.Copies(t, s) }},
		{"StepParts", func(t *model.Trace, s *model.Strings) { account.StepPartsOf(t, s) }},
		{"Communications", func(t *model.Trace, s *model.Strings) { collectives.Communications([]*model.Trace{t}, s) }},
		{"CriticalPath", func(t *model.Trace, s *model.Strings) { criticalpath.Of(t, s, t.From, t.To) }},
		{"MemoryUse", func(t *model.Trace, s *model.Strings) { allocations.UseOf(t, s) }},
		{"Roofline", func(t *model.Trace, s *model.Strings) { device.RooflineOf(t, s) }},
	}
	for _, name := range bigTraces {
		t, s := readFast(b, name)
		for _, part := range parts {
			b.Run(filepath.Base(filepath.Dir(name))+"/"+part.name, func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					part.run(t, s)
				}
			})
		}
	}
}
