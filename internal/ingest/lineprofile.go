package ingest

import (
	"fmt"
	"io"
	"math"

	"bottleneck/internal/model"
	"bottleneck/internal/pickle"
)

// maxLineProfile bounds the file of line_profiler; real ones have kilobytes.
const maxLineProfile = 64 << 20

// readLineProfile reads line_profiler's .lprof: a pickled LineStats with timings {(file, first line, function): [(line,
// hits, time)]} and the unit of time in seconds (pyutils/line_profiler, LineStats).
func readLineProfile(o *opening, src source, r io.Reader) (func() error, error) {
	calls, err := lineStats(io.LimitReader(r, maxLineProfile))
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: "a line_profiler file that cannot be read: " + err.Error(), err: err}
	}
	return o.takeCalls(src, "line-profiler", calls, len(calls.Lines)), nil
}

func lineStats(in io.Reader) (*model.Calls, error) {
	r := pickle.NewReader(in, pickle.Options{Objects: true})
	value, err := r.Read()
	if err != nil {
		return nil, err
	}
	_, state, _ := r.Object(value)
	unitValue, _ := r.Get(state, "unit")
	unit, _ := r.Number(unitValue)
	timings, _ := r.Get(state, "timings")
	pairs, ok := r.Pairs(timings)
	if !ok || !(unit > 0) || unit > 1 {
		return nil, fmt.Errorf("no timings or no unit in it: %w", pickle.ErrData)
	}
	out := &model.Calls{}
	for i := 0; i+1 < len(pairs); i += 2 {
		function, _ := r.List(pairs[i])
		lines, isList := r.List(pairs[i+1])
		if len(function) != 3 || !isList {
			return nil, fmt.Errorf("entry %d is no function with its lines: %w", i/2, pickle.ErrData)
		}
		file, _ := r.Text(function[0])
		first, _ := r.Int(function[1])
		name, _ := r.Text(function[2])
		for _, item := range lines {
			row, _ := r.List(item)
			if len(row) != 3 {
				return nil, fmt.Errorf("%s in %s has a line that is no number, hits and time: %w", name, file, pickle.ErrData)
			}
			line, _ := r.Int(row[0])
			hits, _ := r.Int(row[1])
			ticks, _ := r.Int(row[2])
			out.Lines = append(out.Lines, model.CallLine{File: file, Function: name, First: within32(first), Line: within32(line),
				Hits: max(hits, 0), Time: model.Dur(min(max(float64(ticks)*unit*1e9, 0), 1e18))})
		}
	}
	return out, nil
}

// within32 is a number of a line that fits.
func within32(n int64) int32 { return int32(min(max(n, 0), math.MaxInt32)) }
