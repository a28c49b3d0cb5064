//go:build linux

package ingest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"
)

// BenchmarkSpeedscopeOf375MB opens a speedscope profile of 375 MB, as people fail to load, made
// by repeating the samples of a real one; the goal is 4 s.
func BenchmarkSpeedscopeOf375MB(b *testing.B) {
	text, err := os.ReadFile(filepath.FromSlash("../../../shared/traces/speedscope/pyspy_bpe_tokenizer.speedscope.json"))
	if err != nil {
		b.Skipf("no real traces here: %v", err)
	}
	list := func(key string) []byte { // the longest list of that name
		var best []byte
		for rest := text; ; {
			_, after, found := bytes.Cut(rest, []byte(`"`+key+`":[`))
			if !found {
				return best
			}
			end := bytes.Index(after, []byte(map[string]string{"samples": "]]", "weights": "]"}[key]))
			if key == "samples" {
				end++
			}
			if end > len(best) {
				best = after[:end]
			}
			rest = after
		}
	}
	samples, weights := list("samples"), list("weights")
	times := 375 << 20 / (len(samples) + len(weights) + 2)
	var out bytes.Buffer
	out.WriteString(`{"$schema":"https://www.speedscope.app/file-format-schema.json",`)
	fmt.Fprintf(&out, `"shared":{"frames":[%s]},"profiles":[{"type":"sampled","name":"x","unit":"seconds","startValue":0,"endValue":1,`+
		`"samples":[`, strings.TrimSuffix(strings.Repeat(`{"name":"f","file":"a.py","line":3},`, 256), ","))
	for i := range times {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(samples)
	}
	out.WriteString(`],"weights":[`)
	for i := range times {
		if i > 0 {
			out.WriteByte(',')
		}
		out.Write(weights)
	}
	out.WriteString(`]}]}`)
	path := filepath.Join(b.TempDir(), "x.speedscope.json")
	if err := os.WriteFile(path, out.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(out.Len()))
	size := out.Len()
	out = bytes.Buffer{}
	defer debug.SetGCPercent(debug.SetGCPercent(40)) // as package cli does
	debug.FreeOSMemory()
	resetPeak(b)
	defer cpuRate(b, size)()
	for b.Loop() {
		s, err := Open(context.Background(), []string{path}, Options{})
		if err != nil {
			b.Fatal(err)
		}
		if s.Processes[0].Samples.Len() < 1e6 {
			b.Fatal("samples are missing")
		}
	}
	b.ReportMetric(float64(peakMemory(b))/1e6, "peakMB")
	b.ReportMetric(4, "goal-s")
}
