package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"

	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// maxUsageRows bounds what is read of one launcher; a real one writes some thousands for each process.
const maxUsageRows = 1_000_000

// usageColumns is how many numbers follow the process in a row, threadColumns how many more those of its first thread are.
const (
	usageColumns  = 10
	threadColumns = 5
)

// usage adds what launchers saw of each process's memory, faults and disk to the processes.
func (r *sessionReader) usage(folders []string) {
	for _, folder := range folders {
		file, err := record.OpenIn(folder, record.TreeName)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		path := filepath.Join(folder, record.TreeName)
		var data []byte
		if err == nil {
			data, err = io.ReadAll(io.LimitReader(file, maxAgentBytes))
			_ = file.Close()
		}
		if err != nil {
			r.diagnose(path, "usage", 1, plain(err))
			continue
		}
		rows := &usageRows{of: processesOf(r.s, launcherHost(folder))}
		if damage := eachMember(data, rows.line); damage.members > 0 || damage.bomb {
			r.diagnose(path, "usage", 1, "a part of what was seen of memory and processes is damaged and was not read")
		}
	}
}

// processesOf are a host's processes by their numbers, which a system gives again. All processes are, where the host is not known.
func processesOf(s *model.Session, host string) map[int][]*model.Process {
	of := map[int][]*model.Process{}
	for _, p := range s.Processes {
		if p.Host == host || host == "" {
			of[p.PID] = append(of[p.PID], p)
		}
	}
	return of
}

// launcherHost is the host whose processes a launcher saw, "" where its file does not say.
func launcherHost(folder string) string {
	var l struct {
		Host string `json:"host"`
	}
	_ = record.ReadJSONIn(folder, record.LauncherName, &l)
	return l.Host
}

// usageRows reads the rows of one launcher.
type usageRows struct {
	of    map[int][]*model.Process // by number
	shift int64                    // Unix time less monotonic time
	known bool                     // the shift is
	rows  int
}

// line takes one row; what is no row of a known kind is passed over, as in every file of a session.
func (u *usageRows) line(text []byte) bool {
	switch {
	case bytes.HasPrefix(text, []byte(`["clock",`)):
		if n, ok := rowNumbers(text, 2); ok {
			u.shift, u.known = n[1]-n[0], true
		}
	case bytes.HasPrefix(text, []byte(`["use",`)) && u.known:
		u.rows++
		if n, ok := rowNumbers(text, 2+usageColumns+threadColumns); ok {
			u.add(model.Time(n[0]+u.shift), int(n[1]), n[2:])
		} else if n, ok := rowNumbers(text, 2+usageColumns); ok { // of a release before
			u.add(model.Time(n[0]+u.shift), int(n[1]), n[2:])
		}
	case bytes.HasPrefix(text, []byte(`["own",`)) && u.known:
		u.rows++
		if n, ok := rowNumbers(text, 4); ok {
			u.own(model.Owned{At: model.Time(n[0] + u.shift), Private: n[2], Proportional: n[3]}, int(n[1]))
		}
	case bytes.HasPrefix(text, []byte(`["allocator",`)) && u.known:
		u.allocator(text)
	}
	return u.rows < maxUsageRows
}

// rowNumbers reads the numbers after a row's kind, want of them at least.
func rowNumbers(text []byte, want int) ([]int64, bool) {
	var row []json.RawMessage
	if json.Unmarshal(text, &row) != nil || len(row) < 1+want {
		return nil, false
	}
	out := make([]int64, want)
	for i := range out {
		if json.Unmarshal(row[i+1], &out[i]) != nil {
			return nil, false
		}
	}
	return out, true
}

// add gives a row to the process that had the number then. Its columns are in the order of docs/session.md.
func (u *usageRows) add(at model.Time, pid int, n []int64) {
	of := u.process(at, pid)
	if of == nil || len(of.Usage) > 0 && of.Usage[len(of.Usage)-1].At >= at {
		return
	}
	row := model.Usage{At: at, Anonymous: n[0], File: n[1], Shared: n[2], Swapped: n[3],
		MinorFaults: n[4], MajorFaults: n[5], User: model.Dur(n[6]), System: model.Dur(n[7]), Read: n[8], Written: n[9]}
	if len(n) >= usageColumns+threadColumns {
		row.First = &model.ThreadUse{MinorFaults: n[10], User: model.Dur(n[11]), System: model.Dur(n[12]), Waits: n[13], Pushed: n[14]}
	}
	of.Usage = append(of.Usage, row)
}

// own gives what was a fork's own to it.
func (u *usageRows) own(row model.Owned, pid int) {
	if of := u.process(row.At, pid); of != nil && (len(of.Owned) == 0 || of.Owned[len(of.Owned)-1].At < row.At) {
		of.Owned = append(of.Owned, row)
	}
}

// process is the one that had a number at a time; nil unknown.
func (u *usageRows) process(at model.Time, pid int) (of *model.Process) {
	for _, p := range u.of[pid] {
		if p.Start <= at+agentDelay && (p.End == 0 || at <= p.End) && (of == nil || p.Start > of.Start) {
			of = p
		}
	}
	return of
}

// allocator takes the row that says what serves a process's malloc.
func (u *usageRows) allocator(text []byte) {
	n, ok := rowNumbers(text, 2)
	var row []json.RawMessage
	var name string
	if !ok || json.Unmarshal(text, &row) != nil || len(row) < 4 || json.Unmarshal(row[3], &name) != nil || len(name) > maxAllocator {
		return
	}
	if of := u.process(model.Time(n[0]+u.shift), int(n[1])); of != nil {
		of.Allocator = name
	}
}

// maxAllocator is the longest name of an allocator.
const maxAllocator = 32
