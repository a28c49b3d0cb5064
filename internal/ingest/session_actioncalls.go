package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// maxActionCallsText bounds calls-actions.json.gz, unpacked: 500 actions of 2,000 functions are 30 MB.
const maxActionCallsText = 64 << 20

// actionCallsFile is calls-actions.json.gz (docs/session.md).
type actionCallsFile struct {
	Schema    string         `json:"schema"`
	Functions []callFileName `json:"functions"`
	Actions   []struct {
		Name      string     `json:"name"`
		Measured  int64      `json:"measured"`
		Functions [][5]int64 `json:"functions"` // number of the function, primitive calls, calls, own and cumulative nanoseconds
	} `json:"actions"`
}

// callFileName is a function's [file, line, name].
type callFileName struct {
	file, name string
	line       int32
}

// UnmarshalJSON reads the array of three.
func (n *callFileName) UnmarshalJSON(text []byte) error {
	return json.Unmarshal(text, &[3]any{&n.file, &n.line, &n.name})
}

// actionCalls reads the functions of a trainer's actions, if the agent counted some in the process of a folder.
func (r *sessionReader) actionCalls(folder string) []model.ActionCalls {
	path := filepath.Join(folder, record.ActionCallsName)
	actions, err := readActionCalls(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		r.diagnose(path, "calls", 1, plain(err))
	}
	return actions
}

// readActionCalls leaves out what names no function or counts nothing.
func readActionCalls(path string) ([]model.ActionCalls, error) {
	var file actionCallsFile
	if err := readPackedJSON(path, "the functions of actions", maxActionCallsText, &file); err != nil {
		return nil, err
	}
	if !strings.HasPrefix(file.Schema, "bottleneck.calls-actions/") {
		return nil, fmt.Errorf("reading the functions of actions: not such a file (%.40q)", file.Schema)
	}
	var actions []model.ActionCalls
	for _, a := range file.Actions {
		action := model.ActionCalls{Name: a.Name, Measured: a.Measured}
		for _, f := range a.Functions {
			if f[0] < 0 || f[0] >= int64(len(file.Functions)) || f[1] < 0 || f[2] < f[1] || f[3] < 0 || f[4] < 0 {
				continue
			}
			name := file.Functions[f[0]]
			action.Functions = append(action.Functions, model.CallFunction{
				File: name.file, Name: name.name, Line: name.line, Primitive: f[1], Calls: f[2], Own: model.Dur(f[3]),
				Cumulative: model.Dur(f[4]),
			})
		}
		if a.Measured > 0 {
			actions = append(actions, action)
		}
	}
	return actions, nil
}
