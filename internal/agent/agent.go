package agent

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Package names starting with "_" are left out of embedded directories, hence the two patterns.
//
//go:embed py/sitecustomize.py py/start.py py/_bneck_agent/*.py
var files embed.FS

// ConfigVariable is the environment variable that carries Config as JSON.
const ConfigVariable = "BNECK_AGENT_CONFIG"

// Schedule is torch.profiler.schedule's: of each cycle Wait steps run without, WarmUp steps unrecorded, Active steps are
// traced; Repeat cycles (0: until the event budget is used) after SkipFirst steps.
type Schedule struct {
	Wait      int `json:"wait"`
	WarmUp    int `json:"warmup"`
	Active    int `json:"active"`
	Repeat    int `json:"repeat"`
	SkipFirst int `json:"skip_first"`
	// SkipFirstWait leaves out the first cycle's wait, where it is not 0.
	SkipFirstWait int `json:"skip_first_wait,omitempty"`
}

// Causes that the agent can take away.
const (
	AblateInput = "input" // DataLoaders give the same few batches again, from memory
	AblateGC    = "gc"    // the garbage collector leaves out what lives after the first steps
	AblateIO    = "io"    // what is written to files at one place is not written
)

// Config is what the agent is told, and the one place that says so: py/_bneck_agent/settings.py is made of it. A field that is zero is not
// sent, and the agent takes its default. The zero value, with Session set, measures by default rules: phases found by event
// budget and step count, CPU and every accelerator that the program uses, no shapes but in the detail windows.
type Config struct {
	Session string `json:"session"` // absolute path of the session directory

	NoTrace  bool      `json:"no_trace,omitempty"` // marks steps and waits, starts no profiler
	Schedule *Schedule `json:"schedule,omitempty"` // overrules the agent's own schedule
	// SchedulePy is "FILE:FUNC": FUNC gives a torch.profiler.ProfilerAction for a step's number.
	SchedulePy string `json:"schedule_py,omitempty"`
	WholeRun   bool   `json:"whole_run,omitempty"` // traces from the import of torch to the end, without budget
	// OnTraceReady has each finished trace announced by a file trace-<n>.ready beside it.
	OnTraceReady bool    `json:"on_trace_ready,omitempty"`
	Duration     float64 `json:"duration,omitempty"` // seconds of measuring after the first step; 0 no bound
	Steps        int64   `json:"steps,omitempty"`    // steps to measure; 0 no bound
	// StopAfter ends the program (SystemExit in its main thread) when Duration or Steps is over.
	StopAfter bool `json:"stop_after,omitempty"`
	// Ablate takes a cause away, to bound what a fix of it can save: AblateInput, AblateGC or AblateIO. The process's counter "ablated"
	// says how often that had an effect.
	Ablate     string `json:"ablate,omitempty"`
	AblateFile string `json:"ablate_file,omitempty"` // the place of AblateIO
	AblateLine int    `json:"ablate_line,omitempty"`

	Ranks    []int `json:"ranks,omitempty"` // ranks whose profiler runs; empty: the first MaxRanks
	MaxRanks int   `json:"max_ranks,omitempty" default:"8"`

	StepOn   []string `json:"step_on,omitempty"`   // functions whose calls are steps: "name", "Class.method", "package.module:name"
	RegionOn []string `json:"region_on,omitempty"` // functions whose calls are regions

	Activities    []string                   `json:"activities,omitempty"` // cpu, cuda, xpu, mtia; empty: what the program uses
	RecordShapes  bool                       `json:"record_shapes,omitempty"`
	ProfileMemory bool                       `json:"profile_memory,omitempty"`
	WithStack     bool                       `json:"with_stack,omitempty"`
	WithFlops     bool                       `json:"with_flops,omitempty"`
	WithModules   bool                       `json:"with_modules,omitempty"`
	Metadata      map[string]string          `json:"metadata,omitempty"`      // added to the traces' headers
	MetadataJSON  map[string]json.RawMessage `json:"metadata_json,omitempty"` // the same, with values that are no strings
	Experimental  map[string]any             `json:"experimental,omitempty"`  // arguments of torch's _ExperimentalConfig
	Emit          string                     `json:"emit,omitempty"`          // nvtx or itt: ranges for other tools instead of traces

	// Calls counts every call of every function, in calls.prof of each process.
	Calls bool `json:"calls,omitempty"`
	// Lines are functions whose lines are counted, in lines.json.gz of each process: names and globs ("name", "Class.method",
	// "module.name"), "file.py:line", and "@profile" for those that have that decorator, which needs no import where Lines is not empty.
	Lines []string `json:"lines,omitempty"`

	EventBudget int64   `json:"event_budget,omitempty" default:"300_000"` // profiler events of one process over all windows
	MaxPause    float64 `json:"max_pause,omitempty" default:"0.5"`        // seconds that one stop of the profiler may take
	MaxBytes    int64   `json:"max_bytes,omitempty" default:"2 << 30"`    // that one process may write, uncompressed traces included
	Sample      float64 `json:"sample,omitempty"`                         // Hz of the in-process sampler; 0: none
	Verbose     bool    `json:"verbose,omitempty"`                        // notes carry tracebacks of failed hooks
}

// Version names the agent's code: a hash of all of it, in hexadecimal.
var Version = sync.OnceValue(func() string {
	sum := sha256.New()
	_ = fs.WalkDir(files, ".", func(path string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			text, _ := fs.ReadFile(files, path)
			fmt.Fprintf(sum, "%s %d\n%s", path, len(text), text)
		}
		return err
	})
	return hex.EncodeToString(sum.Sum(nil)[:12])
})

// CompiledDir is where, below the directory given to Extract, Python keeps the agent's compiled code.
const CompiledDir = "_bneck_agent/__pycache__"

// Extract writes the agent's files into dir, which is made if it is not there; files 0600, directories 0700. Files that
// are there already with the same content stay untouched, so launchers of one job may call it side by side. Nobody else may be able to
// write into dir: what lies there is run by Python.
func Extract(dir string) error {
	root, err := fs.Sub(files, "py")
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	err = fs.WalkDir(root, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.Join(dir, filepath.FromSlash(path))
		if entry.IsDir() {
			return os.MkdirAll(target, 0o700)
		}
		text, err := fs.ReadFile(root, path)
		if err != nil {
			return err
		}
		return writeOnce(target, text)
	})
	if err != nil {
		return fmt.Errorf("agent: writing its files to %s: %w", dir, err)
	}
	return nil
}

// temporary begins the names of files that are being written.
const temporary = ".agent-"

// writeOnce writes a file atomically, since another launcher's program may be importing it already.
func writeOnce(path string, text []byte) error {
	if old, err := os.ReadFile(path); err == nil && string(old) == string(text) {
		return nil
	}
	file, err := os.CreateTemp(filepath.Dir(path), temporary+"*")
	if err != nil {
		return err
	}
	defer os.Remove(file.Name()) // gone already when the rename worked
	if _, err := file.Write(text); err != nil {
		file.Close()
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	return os.Rename(file.Name(), path)
}

// quietMemory hides "[W… CPUAllocator…]", which profile_memory writes; with it the program's own C++ warnings, so
// it is set only where memory is asked for and the user did not set it. Kineto's own messages are silenced by the agent.
const quietMemory = "TORCH_CPP_LOG_LEVEL=ERROR"

// Environ returns base with the agent first on PYTHONPATH and its configuration; base stays as it is. agentDir is
// the absolute directory given to Extract.
func Environ(base []string, agentDir string, c Config) []string {
	text, err := json.Marshal(c)
	if err != nil { // only strings, numbers and lists: NaN in Duration is all that could get here
		text = []byte(`{"session":` + string(mustQuote(c.Session)) + `}`)
	}
	var settings []string
	if c.ProfileMemory {
		settings = append(settings, quietMemory)
	}
	path := agentDir
	result := make([]string, 0, len(base)+3)
	for _, entry := range base {
		name, value, _ := strings.Cut(entry, "=")
		switch {
		case name == ConfigVariable || strings.HasPrefix(name, "BNECK_PARENT"):
		case name == "PYTHONPATH":
			// An empty entry would put the working directory on sys.path, so an empty variable adds none.
			if value != "" {
				path = agentDir + string(os.PathListSeparator) + value
			}
		default:
			result = append(result, entry)
		}
	}
	for _, setting := range settings {
		name, _, _ := strings.Cut(setting, "=")
		if !has(base, name) {
			result = append(result, setting)
		}
	}
	return append(result, "PYTHONPATH="+path, ConfigVariable+"="+string(text))
}

func mustQuote(s string) []byte {
	text, _ := json.Marshal(s) // a string always has a JSON form
	return text
}

func has(environ []string, name string) bool {
	for _, entry := range environ {
		if strings.HasPrefix(entry, name+"=") {
			return true
		}
	}
	return false
}
