package model

// Session is everything known about one run of a program, or about a set of traces that belong together.
// A live run fills all of it; traces from elsewhere fill Inputs, Traces and what their headers say of the environment.
type Session struct {
	Strings     *Strings
	Inputs      []Input
	Environment Environment
	Run         *Run // nil for traces from elsewhere
	Processes   []*Process
	Traces      []*Trace
	Calls       []*Calls           // exact call counts, one per cProfile file or process
	Snapshots   []*MemorySnapshot  // of the device's allocator
	FileTables  []*FileTable       // what other files hold
	Sources     map[string]*Source // by path as frames name it
	// Growing says that the program was still running when the session was read.
	Growing bool
}

// Input is one file that was read.
type Input struct {
	Path        string
	Format      string // "kineto", "agent", "samples", …
	Bytes       int64  // as stored
	Events      int64
	Counts      map[string]int64 // complete events by category
	Rank        int              // NoRank where the file does not say
	World       int              // ranks of the job that the file states; 0 where it does not
	Diagnostics []Diagnostic
	Note        string // of a file that is recognised but holds no profile: what it is, what it holds, what to do instead
}

// Diagnostic is one kind of damage or oddity of an input, counted.
type Diagnostic struct {
	Kind        string // stable word, e.g. "truncated", "bad-escape", "duplicate", "before-launch"
	Count       int64
	FirstOffset int64 // byte offset in the decompressed text; -1 where that means nothing
	Text        string
}

// Environment is the machine and the software, as the agent, the launcher or a trace's header saw them. Pointers are nil where unknown.
type Environment struct {
	Python, Torch, CUDA, HIP string
	TorchDebug               bool // PyTorch was built for debugging
	OS, Host                 string
	CPUs                     int
	CPUModel                 string
	CPUQuota                 *float64 // cores' worth of CPU time per second that the cgroup grants
	ThrottledSeconds         *float64 // CPU throttling of the cgroup during the run
	Affinity                 []int
	Threads                  map[string]string // OMP_NUM_THREADS, torch.get_num_threads, …: the settings that decide thread counts
	SHMBytes                 *int64
	Libc                     string // "glibc 2.36"; "" unknown or another one
	HugePages                string // to whom the kernel gives huge pages: "always", "madvise", "never"; "" unknown
	MemoryBytes              *int64
	LoadBefore               *float64 // runnable tasks per core of other programs when the run began
	OthersBusyCores          *float64 // cores that other programs kept busy during the run, on average
	GPUs                     []GPU
	Packages                 []Package
	// Missing names what could not be observed, each with the next step ("GPU counters refused: …").
	Missing []string
}

// UsableCores is the number of cores that the program may use: the machine's, narrowed by affinity and by the cgroup's quota;
// 0 when unknown.
func (e *Environment) UsableCores() float64 {
	n := float64(e.CPUs)
	if len(e.Affinity) > 0 && (n == 0 || float64(len(e.Affinity)) < n) {
		n = float64(len(e.Affinity))
	}
	if e.CPUQuota != nil && *e.CPUQuota > 0 && (n == 0 || *e.CPUQuota < n) {
		n = *e.CPUQuota
	}
	return n
}

// GPU is one device as the driver, torch or a trace header describes it. Zero values are unknown.
type GPU struct {
	Index                   int
	Name                    string
	MemoryBytes             int64
	ComputeMajor            int
	ComputeMinor            int
	SMs                     int
	ClockMHz, MaxClockMHz   *float64
	PowerState              string
	UtilisationByOthersPart *float64 // 0..1 just before the run, where others were there before it and after it
}

// Package is an installed Python package.
type Package struct{ Name, Version string }

// Run is one launched command.
type Run struct {
	Command  []string
	Start    Time
	End      Time // of the program; zero while it runs
	ExitCode int
	Signal   string // "" when it exited by itself
	// TopLevel is the index in Processes of the program's own process, -1 where it was never seen.
	TopLevel int
	Flags    map[string]string // measuring flags that were given
	Own      OwnCost
	// PeakBytes is the resident memory of the program's largest process; 0 unknown.
	PeakBytes int64
	Notes     []string // what is missing from the report and why, in the user's words
}

// OwnCost is what bottleneck itself cost. Zero values are not measured.
type OwnCost struct {
	LongestPause Dur   // longest single stop that was put into the program
	AgentCPU     Dur   // CPU time spent in hooks and windows
	SamplerCPU   Dur   // CPU time of the sampler
	LauncherRSS  int64 // bytes, peak
	AgentBytes   int64 // extra memory in the program, as far as known
}

// Source is a program text kept with the session.
type Source struct {
	Path  string
	Lines []string
}
