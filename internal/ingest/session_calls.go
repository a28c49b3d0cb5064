package ingest

import (
	"errors"
	"io/fs"
	"path/filepath"

	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// calls adds the exact calls that the agent counted in the process of a folder, which has just been added.
func (r *sessionReader) calls(folder string) {
	path := filepath.Join(folder, record.CallsName)
	f, err := r.open(path)
	if info, serr := r.stat(path); errors.Is(err, fs.ErrNotExist) || serr == nil && info.Size() == 0 {
		_ = f.Close()
		return // without --calls, or from a session that was packed without names
	}
	in := r.input(path, "pstats")
	var calls *model.Calls
	if err == nil {
		defer f.Close()
		calls, err = ReadPstats(f)
	}
	if err != nil {
		in.Diagnostics = append(in.Diagnostics, model.Diagnostic{Kind: "calls", Count: 1, FirstOffset: -1, Text: plain(err)})
	}
	if calls == nil || len(calls.Functions) == 0 {
		return
	}
	calls.Actions = r.actionCalls(folder)
	calls.Input, calls.Process = len(r.s.Inputs)-1, len(r.s.Processes)-1
	in.Events = int64(len(calls.Functions))
	r.s.Calls = append(r.s.Calls, calls)
}
