package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"path/filepath"
	"strings"

	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// maxLinesText bounds lines.json.gz, unpacked; a line takes some 20 bytes.
const maxLinesText = 64 << 20

// linesFile is lines.json.gz (docs/session.md).
type linesFile struct {
	Schema    string             `json:"schema"`
	Cost      int64              `json:"cost_ns"`
	Functions []countedLinesFile `json:"functions"`
}

// countedLinesFile is a function's [file, first line, name, [[line, hits, nanoseconds], …]].
type countedLinesFile struct {
	callFileName
	lines [][3]int64
}

// UnmarshalJSON reads the array of four.
func (f *countedLinesFile) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[4]any{&f.file, &f.line, &f.name, &f.lines})
}

// lines adds the lines that the agent counted in the process of a folder, which has just been added.
func (r *sessionReader) lines(folder string) {
	path := filepath.Join(folder, record.LinesName)
	file, err := readLines(path)
	if errors.Is(err, fs.ErrNotExist) {
		return // without --lines
	}
	if err != nil {
		r.diagnose(path, "lines", 1, plain(err))
		return
	}
	in := r.input(path, "lines")
	calls := &model.Calls{Input: len(r.s.Inputs) - 1, Process: len(r.s.Processes) - 1, LineCost: model.Dur(max(0, file.Cost))}
	for _, f := range file.Functions {
		for _, l := range f.lines {
			if l[0] < 0 || l[0] > math.MaxInt32 || l[1] < 0 || l[2] < 0 {
				continue
			}
			calls.Lines = append(calls.Lines, model.CallLine{File: f.file, Function: f.name, First: f.line, Line: int32(l[0]), Hits: l[1],
				Time: model.Dur(l[2])})
		}
	}
	in.Events = int64(len(calls.Lines))
	if len(calls.Lines) > 0 {
		r.s.Calls = append(r.s.Calls, calls)
	}
}

// readLines reads a file of counted lines.
func readLines(path string) (linesFile, error) {
	var file linesFile
	if err := readPackedJSON(path, "counted lines", maxLinesText, &file); err != nil {
		return file, err
	}
	if !strings.HasPrefix(file.Schema, "bottleneck.lines/") {
		return file, fmt.Errorf("reading counted lines: not such a file (%.40q)", file.Schema)
	}
	return file, nil
}
