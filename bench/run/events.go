package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
)

// events is what the bench reads of a session that may still grow.
type events struct {
	windows  int // of torch's profiler, in all processes
	measured int // processes in which tracing is over
}

// readEvents counts in the events of all processes (docs/session.md). What is not yet wholly written is left out.
func readEvents(session string) (events, error) {
	var seen events
	paths, err := filepath.Glob(filepath.Join(session, "*", "events.jsonl.gz"))
	if err != nil {
		return seen, err
	}
	for _, path := range paths {
		file, err := os.Open(path)
		if err != nil {
			return seen, fmt.Errorf("reading a growing session: %w", err)
		}
		seen.add(file)
		file.Close()
	}
	return seen, nil
}

// add counts the lines of one file up to its end or its first damaged place.
func (e *events) add(file *os.File) {
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		return
	}
	lines := bufio.NewScanner(unpacked)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		line := bytes.ReplaceAll(lines.Bytes(), []byte(" "), nil)
		switch {
		case bytes.HasPrefix(line, []byte(`["window",`)):
			e.windows++
		case bytes.HasPrefix(line, []byte(`["note",`)) && bytes.Contains(line, []byte(`,"measured",`)):
			e.measured++
		}
	}
}
