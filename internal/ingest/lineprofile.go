package ingest

import (
	"fmt"
	"io"
	"math"

	"bottleneck/internal/model"
)

// maxLineProfile bounds the file of line_profiler, which is read as a whole; real ones have kilobytes.
const maxLineProfile = 64 << 20

// readLineProfile reads line_profiler's .lprof: a pickled LineStats with timings {(file, first line, function): [(line,
// hits, time)]} and the unit of time in seconds (pyutils/line_profiler, LineStats).
func readLineProfile(o *opening, src source, r io.Reader) (func() error, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxLineProfile+1))
	if err == nil && len(data) > maxLineProfile {
		err = fmt.Errorf("longer than %d MiB", maxLineProfile>>20)
	}
	var calls *model.Calls
	if err == nil {
		calls, err = lineStats(data)
	}
	if err != nil {
		return nil, &UnusableError{Path: src.path, Reason: "a line_profiler file that cannot be read: " + err.Error(), err: err}
	}
	return o.takeCalls(src, "line-profiler", calls, len(calls.Lines)), nil
}

func lineStats(data []byte) (*model.Calls, error) {
	value, err := readPickle(data)
	if err != nil {
		return nil, err
	}
	object, _ := value.(*pickleObject)
	if object == nil {
		return nil, errPickle
	}
	state, _ := object.state.(*pickleDict)
	if state == nil {
		return nil, errPickle
	}
	unit, _ := state.get("unit").(float64)
	timings, _ := state.get("timings").(*pickleDict)
	if timings == nil || !(unit > 0) || unit > 1 {
		return nil, fmt.Errorf("no timings or no unit in it: %w", errPickle)
	}
	out := &model.Calls{}
	for i, key := range timings.keys {
		function, _ := key.([]any)
		lines, _ := timings.values[i].(*pickleList)
		if len(function) != 3 || lines == nil {
			return nil, fmt.Errorf("entry %d is no function with its lines: %w", i, errPickle)
		}
		file, _ := function[0].(string)
		name, _ := function[2].(string)
		for _, item := range lines.items {
			row, _ := item.([]any)
			if len(row) != 3 {
				return nil, fmt.Errorf("%s in %s has a line that is no number, hits and time: %w", name, file, errPickle)
			}
			line, _ := row[0].(int64)
			hits, _ := row[1].(int64)
			ticks, _ := row[2].(int64)
			out.Lines = append(out.Lines, model.CallLine{File: file, Function: name, Line: int32(min(max(line, 0), math.MaxInt32)), Hits: max(hits, 0),
				Time: model.Dur(min(max(float64(ticks)*unit*1e9, 0), 1e18))})
		}
	}
	return out, nil
}
