package agent

import (
	"compress/gzip"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/testkit"
)

// modulesWritten reads the lists of modules' calls of a session's only process: the places, each with its class.
func modulesWritten(t *testing.T, dir string) (windows int, places []string) {
	t.Helper()
	paths, _ := filepath.Glob(filepath.Join(dir, "*", "modules-*.json.gz"))
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		unpacked, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		var file struct {
			Names   [][2]string
			Threads map[string][]int64
		}
		if err := json.NewDecoder(unpacked).Decode(&file); err != nil {
			t.Fatal(err)
		}
		f.Close()
		for _, name := range file.Names {
			if place := name[0] + " " + name[1]; !slices.Contains(places, place) {
				places = append(places, place)
			}
		}
	}
	return len(paths), places
}

// TestModulesDoNotNotice runs modules of every kind with --with-modules: they behave as without the agent, none is kept
// alive, copied or pickled otherwise, and what is compiled is compiled as often.
func TestModulesDoNotNotice(t *testing.T) {
	for _, generation := range generations() {
		interpreter := python(t, generation)
		arguments := [][]string{{"module_kinds.py"}, {"module_kinds.py", "compile"}}
		for _, args := range arguments {
			t.Run(generation+" "+strings.Join(args[1:], ""), func(t *testing.T) {
				testkit.Wide(t, len(args) > 1)
				if len(args) > 1 && start(t, interpreter, environment(), "-c", "import torch._dynamo").status != 0 {
					t.Skip("this PyTorch has no torch.compile")
				}
				plain := startPlain(t, interpreter, args...)
				if plain.status != 0 || plain.stdout == "" {
					t.Fatalf("%+v", plain)
				}
				got, dir := withAgent(t, interpreter, Config{WithModules: true}, []string{"OMP_NUM_THREADS=1"}, args...)
				same(t, plain, got)
				windows, places := modulesWritten(t, dir)
				if windows < 2 {
					t.Errorf("modules of %d windows", windows)
				}
				for _, want := range []string{"Net Net", "Net.first Sequential", "Net.first.0 Linear", "Net.blocks.1 Own",
					"Net.wrapped Wrapped", "Net.wrapped.inner Linear", "Net.wrapped.<Softmax> Softmax"} {
					if !slices.Contains(places, want) {
						t.Errorf("no %q in %q", want, places)
					}
				}
				for _, w := range read(t, dir) {
					for _, row := range w.rows {
						if row[0] == "note" && row[2] == "hook-failed" {
							t.Error(row[3])
						}
					}
				}
			})
		}
	}
}

// TestModulesBesideALoadedCompiler: where Dynamo is only loaded, calls of a model are steps; a program that then compiles has the same
// graphs and breaks, and computes the same.
func TestModulesBesideALoadedCompiler(t *testing.T) {
	for _, generation := range generations() {
		interpreter := python(t, generation)
		if start(t, interpreter, environment(), "-c", "import torch._inductor.compiler_bisector").status != 0 {
			continue // calls are not watched there once Dynamo is loaded
		}
		for _, args := range [][]string{{"loaded_compiler.py"}, {"loaded_compiler.py", "compile"}} {
			t.Run(generation+" "+strings.Join(args[1:], ""), func(t *testing.T) {
				plain := startPlain(t, interpreter, args...)
				if plain.status != 0 || plain.stdout == "" {
					t.Fatalf("%+v", plain)
				}
				got, dir := withAgent(t, interpreter, Config{}, []string{"OMP_NUM_THREADS=1"}, args...)
				same(t, plain, got)
				steps := 0
				for _, w := range read(t, dir) {
					for _, row := range w.rows {
						switch {
						case row[0] == "step":
							steps++
						case row[0] == "note" && row[2] == "hook-failed":
							t.Error(row[3])
						}
					}
				}
				if steps < 50 {
					t.Errorf("%d steps of 400 calls", steps)
				}
			})
		}
	}
}

// TestWorkersHaveNoSteps: transforms of a worker that are modules, as torchvision's are, are no model whose calls are steps.
func TestWorkersHaveNoSteps(t *testing.T) {
	for _, generation := range generations() {
		interpreter := python(t, generation)
		for _, method := range []string{"fork", "spawn", "forkserver"} {
			t.Run(generation+" "+method, func(t *testing.T) {
				testkit.Wide(t, method != "fork")
				plain := startPlain(t, interpreter, "workers.py", method)
				got, dir := withAgent(t, interpreter, Config{}, nil, "workers.py", method)
				same(t, plain, got)
				workers := 0
				for _, w := range read(t, dir) {
					if w.process["role"] != "worker" {
						continue
					}
					workers++
					if len(w.of("fetch")) < 20 {
						t.Errorf("%d fetches of 20 batches", len(w.of("fetch")))
					}
					for _, kind := range []string{"step", "asked"} { // a fork server's worker is known by its first fetch
						if rows := w.of(kind); len(rows) > 10 || len(rows) > 0 && method != "forkserver" {
							t.Errorf("%d rows of %q: %v", len(rows), kind, rows[0])
						}
					}
				}
				if workers != 2 {
					t.Errorf("%d workers", workers)
				}
			})
		}
	}
}
