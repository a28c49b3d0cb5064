// Command parity compares our analyses with Holistic Trace Analysis and the TensorBoard plugin, number by number, on real
// traces.
//
//	holistic.py ROOT FILE... | parity ROOT
//	plugin.py ROOT FILE... | parity -plugin ROOT
//
// Each row of its table is equal, explained or different. Explained means: HTA's number follows from our model by the rule
// of HTA that is named in the row, and differs from ours by that rule only (docs/differences.md says who is right). The exit
// status is 1 if a row is different.
//
// It does not measure speed and takes no part in the product.
package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"

	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
)

// holistic is one line of holistic.py. Times are microseconds.
type holistic struct {
	File     string             `json:"file"`
	Errors   map[string]string  `json:"errors"`
	Temporal map[string]float64 `json:"temporal"`
	Idle     [][]any            `json:"idle"`
	Kernels  *struct {
		Types map[string]float64 `json:"types"`
		Names [][]any            `json:"names"`
	} `json:"kernels"`
	Overlap   *float64                      `json:"overlap"`
	Launches  map[string]float64            `json:"launches"`
	Queue     map[string][2]float64         `json:"queue"`
	Bandwidth map[string]map[string]float64 `json:"bandwidth"`
	Critical  map[string]float64            `json:"critical"`
	Counts    map[string]int64              `json:"counts"`
	absolute  bool                          // the file's time stamps count from 1970
}

// table prints rows and counts verdicts.
type table struct {
	out                              io.Writer
	equal, explained, other, differs int
	file                             string
	printed                          bool
}

// tolerance is what float64 microseconds and HTA's own rounding of sums lose.
func tolerance(v float64) float64 { return 0.02 + 1e-6*math.Abs(v) }

// row compares one number; byRule is what HTA's rule makes of our model, and rule names it.
func (t *table) row(what string, theirs, ours, byRule float64, rule string) {
	verdict := "DIFFERENT"
	switch {
	case near(theirs, ours):
		verdict = "equal"
		t.equal++
	case rule != "" && near(theirs, byRule):
		verdict = "explained: " + rule
		t.explained++
	default:
		if rule != "" {
			verdict += fmt.Sprintf("; %.3f by %s", byRule, rule)
		}
		t.differs++
	}
	if !t.printed {
		fmt.Fprintf(t.out, "%s\n", t.file)
		t.printed = true
	}
	fmt.Fprintf(t.out, "  %-44s %16.3f %16.3f  %s\n", what, theirs, ours, verdict)
}

// loose compares numbers of different definitions: within 2 % is near, the rest is another definition, and counted apart.
func (t *table) loose(what string, theirs, ours float64, rule string) {
	verdict := "other definition: " + rule
	if math.Abs(theirs-ours) <= 0.02*math.Max(theirs, ours) {
		verdict = "within 2 %: " + rule
	}
	t.other++
	fmt.Fprintf(t.out, "  %-44s %16.3f %16.3f  %s\n", what, theirs, ours, verdict)
}

func near(a, b float64) bool {
	return math.Abs(a-b) <= max(tolerance(a), tolerance(b)) || math.IsNaN(a) && math.IsNaN(b)
}

func main() {
	with := compareAll
	args := os.Args[1:]
	if len(args) == 2 && args[0] == "-plugin" {
		with, args = comparePlugin, args[1:]
	}
	if len(args) != 1 {
		fmt.Fprintln(os.Stderr, "usage: holistic.py ROOT FILE... | parity ROOT, or plugin.py ROOT FILE... | parity -plugin ROOT")
		os.Exit(2)
	}
	differs, err := with(os.Stdin, os.Stdout, args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, "parity:", err)
		os.Exit(2)
	}
	if differs > 0 {
		os.Exit(1)
	}
}

// compareAll reads HTA's lines and prints the table of agreements.
func compareAll(in io.Reader, out io.Writer, root string) (differs int, err error) {
	t := &table{out: out}
	fmt.Fprintf(out, "%-46s %16s %16s\n", "", "HTA", "ours")
	lines := bufio.NewScanner(in)
	lines.Buffer(nil, 64<<20)
	for lines.Scan() {
		if !bytes.HasPrefix(lines.Bytes(), []byte("{")) {
			continue // HTA's libraries print to standard output too
		}
		var h holistic
		if err := json.Unmarshal(lines.Bytes(), &h); err != nil {
			return 0, fmt.Errorf("reading HTA's numbers: %w", err)
		}
		t.file, t.printed = h.File, false
		trace, s, err := read(filepath.Join(root, h.File), &h)
		if err != nil {
			return 0, err
		}
		compare(t, &h, trace, s)
		for _, key := range []string{"load", "temporal", "idle", "kernels", "overlap", "launches", "queue", "bandwidth",
			"critical", "counts"} {
			if text := h.Errors[key]; text != "" {
				fmt.Fprintf(out, "  %-44s HTA fails: %s\n", key, text)
			}
		}
	}
	fmt.Fprintf(out, "%d equal, %d explained, %d of other definition, %d different\n", t.equal, t.explained, t.other, t.differs)
	return t.differs, lines.Err()
}

// read opens a trace with our reader, and sees whether its time stamps count from 1970.
func read(path string, h *holistic) (*model.Trace, *model.Strings, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	text := raw
	if z, err := gzip.NewReader(bytes.NewReader(raw)); err == nil {
		if text, err = io.ReadAll(z); err != nil {
			return nil, nil, fmt.Errorf("unpacking %s: %w", path, err)
		}
	}
	h.absolute = !bytes.Contains(text, []byte(`"baseTimeNanoseconds"`))
	s, err := readSession(path)
	if err != nil {
		return nil, nil, err
	}
	return s.Traces[0], s.Strings, nil
}

// readSession opens one trace with our reader.
func readSession(path string) (*model.Session, error) {
	raw, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	s := &model.Session{Strings: &model.Strings{}}
	if _, err := ingest.ReadTrace(context.Background(), bytes.NewReader(raw), path, s); err != nil {
		return nil, fmt.Errorf("reading %s: %w", path, err)
	}
	return s, nil
}
