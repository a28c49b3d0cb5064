package record

import "path/filepath"

// LauncherSchema is the version of launcher.json.
const LauncherSchema = "bottleneck.launcher/1"

// Launcher is launcher.json: one launcher's command, machine, program's end and own cost.
type Launcher struct {
	Schema      string            `json:"schema"`
	Host        string            `json:"host"`
	PID         int               `json:"pid"`
	Version     string            `json:"bottleneck"`
	Job         string            `json:"job"`
	Rank        int               `json:"rank"` // of the launcher among the job's launchers; 0 outside a job
	Command     []string          `json:"command"`
	Target      string            `json:"target"` // "script", "module" or "command"
	Interpreter string            `json:"interpreter,omitempty"`
	CWD         string            `json:"cwd"`
	Flags       map[string]string `json:"flags,omitempty"`
	StartUnixNS int64             `json:"start_unix_ns"` // when the program was started
	StartMonoNS int64             `json:"start_mono_ns,omitempty"`
	ChildPID    int               `json:"child_pid"`
	Before      *Machine          `json:"machine_before,omitempty"`
	After       *Machine          `json:"machine_after,omitempty"`
	Exit        *Exit             `json:"exit,omitempty"` // absent while the program runs, or when bottleneck was killed
	Own         Own               `json:"own"`
	Notes       []Note            `json:"notes,omitempty"`
}

// Exit is how the program ended.
type Exit struct {
	UnixNS int64  `json:"unix_ns"`
	Code   int    `json:"code"`             // 128+N for signal N
	Signal string `json:"signal,omitempty"` // "SIGTERM", …
	// UserSeconds, SystemSeconds and MaxRSSBytes are of the program and the children it waited for; 0 unknown.
	UserSeconds   float64 `json:"user_s,omitempty"`
	SystemSeconds float64 `json:"system_s,omitempty"`
	MaxRSSBytes   int64   `json:"max_rss_bytes,omitempty"`
}

// Own is what the launcher itself cost.
type Own struct {
	CPUNS        int64 `json:"cpu_ns,omitempty"`
	SamplerCPUNS int64 `json:"sampler_cpu_ns,omitempty"`
	PeakRSS      int64 `json:"peak_rss_bytes,omitempty"`
}

// Note is something that the report must say, with a stable code.
type Note struct {
	Code string `json:"code"`
	Text string `json:"text"`
}

// Machine is what the machine offered and withheld at one moment. Absent fields are unknown.
type Machine struct {
	UnixNS         int64             `json:"unix_ns"`
	OS             string            `json:"os,omitempty"`
	CPUs           int               `json:"cpus,omitempty"`
	CPUModel       string            `json:"cpu_model,omitempty"`
	Affinity       []int             `json:"affinity,omitempty"`
	CPUQuota       *float64          `json:"cpu_quota,omitempty"`    // cores
	ThrottledNS    *int64            `json:"throttled_ns,omitempty"` // since the cgroup was made
	CgroupVersion  int               `json:"cgroup_version,omitempty"`
	MemoryBytes    *int64            `json:"memory_bytes,omitempty"` // the smaller of the machine's and the cgroup's
	OOMKills       *int64            `json:"oom_kills,omitempty"`
	SHMBytes       *int64            `json:"shm_bytes,omitempty"`
	SHMFreeBytes   *int64            `json:"shm_free_bytes,omitempty"`
	HugePages      string            `json:"huge_pages,omitempty"`    // to whom the kernel gives huge pages: always, madvise, never
	LoadPerCore    *float64          `json:"load_per_core,omitempty"` // runnable tasks per core
	CPUBusyNS      *int64            `json:"cpu_busy_ns,omitempty"`   // CPU time of everything on the machine since its start
	ThreadSettings map[string]string `json:"thread_settings,omitempty"`
	GPUs           []GPU             `json:"gpus,omitempty"`
}

// GPU is a device as the driver's tool describes it. Nil pointers are unknown.
type GPU struct {
	Index       int      `json:"index"`
	Name        string   `json:"name"`
	MemoryBytes int64    `json:"memory_bytes,omitempty"`
	ClockMHz    *float64 `json:"clock_mhz,omitempty"`
	MaxClockMHz *float64 `json:"max_clock_mhz,omitempty"`
	PowerState  string   `json:"power_state,omitempty"`
	Utilisation *float64 `json:"utilisation,omitempty"` // 0..1, over a second or so
	MemoryUsed  int64    `json:"memory_used_bytes,omitempty"`
	Processes   []int    `json:"processes,omitempty"` // that compute on it, as far as the driver tells
}

// Write puts launcher.json into a launcher's folder, atomically.
func (l *Launcher) Write(folder string) error {
	l.Schema = LauncherSchema
	return WriteJSON(filepath.Join(folder, LauncherName), l)
}

// ReadLauncher reads launcher.json of a launcher's folder.
func ReadLauncher(folder string) (*Launcher, error) {
	l := &Launcher{}
	if err := ReadJSONIn(folder, LauncherName, l); err != nil {
		return nil, err
	}
	return l, nil
}

// AddNote adds a note unless one with the same code and text is there.
func (l *Launcher) AddNote(code, text string) {
	for _, n := range l.Notes {
		if n.Code == code && n.Text == text {
			return
		}
	}
	l.Notes = append(l.Notes, Note{Code: code, Text: text})
}
