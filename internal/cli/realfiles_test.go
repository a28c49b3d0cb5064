package cli

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// realFiles are the real traces and profiles that this checkout has beside it.
const realFiles = "../../../shared/traces"

// reported is what the tests look at in the report document.
type reported struct {
	Inputs []struct {
		Path, Format, Note string
		Diagnostics        []struct {
			Kind, Text string
			Count      int64
		}
	}
	Verdict     struct{ Sentence string }
	KeyAverages []struct{} `json:"key_averages"`
	Kernels     []struct{}
	Python      *struct{ Functions, Lines []struct{} }
	Calls       []struct{}
	Lines       []struct{}
	Tables      []struct{ Rows []struct{} }
	Contents    []struct {
		Table struct{ Rows []struct{} }
	}
	Snapshots []struct{} `json:"memory_snapshots"`
	Breakdown []struct{ Share float64 }
	Unread    []string
}

// Every real file is reported by the command: traces and profiles with tables, the rest by a sentence that says what it is,
// what it holds and what to do instead.
func TestReportOfEveryRealFile(t *testing.T) {
	if _, err := os.Stat(realFiles); err != nil {
		t.Skip("no folder of real traces beside the checkout")
	}
	count := 0
	err := filepath.WalkDir(realFiles, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() == "MANIFEST.md" {
			return err
		}
		count++
		t.Run(strings.TrimPrefix(path, realFiles+"/"), func(t *testing.T) { reportRealFile(t, path) })
		return nil
	})
	if err != nil || count < 90 {
		t.Fatalf("%d files, %v", count, err)
	}
}

func reportRealFile(t *testing.T, path string) {
	document := filepath.Join(t.TempDir(), "report.json")
	code, stdout, stderr := here("report", "--json", document, path)
	if info, err := os.Stat(path); err == nil && info.Size() == 0 {
		if code != 3 || !strings.Contains(stderr, "the file is empty") {
			t.Fatalf("status %d, %q: an empty file can be told to be one, but not be used", code, stderr)
		}
		return
	}
	if code != 0 || stderr != "" {
		t.Fatalf("status %d, %q", code, stderr)
	}
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	var r reported
	if err := json.Unmarshal(text, &r); err != nil {
		t.Fatal(err)
	}
	if len(r.Unread) > 0 {
		t.Errorf("not in the report: %v", r.Unread)
	}
	if note := r.Inputs[0].Note; note != "" {
		expect(t, "report", flat(stdout), "Nothing to judge: "+filepath.Base(r.Inputs[0].Path)+" is "+note)
		if !strings.Contains(note, ": it holds ") || !strings.Contains(note, "report") {
			t.Errorf("%q says not what it holds and what to do instead", note)
		}
		return
	}
	tables := len(r.KeyAverages) + len(r.Kernels) + len(r.Calls) + len(r.Lines)
	if r.Python != nil {
		tables += len(r.Python.Functions)
	}
	for _, t := range r.Tables {
		tables += len(t.Rows)
	}
	for _, c := range r.Contents {
		tables += len(c.Table.Rows)
	}
	tables += len(r.Snapshots)
	if tables == 0 || strings.HasPrefix(r.Verdict.Sentence, "nothing to judge") {
		t.Errorf("a %s without tables: %s", r.Inputs[0].Format, r.Verdict.Sentence)
	}
	share := 0.0
	for _, part := range r.Breakdown {
		share += part.Share
	}
	if len(r.Breakdown) > 0 && (share < 0.999 || share > 1.001) {
		t.Errorf("the parts of the breakdown sum to %v", share)
	}
}

// flat undoes the text's line breaks.
func flat(text string) string { return strings.Join(strings.Fields(text), " ") }
