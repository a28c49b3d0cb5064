package report_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/ingest"
	"bottleneck/internal/record"
	"bottleneck/internal/report"
)

// answer is what a program with a planted fault must be told. SavedMs is what its cured twin took less a step, both timed in turn on the
// same device without the tool; where Low, the tool is known to promise too little.
type answer struct {
	Cause, Sub, Op string
	Line           int
	Among, Low     bool    // it need not be first, as another truth is larger; the promise ends below
	SavedMs        float64 `json:"saved_ms"`
	Verdict, Note  string  // without a cause: what the verdict or a note of the account holds
}

func (a *answer) is(f *report.Finding) bool {
	return f.Cause == a.Cause && f.Sub == a.Sub && f.Where.Line == a.Line && (a.Op == "" || f.Where.Op == a.Op)
}

// Sessions of programs with planted faults, recorded on an H200 or an H100 (testdata/gpu/README.md): the fault is the first finding, at its
// line, and the promise holds what curing it saved.
func TestRecordedOnADevice(t *testing.T) {
	const folder = "../../testdata/gpu"
	text, err := os.ReadFile(filepath.Join(folder, "expect.json"))
	if err != nil {
		t.Fatal(err)
	}
	var answers map[string]answer
	if err := json.Unmarshal(text, &answers); err != nil {
		t.Fatal(err)
	}
	for name, want := range answers {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			session, err := record.Unpack(t.Context(), filepath.Join(folder, name, "session.tar.zst"), t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			s, err := ingest.Open(t.Context(), []string{session}, ingest.Options{})
			if err != nil {
				t.Fatal(err)
			}
			doc := report.Build(s, report.Options{})
			if want.Cause == "" {
				notes := strings.Join(doc.Account.Notes, "\n")
				if !strings.Contains(doc.Verdict.Sentence, want.Verdict) || !strings.Contains(notes, want.Note) {
					t.Errorf("verdict %q, notes %q", doc.Verdict.Sentence, notes)
				}
				return
			}
			at := slices.IndexFunc(doc.Findings, func(f report.Finding) bool { return want.is(&f) })
			if at < 0 || at > 0 && !want.Among {
				t.Fatalf("want %+v, got %+v", want, doc.Findings)
			}
			promise := doc.Findings[at].Saving.StepMs
			if low := promise.High < want.SavedMs; want.SavedMs > 0 && (promise.Low > want.SavedMs || low != want.Low) {
				t.Errorf("%v ms a step were saved, promised are %+v", want.SavedMs, promise)
			}
			sum := 0.0
			for _, part := range doc.Breakdown {
				sum += part.Share
			}
			if sum < 0.999 || sum > 1.001 {
				t.Errorf("the parts of a step sum to %v", sum)
			}
		})
	}
}

// A trace alone tells plans of attention as well, where one step after the other needs some; those of a single step may be its first.
func TestPlansInATraceAlone(t *testing.T) {
	session, err := record.Unpack(t.Context(), "../../testdata/gpu/attention-lengths/session.tar.zst", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"trace-5.json": true, "trace-1.json": false} {
		files, err := filepath.Glob(filepath.Join(session, "vm-*", name))
		if err != nil || len(files) != 1 {
			t.Fatal(files, err)
		}
		s, err := ingest.Open(t.Context(), files, ingest.Options{})
		if err != nil {
			t.Fatal(err)
		}
		doc := report.Build(s, report.Options{})
		if f := doc.Findings[0]; (f.Cause == "launch" && f.Sub == "plans") != want {
			t.Errorf("%s: %+v", name, f)
		}
	}
}
