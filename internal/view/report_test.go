package view

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"bottleneck/internal/units"
	"bytes"
	"encoding/json"
	"math"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// slowProgram waits for data, counts words in Python and saves a checkpoint in each step.
func slowProgram() *testkit.Program {
	p := testkit.NewProgram()
	module := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 90}
	loop := func(line int) testkit.Frame {
		return testkit.Frame{File: "/home/u/train.py", Function: "train", First: 30, Line: line}
	}
	lib := "/usr/lib/python3.13/site-packages/torch/"
	next := testkit.Frame{File: lib + "utils/data/dataloader.py", Function: "_BaseDataLoaderIter.__next__", First: 1, Line: 2}
	augment := testkit.Frame{File: "/home/u/data.py", Function: "Pictures.augment", First: 50, Line: 57}
	p.S.Sources["/home/u/data.py"] = &model.Source{Path: "/home/u/data.py",
		Lines: append(make([]string, 56), "    return [turn(pixel) for pixel in picture]  # \x1b[31m")}
	p.P.Loaders = []model.Loader{{BatchSize: 32, Dataset: "Pictures", File: p.S.Strings.Intern("/home/u/train.py"), Line: 25}}
	p.Do(testkit.Python(300, module))
	p.Steps(2, model.PhaseWarmup, testkit.Native(60, module, loop(40)))
	p.Steps(20, model.PhaseBaseline,
		testkit.Python(60, module, loop(38), next, augment).In(model.SpanDataWait),
		testkit.Native(50, module, loop(40), testkit.Frame{File: lib + "nn/modules/linear.py", Function: "Linear.forward",
			First: 100, Line: 110}),
		testkit.Python(20, module, loop(44), testkit.Frame{File: "/home/u/text.py", Function: "count_words", First: 3, Line: 7}),
		testkit.Native(10, module, loop(47)).In(model.SpanIO))
	return p
}

func TestBreakdownCloses(t *testing.T) {
	r := report.Build(slowProgram().S, report.Options{})
	share, ms, unknown := 0.0, 0.0, false
	for _, p := range r.Breakdown {
		share += p.Share
		ms += p.Ms
		unknown = unknown || p.Part == "unknown"
	}
	if math.Abs(share-1) > 1e-9 || math.Abs(ms-r.Steps[0].Baseline.MedianMs) > 1e-6 || !unknown {
		t.Errorf("parts sum to %v and %v ms of %v ms; unknown is there: %v", share, ms, r.Steps[0].Baseline.MedianMs, unknown)
	}
}

// Steps whose mean is far from their median are said to be uneven: the table and savings are of the mean.
func TestUnevenSteps(t *testing.T) {
	work := testkit.Frame{File: "/home/u/train.py", Function: "<module>", First: 1, Line: 90}
	for long, want := range map[int]bool{300: true, 12: false} {
		p := testkit.NewProgram()
		for range 10 {
			p.Steps(3, model.PhaseBaseline, testkit.Native(10, work))
			p.Steps(1, model.PhaseBaseline, testkit.Native(long, work))
		}
		r := report.Build(p.S, report.Options{})
		if said := strings.Contains(strings.Join(r.Account.Notes, "\n"), "half of the steps take less than 10.0 ms"); said != want {
			t.Errorf("steps of 10 and %d ms: %q", long, r.Account.Notes)
		}
		if mean := float64(30+long) / 4; want && math.Abs(r.Account.TotalMs-mean) > 0.1 {
			t.Errorf("the table is of %.1f ms, and the mean step takes %.1f", r.Account.TotalMs, mean)
		}
	}
}

// The first 12 lines at 80 columns hold cause, place, saving and the next command.
func TestFirstTwelveLines(t *testing.T) {
	r := report.Build(slowProgram().S, report.Options{Path: "out/train"})
	for _, width := range []int{60, 80, 100} {
		var b bytes.Buffer
		if err := WriteText(&b, r, TextOptions{Width: width}); err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(b.String(), "\n")
		head := strings.Join(strings.Fields(strings.Join(lines[:12], " ")), " ")
		for _, part := range []string{"waits for data", "data.py:57", "saves", " ms a step", "bottleneck report --all out/train"} {
			if !strings.Contains(head, part) {
				t.Errorf("width %d: %q is not in the first 12 lines:\n%s", width, part, strings.Join(lines[:12], "\n"))
			}
		}
		for _, l := range lines {
			if units.TextWidth(l) > width {
				t.Errorf("line of %d columns at width %d: %s", units.TextWidth(l), width, l)
			}
		}
		if strings.ContainsRune(b.String(), '\x1b') {
			t.Error("an escape sequence of the program's source reached the terminal")
		}
	}
}

func TestColourOnlyWhenAsked(t *testing.T) {
	r := report.Build(slowProgram().S, report.Options{})
	var plain, colour bytes.Buffer
	if WriteText(&plain, r, TextOptions{}) != nil || WriteText(&colour, r, TextOptions{Color: true}) != nil {
		t.Fatal("the report cannot be written")
	}
	if strings.Contains(plain.String(), "\x1b") || !strings.Contains(colour.String(), "\x1b[1m") {
		t.Error("colours are there without asking, or missing")
	}
}

func TestSectionsByName(t *testing.T) {
	r := report.Build(slowProgram().S, report.Options{})
	var b bytes.Buffer
	if err := WriteText(&b, r, TextOptions{Sections: []string{"workers"}}); err != nil || !strings.HasPrefix(b.String(), "DataLoaders") {
		t.Errorf("section workers alone gives %q, %v", b.String(), err)
	}
	if err := WriteText(&b, r, TextOptions{Sections: []string{"weather"}}); err == nil || !strings.Contains(err.Error(), "breakdown") {
		t.Errorf("an unknown section gives %v, want the names there are", err)
	}
}

func validator(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("report.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("report.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// validDocument writes a report's document, checks it against its schema and returns its text.
func validDocument(t *testing.T, r *report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.WriteJSON(&b, r); err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(b.Bytes(), &doc); err != nil {
		t.Fatal(err)
	}
	if err := validator(t).Validate(doc); err != nil {
		t.Errorf("%v\n%s", err, b.String()[:min(b.Len(), 2000)])
	}
	return b.String()
}

func TestDocumentIsValid(t *testing.T) {
	broken := slowProgram()
	broken.P.Steps[5].Start = math.MaxInt64
	nan := math.NaN()
	broken.S.Environment.CPUQuota = &nan
	empty := &model.Session{Strings: &model.Strings{}}
	empty.Processes = []*model.Process{nil}
	for name, s := range map[string]*model.Session{"slow": slowProgram().S, "empty": {Strings: &model.Strings{}},
		"no steps": testkit.NewProgram().S, "damaged": broken.S, "nil process": empty} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(validDocument(t, report.Build(s, report.Options{Path: "x"})), "null") {
				t.Error("the document holds null where it should leave a field out or write an empty list")
			}
			var text bytes.Buffer
			if err := WriteText(&text, report.Build(s, report.Options{}), TextOptions{All: true, Verbose: true}); err != nil ||
				text.Len() == 0 {
				t.Errorf("text report: %d bytes, %v", text.Len(), err)
			}
		})
	}
}

func TestUnits(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{units.Milliseconds(0), "0"}, {units.Milliseconds(0.0123), "12.3 µs"}, {units.Milliseconds(1.5), "1.50 ms"},
		{units.Milliseconds(41.26), "41.3 ms"}, {units.Milliseconds(999), "999 ms"}, {units.Seconds(2.5), "2.50 s"},
		{units.Seconds(840), "14.0 min"}, {units.Percent(0.384), "38 %"}, {units.Percent(0.0512), "5.1 %"},
		{units.Percent(0.0001), "<0.1 %"}, {units.Percent(0), "0.0 %"}, {units.Bytes(512), "512 B"}, {units.Bytes(3 << 20), "3.00 MiB"},
		{units.Count(1234567), "1,234,567"}, {units.Count(-1234), "-1,234"}, {units.Count(12), "12"},
		{report.ShortKernel(
			"void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int, float)"),
			"vectorized_elementwise_kernel"},
		{report.ShortKernel("ampere_sgemm_128x64_tn"), "ampere_sgemm_128x64_tn"}, {report.ShortKernel("broken<a(b"), "broken<a(b"},
		{report.ShortKernel(""), ""},
		{report.ShortKernel("void (anonymous namespace)::softmax_warp_forward<float, 8>(float*)"), "softmax_warp_forward"},
	} {
		if c.got != c.want {
			t.Errorf("got %q, want %q", c.got, c.want)
		}
	}
}

// The parts sum to the median of all unprofiled steps, also where some of them are left out of the account.
func TestBreakdownSumsToShownMedian(t *testing.T) {
	p := slowProgram()
	long := testkit.Native(500)
	p.Steps(3, model.PhaseBaseline, long, testkit.Native(5).In(model.SpanProfiler))
	r := report.Build(p.S, report.Options{})
	ms := 0.0
	for _, part := range r.Breakdown {
		ms += part.Ms
	}
	if math.Abs(ms-r.Steps[0].Baseline.MedianMs) > 1e-6 {
		t.Errorf("parts sum to %v ms, the report shows a median of %v ms", ms, r.Steps[0].Baseline.MedianMs)
	}
}
