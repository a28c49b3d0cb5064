package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// results is what was measured: all that the table needs, so that it can be printed again, and where an interrupted bench goes on.
type results struct {
	Binary   string               `json:"binary"` // hash of the tool
	Programs map[string]*measured `json:"programs"`
}

// measured is what one program gave. Every round has one run of each side.
type measured struct {
	Recipe string               `json:"recipe"` // hash of how it is run and changed
	Sides  map[string][]float64 `json:"sides"`  // seconds of wall clock of each whole round, by side; scouts' of the first rounds only
	// Proposed is the change that the first report's first finding makes itself; nil where it has only advice.
	Proposed *change   `json:"proposed"`
	Said     []said    `json:"said"`   // the report that is judged, and that of each round's run under the tool
	Loads    []float64 `json:"loads"`  // the machine's load before each round
	Failed   string    `json:"failed"` // why it is not measured
}

// The sides that every program has; further ones are its changes, by name.
const (
	plainSide = "plain"
	toolSide  = "tool"
	againSide = "again"
)

// rounds is how many whole rounds are had.
func (m *measured) rounds() int { return len(m.Loads) }

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
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return r, nil
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return r, nil
}

// keep writes the results whole or not at all.
func (r *results) keep(path string) error {
	text, err := json.MarshalIndent(r, "", " ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", text, 0o644); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
