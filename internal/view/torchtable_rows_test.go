package view

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/analyse/keyaverages"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
)

// readTrace reads one of this repository's trace fixtures.
func readTrace(t *testing.T, name string) (*model.Session, *model.Trace) {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := &model.Session{Strings: &model.Strings{}}
	trace, err := ingest.ReadTrace(context.Background(), f, name, s)
	if err != nil {
		t.Fatal(err)
	}
	return s, trace
}

// TestTorchTableFromTrace goes the whole way: the trace that torch exported, read and added up by us, must give the text
// that torch printed from the same run.
func TestTorchTableFromTrace(t *testing.T) {
	names, _ := filepath.Glob("../../testdata/torchtable/*.trace.json.gz")
	if len(names) < 6 {
		t.Fatalf("only %d traces", len(names))
	}
	for _, name := range names {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".trace.json.gz"), func(t *testing.T) {
			fixture := readTorchFixture(t, strings.Replace(name, ".trace", "", 1))
			s, trace := readTrace(t, name)
			rows := TorchRows(trace, s.Strings, keyaverages.Options{ByShapes: fixture.Shapes, ByStack: fixture.StackN})
			if !fixture.Flops { // we know them from the shapes; torch was not asked to count them
				for i := range rows {
					rows[i].Flops = 0
				}
			}
			compareTorchRows(t, rows, torchRowsOf(fixture.Rows))
			for i := range fixture.Tables {
				var got strings.Builder
				if err := TorchTable(&got, rows, tableOptions(&fixture, i)); err != nil {
					t.Fatal(err)
				}
				if want := fixture.Tables[i].Text; got.String() != want {
					t.Fatalf("table %d (%+v):\n%s", i, fixture.Tables[i].Args, firstDifference(got.String(), want))
				}
			}
		})
	}
}

func compareTorchRows(t *testing.T, got, want []TorchRow) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d rows, torch has %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		g, w := got[i], want[i]
		if strings.Join(g.Stack, ";") != strings.Join(w.Stack, ";") {
			t.Errorf("row %d (%s): stack %q, torch has %q", i, w.Name, g.Stack, w.Stack)
			return
		}
		g.Stack, w.Stack = nil, nil
		if w.InputShapes == "" {
			w.InputShapes = g.InputShapes
		}
		if gs, ws := describe(g), describe(w); gs != ws {
			t.Errorf("row %d:\ngot  %s\nwant %s", i, gs, ws)
			return
		}
	}
}

func describe(r TorchRow) string { return fmt.Sprintf("%+v", r) }

// TestTorchTableFromDeviceTraces does the same with traces of GPUs, whose tables torch's own code made from the files.
func TestTorchTableFromDeviceTraces(t *testing.T) {
	names, _ := filepath.Glob("../../testdata/torchtable/devices/*.json.gz")
	if len(names) < 4 {
		t.Fatalf("only %d fixtures", len(names))
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			fixture := readTorchFixture(t, name)
			path := "../../../shared/traces/" + fixture.Trace
			if _, err := os.Stat(path); err != nil {
				t.Skip("the folder of recorded traces is not beside this checkout")
			}
			s, trace := readTrace(t, path)
			rows := TorchRows(trace, s.Strings, keyaverages.Options{})
			for i := range rows {
				rows[i].Flops = 0 // with_flops was off
			}
			compareTorchRows(t, rows, torchRowsOf(fixture.Rows))
			for i := range fixture.Tables {
				var got strings.Builder
				if err := TorchTable(&got, rows, tableOptions(&fixture, i)); err != nil {
					t.Fatal(err)
				}
				if want := fixture.Tables[i].Text; got.String() != want {
					t.Fatalf("table %d (%+v):\n%s", i, fixture.Tables[i].Args, firstDifference(got.String(), want))
				}
			}
		})
	}
}
