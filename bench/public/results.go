package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"bottleneck/bench/paired"
)

// results is what was measured: all that the table needs, so that it can be printed again, and where an interrupted bench goes on.
type results struct {
	Binary   string               `json:"binary"`  // hash of the tool
	Machine  string               `json:"machine"` // whose pairs count
	Programs map[string]*measured `json:"programs"`
	clock    clock
}

// measured is what one program gave under one binary, beside what the clock has of its changes.
type measured struct {
	Recipe string `json:"recipe"` // hash of how the original is run
	Tool   []pair `json:"tool"`   // runs under the tool
	Again  []pair `json:"again"`  // the original a second time
	// Proposed is the change that the first report's first finding makes itself; nil where it has only advice.
	Proposed *change `json:"proposed"`
	Said     []said  `json:"said"`   // the report that is judged, and that of each further run under the tool
	Failed   string  `json:"failed"` // why it is not measured
	changed  map[string][]pair
}

// The sides that every program may have; further ones are its changes, by name.
const (
	plainSide = "plain"
	toolSide  = "tool"
	againSide = "again"
)

// pairs are a side's runs, each beside the original's of the same round.
func (m *measured) pairs(side string) []pair {
	switch side {
	case toolSide:
		return m.Tool
	case againSide:
		return m.Again
	}
	return m.changed[side]
}

// all are the pairs of all sides. A plain run that stands beside several sides is in them several times.
func (m *measured) all() []pair {
	return slices.Concat(m.Tool, m.Again, slices.Concat(slices.Collect(maps.Values(m.changed))...))
}

// load is the median of the machine's load before the rounds.
func (m *measured) load() float64 {
	var loads []float64
	for _, t := range m.all() {
		loads = append(loads, t.Load)
	}
	return paired.Median(loads)
}

// said is what a report says first.
type said struct {
	Cause    string   `json:"cause"` // "" where the tool finds nothing
	Sub      string   `json:"sub"`
	Title    string   `json:"title"`
	Advice   string   `json:"advice"` // the id of the advice's first sentence
	File     string   `json:"file"`
	Line     int      `json:"line"`
	Promised *span    `json:"promised"` // seconds of the run; nil where it promises none
	Alone    *span    `json:"alone"`    // the same of the change that the finding makes itself, where its fix is another one; else nil
	WallS    float64  `json:"wall_s"`
	Others   []string `json:"others"` // the causes of the findings below it
	fix      fix
}

// span is a promised saving with its bounds.
type span struct{ Low, Mid, High float64 }

// readResults gives what an earlier bench kept; nothing where there is no file.
func readResults(path string) (*results, error) {
	r := &results{Programs: map[string]*measured{}}
	return r, readDocument(path, r)
}

// kept is what earlier benches kept: of a binary, and of the clock.
func (b *bench) kept() (*results, error) {
	r, err := readResults(b.results)
	if err != nil {
		return nil, err
	}
	if r.clock, err = readClock(b.timed); err != nil {
		return nil, err
	}
	programs, err := readPrograms("", nil)
	if err != nil {
		return nil, err
	}
	for i := range programs {
		m, has := r.Programs[programs[i].ID], r.clock[programs[i].ID]
		if m != nil && has != nil && m.Recipe == has.Recipe {
			m.recall(&programs[i], has, r.Machine)
		}
	}
	return r, nil
}

// keep writes the results and what the clock has.
func (b *bench) keep(r *results) error {
	return errors.Join(writeWhole(b.results, r), writeWhole(b.timed, r.clock))
}

// writeWhole writes a document whole or not at all.
func writeWhole(path string, document any) error {
	text, err := json.MarshalIndent(document, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", append(text, '\n'), 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// readDocument reads what writeWhole wrote; nothing where there is no file.
func readDocument(path string, document any) error {
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, document); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}
