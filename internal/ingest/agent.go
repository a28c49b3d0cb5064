package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// formatAgent is the Input.Format of events.jsonl.gz.
const formatAgent = "agent"

// eventsName is the file of what the agent saw, in a process's folder.
const eventsName = "events.jsonl.gz"

// What one process's files may ask for. The agent stops writing at 256 MiB.
const (
	maxProcessFacts = 4 << 20
	maxAgentBytes   = 320 << 20
	maxAgentRows    = record.MaxRows
	maxAgentLine    = 1 << 20
	// A row holds times that differ from all others, so that it takes some bytes when compressed. Files that hold more rows are not the
	// agent's; so many are read of them however small they are.
	fewAgentRows  = 200_000
	agentRowBytes = 3
)

// processFacts is process.json (docs/session.md).
type processFacts struct {
	PID         int               `json:"pid"`
	PPID        int               `json:"ppid"`
	Host        string            `json:"host"`
	StartUnix   int64             `json:"start_unix_ns"`
	StartMono   int64             `json:"start_mono_ns"`
	Role        string            `json:"role"`
	Rank        *int              `json:"rank"`
	LocalRank   *int              `json:"local_rank"`
	World       *int              `json:"world_size"`
	WorkerIndex *int              `json:"worker_index"`
	Consumer    *int              `json:"consumer"`
	Argv        []string          `json:"argv"`
	CWD         string            `json:"cwd"`
	Python      string            `json:"python"`
	Libc        string            `json:"libc"`
	MainThread  int               `json:"main_thread"`
	ThreadsEnv  map[string]string `json:"threads_env"`
	Packages    map[string]string `json:"packages"`
	Torch       *struct {
		Version string  `json:"version"`
		CUDA    *string `json:"cuda"`
		HIP     *string `json:"hip"`
		Debug   bool    `json:"debug"`
		Threads int     `json:"num_threads"`
		Interop int     `json:"num_interop_threads"`
	} `json:"torch"`
	GPUs []struct {
		Index  int    `json:"index"`
		Name   string `json:"name"`
		Memory int64  `json:"memory_bytes"`
		Major  int    `json:"compute_major"`
		Minor  int    `json:"compute_minor"`
		SMs    int    `json:"sms"`
	} `json:"gpus"`
	Profiling *deviceAccess `json:"gpu_profiling"`
	Exit      *struct {
		Unix   int64  `json:"unix_ns"`
		Reason string `json:"reason"`
	} `json:"exit"`
	Agent struct {
		CPU   int64 `json:"cpu_ns"`
		Pause int64 `json:"longest_pause_ns"`
	} `json:"agent"`
}

// readProcess reads one process's folder of a session: process.json and events.jsonl.gz. Damage becomes diagnostics of
// an Input of format "agent"; only a folder without a usable process.json is an error. What it says of the machine goes
// into s.Environment where nothing stands yet. The process is returned, not appended to s.Processes.
func readProcess(dir string, s *model.Session) (*model.Process, error) {
	facts, err := readFacts(dir)
	if err != nil {
		return nil, err
	}
	p := facts.process()
	facts.environment(&s.Environment)
	path := filepath.Join(dir, eventsName)
	file, err := record.OpenIn(dir, eventsName)
	if errors.Is(err, os.ErrNotExist) {
		// The agent wrote the one before the other. A pool ends its processes by a signal, before they have anything to say.
		if p.Torch != "" && p.Role != model.RoleOther {
			s.Inputs = append(s.Inputs, model.Input{Path: path, Format: formatAgent, Rank: p.Rank, Counts: map[string]int64{},
				Diagnostics: []model.Diagnostic{
					{Kind: "missing", Count: 1, FirstOffset: -1,
						Text: "what the agent saw of this process is not there: no steps, no waits, no fetches"}}})
		}
		return p, nil // it never imported torch, or was killed before its first second was over
	}
	if err != nil {
		return nil, fmt.Errorf("read process folder: %w", err)
	}
	defer file.Close()
	data, err := io.ReadAll(io.LimitReader(file, maxAgentBytes))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	rows := newAgentRows(s.Strings, p)
	rows.limit = min(maxAgentRows, fewAgentRows+int64(len(data))/agentRowBytes)
	damage := eachMember(data, rows.line)
	rows.finish(facts)
	s.Inputs = append(s.Inputs, model.Input{Path: path, Format: formatAgent, Bytes: int64(len(data)), Events: rows.taken, Rank: p.Rank,
		Counts: rows.counts, Diagnostics: rows.diagnostics(damage, len(data))})
	return p, nil
}

// diagnostics says what of a file of so many bytes was not read.
func (a *agentRows) diagnostics(damage memberDamage, size int) (list []model.Diagnostic) {
	if damage.members > 0 {
		list = append(list, model.Diagnostic{Kind: "truncated", Count: damage.members, FirstOffset: damage.first,
			Text: "compressed chunks of the agent's events are damaged or cut off; the others were read"})
	}
	switch {
	case a.full && a.limit == maxAgentRows:
		list = append(list, model.Diagnostic{Kind: "too-many-rows", Count: 1, FirstOffset: -1,
			Text: fmt.Sprintf("it holds more than %d million rows; what came after them was not read", maxAgentRows/1_000_000)})
	case a.full || damage.bomb:
		list = append(list, model.Diagnostic{Kind: "too-many-rows", Count: 1, FirstOffset: -1,
			Text: fmt.Sprintf("it holds more rows or text than a file of %d bytes can hold of a real run; only the first %d rows were read",
				size, a.taken)})
	}
	if a.bad > 0 {
		list = append(list, model.Diagnostic{Kind: "bad-line", Count: a.bad, FirstOffset: -1,
			Text: "lines of the agent's events were not understood and left out"})
	}
	return list
}

func readFacts(folder string) (*processFacts, error) {
	file, err := record.OpenIn(folder, record.ProcessName)
	if err != nil {
		return nil, fmt.Errorf("read process folder: %w", err)
	}
	defer file.Close()
	var facts processFacts
	if err := json.NewDecoder(io.LimitReader(file, maxProcessFacts)).Decode(&facts); err != nil {
		return nil, fmt.Errorf("read %s: %w", record.ProcessName, err)
	}
	return &facts, nil
}

func (f *processFacts) process() *model.Process {
	p := &model.Process{
		PID: f.PID, PPID: f.PPID, Host: f.Host, Role: role(f.Role), Rank: model.NoRank, WorkerIndex: -1, Command: f.Argv, Folder: f.CWD,
		Start: model.Time(f.StartUnix), Python: f.Python, Agent: true, MainThread: f.MainThread, Counters: map[string]float64{},
		Own: model.OwnCost{LongestPause: model.Dur(f.Agent.Pause), AgentCPU: model.Dur(f.Agent.CPU)},
	}
	if f.Rank != nil {
		p.Rank = *f.Rank
	}
	if f.LocalRank != nil {
		p.LocalRank = *f.LocalRank
	}
	if f.World != nil {
		p.WorldSize = *f.World
	}
	if f.WorkerIndex != nil {
		p.WorkerIndex = *f.WorkerIndex
	}
	if f.Consumer != nil {
		p.PPID = *f.Consumer // where a fork server started it, the parent is that
	}
	if f.Torch != nil {
		p.Torch = f.Torch.Version
	}
	if len(f.GPUs) > 0 {
		p.NoKernels = f.Profiling.why()
	}
	if f.Exit != nil {
		p.End, p.Exit = model.Time(f.Exit.Unix), f.Exit.Reason
	}
	return p
}

func role(name string) model.Role {
	switch r := model.Role(name); r {
	case model.RoleMain, model.RoleRank, model.RoleWorker, model.RoleCompile, model.RoleLauncher:
		return r
	}
	return model.RoleOther
}

// environment fills in what nobody has said yet. Processes of one job agree; where not, the first that computes with torch wins.
func (f *processFacts) environment(e *model.Environment) {
	if f.Torch == nil || e.Torch != "" {
		return
	}
	switch role(f.Role) {
	case model.RoleWorker, model.RoleCompile, model.RoleLauncher:
		return // torch sets a DataLoader worker's threads to one; that says nothing of the program's
	}
	e.Torch, e.TorchDebug, e.Python, e.Libc = f.Torch.Version, f.Torch.Debug, f.Python, f.Libc
	if f.Torch.CUDA != nil {
		e.CUDA = *f.Torch.CUDA
	}
	if f.Torch.HIP != nil {
		e.HIP = *f.Torch.HIP
	}
	if e.Host == "" {
		e.Host = f.Host
	}
	if e.Threads == nil {
		e.Threads = map[string]string{}
	}
	for name, value := range f.ThreadsEnv {
		e.Threads[name] = value
	}
	e.Threads["torch.get_num_threads"] = fmt.Sprint(f.Torch.Threads)
	e.Threads["torch.get_num_interop_threads"] = fmt.Sprint(f.Torch.Interop)
	for _, g := range f.GPUs {
		if !slices.ContainsFunc(e.GPUs, func(known model.GPU) bool { return known.Index == g.Index }) {
			e.GPUs = append(e.GPUs, model.GPU{Index: g.Index, Name: g.Name, MemoryBytes: g.Memory, ComputeMajor: g.Major,
				ComputeMinor: g.Minor, SMs: g.SMs})
		}
	}
	for name, version := range f.Packages {
		e.Packages = append(e.Packages, model.Package{Name: name, Version: version})
	}
	slices.SortFunc(e.Packages, func(a, b model.Package) int { return strings.Compare(a.Name, b.Name) })
}

// agentClock maps monotonic times to Unix time by the pairs that a process wrote: in between by interpolation, outside
// by the nearest pair's distance.
type agentClock struct{ mono, unix []int64 }

func (c *agentClock) add(mono, unix int64) {
	if n := len(c.mono); n > 0 && mono <= c.mono[n-1] {
		return // repeated or out of order: damaged
	}
	c.mono, c.unix = append(c.mono, mono), append(c.unix, unix)
}

func (c *agentClock) at(mono int64) model.Time {
	i, exact := slices.BinarySearch(c.mono, mono)
	switch {
	case len(c.mono) == 0:
		return model.Time(mono)
	case exact:
		return model.Time(c.unix[i])
	case i == 0:
		return model.Time(mono + c.unix[0] - c.mono[0])
	case i == len(c.mono):
		return model.Time(mono + c.unix[i-1] - c.mono[i-1])
	}
	// The distance drifts by parts per million, so float64 of nanoseconds between two pairs is exact enough.
	drift := float64((c.unix[i]-c.mono[i])-(c.unix[i-1]-c.mono[i-1])) / float64(c.mono[i]-c.mono[i-1])
	return model.Time(mono + c.unix[i-1] - c.mono[i-1] + int64(math.Round(drift*float64(mono-c.mono[i-1]))))
}
