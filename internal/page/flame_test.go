package page

import (
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"bottleneck/internal/units"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// open reads a file or a text as a trace.
func open(t *testing.T, path, text string) *model.Session {
	t.Helper()
	if text != "" {
		path = filepath.Join(t.TempDir(), "trace.json")
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(path); err != nil {
		t.Skip(err)
	}
	s, err := ingest.Open(context.Background(), []string{path}, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// check states what every layout keeps: boxes lie within their parents, brothers do not overlap, and parts sum to the whole.
func (f *Flame) check(t *testing.T) {
	t.Helper()
	sums, ends := make([]float64, len(f.Frame)), make([]float64, len(f.Frame))
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Max(1, f.Total[0]) }
	for i := len(f.Frame) - 1; i >= 0; i-- {
		if parent := f.Parent[i]; parent >= 0 {
			sums[parent] += f.Total[i]
		}
	}
	for i := range f.Frame {
		if !near(sums[i]+f.Self[i], f.Total[i]) && sums[i] > 0 {
			t.Fatalf("%s: box %d %q is %g wide, its parts sum to %g", f.Title, i, f.Names[f.Frame[i]], f.Total[i], sums[i]+f.Self[i])
		}
		parent := f.Parent[i]
		if parent < 0 {
			continue
		}
		begin := math.Max(ends[parent], f.Start[parent])
		if parent >= i || f.Depth[i] != f.Depth[parent]+1 || !near(begin, f.Start[i]) ||
			f.Start[i]+f.Total[i] > f.Start[parent]+f.Total[parent]+1e-6*f.Total[0] {
			t.Fatalf("%s: box %d is not within its parent %d, or overlaps a brother", f.Title, i, parent)
		}
		ends[parent] = f.Start[i] + f.Total[i]
	}
}

func TestFlamesClose(t *testing.T) {
	for _, file := range []string{"segment-anything-fast/amg_example_trace.json.gz", "torchao/gtx1650_llama_with_stack_memory.json.gz",
		"speedscope/pyspy_bpe_tokenizer.speedscope.json", "tracelens-rocm-ddp/resnet_act_checkpoint_rank0of8_mi300.json.gz"} {
		t.Run(filepath.Base(file), func(t *testing.T) {
			s := open(t, "../../../shared/traces/"+file, "")
			made := 0
			for _, make := range flamesOf(s) {
				if f := make(); f != nil {
					f.check(t)
					made++
				}
			}
			if made == 0 {
				t.Error("no flame graph")
			}
		})
	}
}

// TestSampleTree compares a real recording's tree with its stacks, added up one by one.
func TestSampleTree(t *testing.T) {
	s := open(t, "../../../shared/traces/speedscope/pyspy_bpe_tokenizer.speedscope.json", "")
	want := map[string]float64{}
	all := 0.0
	for _, p := range s.Processes {
		for _, st := range report.SampledStacks(s, p, report.SampleChoice{}, false) {
			seen := map[string]bool{}
			for _, id := range framesOf(&p.Samples.Stacks, st.Stack, nil) {
				if name := s.Strings.Text(p.Samples.Stacks.Frames[id].Function); !seen[name] {
					seen[name] = true
					want[name] += st.Ns
				}
			}
			all += st.Ns
		}
	}
	for name, make := range map[string]func() *Flame{"as recorded": flamesOf(s)["python"],
		"inverted": flamesOf(s)["python"+invertedSuffix]} {
		f := make()
		if math.Abs(f.Total[0]*1e3-all) > 1 {
			t.Errorf("%s: %g µs in all, the samples are %g", name, f.Total[0], all/1e3)
		}
		got, leaves := map[string]float64{}, 0.0
		for i := range f.Frame {
			nested := false
			for k := f.Parent[i]; k >= 0; k = f.Parent[k] {
				nested = nested || f.Names[f.Frame[k]] == f.Names[f.Frame[i]]
			}
			if !nested {
				got[f.Names[f.Frame[i]]] += f.Total[i]
			}
			leaves += f.Self[i]
		}
		if math.Abs(leaves*1e3-all) > 1 {
			t.Errorf("%s: own times sum to %g", name, leaves)
		}
		for fn, ns := range want {
			if ns > all/10 && math.Abs(got[fn]*1e3-ns) > all*1e-3 {
				t.Errorf("%s: %s has %g µs, the samples say %g", name, fn, got[fn], ns/1e3)
			}
		}
	}
}

// TestEventTrees asks for own times and for kernels below the operators that launched them.
func TestEventTrees(t *testing.T) {
	trace := testkit.NewTrace().Op("outer", 1, 0, 100_000).Op("inner", 1, 10_000, 30_000).Launch("kernel", 1, 15_000,
		5_000, 50_000, 40_000, 7)
	s := open(t, "", trace.String())
	lines := func(f *Flame) (out []string) {
		for i := range f.Frame {
			path := f.Names[f.Frame[i]]
			for k := f.Parent[i]; k > 0; k = f.Parent[k] {
				path = f.Names[f.Frame[k]] + ";" + path
			}
			out = append(out, path+" "+units.Milliseconds(f.Total[i]/1e3)+" "+units.Milliseconds(f.Self[i]/1e3))
		}
		return out
	}
	flames := flamesOf(s)
	if got := strings.Join(lines(flames["operators"]()), "\n"); !strings.Contains(got, "outer 100 µs 70.0 µs\n") ||
		!strings.Contains(got, "outer;inner 30.0 µs 25.0 µs\n") {
		t.Errorf("calls:\n%s", got)
	}
	if got := strings.Join(lines(flames["device"]()), "\n"); !strings.Contains(got, "outer;inner;kernel 40.0 µs 40.0 µs") {
		t.Errorf("device:\n%s", got)
	}
}
