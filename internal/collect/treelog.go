package collect

import (
	"encoding/json"
	"fmt"
	"os"

	"github.com/klauspost/compress/gzip"

	"bottleneck/internal/proc"
	"bottleneck/internal/record"
)

// treeLog writes tree.jsonl.gz: each flush is a gzip member of whole lines, so that a killed recorder leaves a
// readable file.
type treeLog struct {
	f       *os.File
	pending []byte
}

func openTreeLog(path string) (*treeLog, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, record.FileMode)
	if err != nil {
		return nil, fmt.Errorf("create process log: %w", err)
	}
	return &treeLog{f: f}, nil
}

func (l *treeLog) line(v ...any) {
	if l == nil {
		return
	}
	b, err := json.Marshal(v)
	if err != nil {
		return
	}
	l.pending = append(append(l.pending, b...), '\n')
}

func (l *treeLog) clock(mono, unix int64) { l.line("clock", mono, unix) }

func (l *treeLog) process(mono int64, p *record.SampleProcess) {
	l.line("proc", mono, p.PID, p.PPID, p.StartTicks, p.Args, p.Executable)
}

func (l *treeLog) gone(mono int64, pid int) { l.line("gone", mono, pid, nil) }

func (l *treeLog) usage(mono int64, pid int, u proc.Usage) {
	l.line("use", mono, pid, u.Anonymous, u.File, u.Shared, u.Swapped, u.MinorFaults, u.MajorFaults, u.User.Nanoseconds(),
		u.System.Nanoseconds(), u.ReadBytes, u.WrittenBytes, u.First.MinorFaults, u.First.User.Nanoseconds(),
		u.First.System.Nanoseconds(), u.First.Waits, u.First.Pushed)
}

func (l *treeLog) owned(mono int64, pid int, o proc.Owned) {
	l.line("own", mono, pid, o.Private, o.Proportional)
}

func (l *treeLog) allocator(mono int64, pid int, name string) { l.line("allocator", mono, pid, name) }

func (l *treeLog) sampler(mono int64, st *SamplerStats) {
	type process struct {
		PID     int    `json:"pid"`
		Role    string `json:"role"`
		Rank    int    `json:"rank"`
		Python  string `json:"python,omitempty"`
		Samples int64  `json:"samples"`
		Failed  int64  `json:"failed"`
		Reason  string `json:"reason,omitempty"`
		// Native frames, where they were asked for.
		Native       *NativeCounts `json:"native,omitempty"`
		NativeReason string        `json:"native_reason,omitempty"`
	}
	list := []process{}
	for _, p := range st.Processes {
		row := process{PID: p.PID, Role: string(p.Role), Rank: p.Rank, Python: p.Python, Samples: p.Samples, Failed: p.Failed,
			Reason: p.Reason, NativeReason: p.NativeReason}
		if p.Native.total() > 0 {
			row.Native = &p.Native
		}
		list = append(list, row)
	}
	l.line("sampler", mono, map[string]any{"asked_hz": st.AskedHz, "achieved_hz": st.AchievedHz, "wakes": st.Wakes,
		"late": st.Late, "samples": st.Samples, "failed": st.Failed, "moved": st.Moved, "cpu_ns": int64(st.CPU),
		"wall_ns": int64(st.Wall), "bytes": st.Bytes, "processes": list})
}

func (l *treeLog) flush() {
	if l == nil || len(l.pending) == 0 {
		return
	}
	zip := gzip.NewWriter(l.f)
	_, _ = zip.Write(l.pending)
	_ = zip.Close()
	l.pending = l.pending[:0]
}

func (l *treeLog) close() error {
	l.flush()
	return l.f.Close()
}
