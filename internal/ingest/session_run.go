package ingest

import (
	"fmt"
	"os"
	"slices"
	"time"

	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// environment joins what the launcher saw of the machine with what the agents said of the software, which readProcess
// has put into the session already.
func (r *sessionReader) environment() {
	e := &r.s.Environment
	if len(r.starts) > 0 {
		e.Host = first(e.Host, r.starts[0].Host)
		machineEnvironment(r.starts[0], e)
	}
	for _, p := range r.added() {
		e.Host, e.Python = first(e.Host, p.Host), first(e.Python, p.Python)
	}
}

// added are the processes that this reader has added.
func (r *sessionReader) added() []*model.Process {
	return r.s.Processes[min(r.first, len(r.s.Processes)):]
}

// launchersOfRanks makes processes launchers that have started ranks, themselves or by others, and take no step with them: a program that
// waits for its ranks, or a job's task, one of each host, whose number among the tasks is no rank.
func launchersOfRanks(list []*model.Process) {
	type number struct {
		host string
		pid  int
	}
	of := map[number]*model.Process{}
	for _, p := range list {
		of[number{p.Host, p.PID}] = p
	}
	for _, child := range list {
		if child.Role != model.RoleRank {
			continue
		}
		p := of[number{child.Host, child.PPID}]
		const most = 3 // fork servers and launchers that may stand between
		for i := 0; i < most && p != nil && (p.Role == model.RoleOther || p.Role == model.RoleLauncher); i++ {
			p = of[number{p.Host, p.PPID}]
		}
		if p == nil || len(p.Steps) > 0 {
			continue
		}
		if p.Role == model.RoleMain && p.Rank == model.NoRank || p.Role == model.RoleRank && len(child.Steps) > 0 {
			p.Role, p.Rank = model.RoleLauncher, model.NoRank
		}
	}
}

// machineEnvironment takes over what the launcher read before and after the program.
func machineEnvironment(l *record.Launcher, e *model.Environment) {
	m := l.Before
	if m == nil {
		return
	}
	e.OS, e.CPUs, e.CPUModel = first(e.OS, m.OS), m.CPUs, m.CPUModel
	e.CPUQuota, e.Affinity, e.SHMBytes, e.MemoryBytes, e.LoadBefore = m.CPUQuota, m.Affinity, m.SHMBytes, m.MemoryBytes, m.LoadPerCore
	e.HugePages = m.HugePages
	if e.Threads == nil {
		e.Threads = map[string]string{}
	}
	for name, value := range m.ThreadSettings {
		if _, known := e.Threads[name]; !known {
			e.Threads[name] = value
		}
	}
	for _, g := range m.GPUs {
		addGPU(e, g)
	}
	if l.After == nil {
		return
	}
	for _, g := range m.GPUs {
		addSharing(e, g, l.After.GPUs)
	}
	if m.ThrottledNS != nil && l.After.ThrottledNS != nil && *l.After.ThrottledNS >= *m.ThrottledNS {
		seconds := float64(*l.After.ThrottledNS-*m.ThrottledNS) / 1e9
		e.ThrottledSeconds = &seconds
	}
	e.OthersBusyCores = othersBusy(l)
}

// addGPU joins what the driver's tool says of a device with what torch said of it.
func addGPU(e *model.Environment, g record.GPU) {
	i := slices.IndexFunc(e.GPUs, func(known model.GPU) bool { return known.Index == g.Index })
	if i < 0 {
		e.GPUs = append(e.GPUs, model.GPU{Index: g.Index, Name: g.Name, MemoryBytes: g.MemoryBytes})
		i = len(e.GPUs) - 1
	}
	e.GPUs[i].ClockMHz, e.GPUs[i].MaxClockMHz, e.GPUs[i].PowerState = g.ClockMHz, g.MaxClockMHz, g.PowerState
}

// addSharing notes how busy a device was before the run, where processes that computed on it then still do after the run. Without them it
// may have been the program just before this one: the driver's number is a mean over the last second or so.
func addSharing(e *model.Environment, before record.GPU, after []record.GPU) {
	was := func(pid int) bool { return slices.Contains(before.Processes, pid) }
	still := slices.ContainsFunc(after, func(g record.GPU) bool {
		return g.Index == before.Index && slices.ContainsFunc(g.Processes, was)
	})
	i := slices.IndexFunc(e.GPUs, func(known model.GPU) bool { return known.Index == before.Index })
	if still && i >= 0 {
		e.GPUs[i].UtilisationByOthersPart = before.Utilisation
	}
}

// othersBusy is how many cores other programs kept busy during the run: what the machine's processors did less what the
// program and its children did. nil where either is unknown, or the run was too short for the counters' 10 ms.
func othersBusy(l *record.Launcher) *float64 {
	if l.Exit == nil || l.Before.CPUBusyNS == nil || l.After.CPUBusyNS == nil {
		return nil
	}
	wall := float64(l.After.UnixNS-l.Before.UnixNS) / 1e9
	if wall < 1 {
		return nil
	}
	busy := float64(*l.After.CPUBusyNS-*l.Before.CPUBusyNS)/1e9 - l.Exit.UserSeconds - l.Exit.SystemSeconds - float64(l.Own.CPUNS)/1e9
	cores := max(0, busy/wall)
	return &cores
}

// run describes the command, from rank 0's launcher; without any launcher (`bottleneck env`) from the agents.
func (r *sessionReader) run() {
	run := &model.Run{TopLevel: -1, Command: r.job.Command}
	if len(r.starts) > 0 {
		r.launcherRun(run, r.starts[0])
	} else {
		r.agentsRun(run)
	}
	for _, p := range r.added() {
		run.Own.AgentCPU += p.Own.AgentCPU
		run.Own.LongestPause = max(run.Own.LongestPause, p.Own.LongestPause)
		run.Own.AgentBytes = max(run.Own.AgentBytes, p.Own.AgentBytes)
	}
	if r.s.Growing {
		run.End = 0
	}
	r.s.Run = run
}

func (r *sessionReader) launcherRun(run *model.Run, l *record.Launcher) {
	run.Command, run.Start, run.Flags = l.Command, model.Time(l.StartUnixNS), l.Flags
	run.Own.SamplerCPU, run.Own.LauncherRSS = model.Dur(l.Own.SamplerCPUNS), l.Own.PeakRSS
	run.TopLevel = slices.IndexFunc(r.s.Processes, func(p *model.Process) bool { return p.PID == l.ChildPID && p.Host == l.Host })
	if run.TopLevel < 0 {
		run.TopLevel = slices.IndexFunc(r.s.Processes, func(p *model.Process) bool { return p.Role == model.RoleMain })
	}
	for _, n := range l.Notes {
		run.Notes = append(run.Notes, n.Text)
	}
	switch {
	case l.Exit != nil:
		run.End, run.ExitCode, run.Signal, run.PeakBytes = model.Time(l.Exit.UnixNS), l.Exit.Code, l.Exit.Signal, l.Exit.MaxRSSBytes
		if run.TopLevel >= 0 {
			p := r.s.Processes[run.TopLevel]
			p.ExitStatus = &l.Exit.Code
		}
		for _, n := range []string{memoryRanOut(l), busError(l)} {
			if n != "" {
				run.Notes = append(run.Notes, n)
			}
		}
	case l.After != nil: // attached, and let go again
		run.End = model.Time(l.After.UnixNS)
	case r.alive(l.Host, l.ChildPID):
		r.s.Growing = true
	default:
		run.End = r.lastSeen()
		run.Notes = append(run.Notes, "bottleneck itself was ended before the program: how the program ended is not known")
	}
}

// memoryRanOut says that the kernel ended processes during the run because memory ran out: what its counter says of the
// machine's or the container's limit, whoever it was that died. Empty where it did not.
func memoryRanOut(l *record.Launcher) string {
	if l.Before == nil || l.After == nil || l.Before.OOMKills == nil || l.After.OOMKills == nil {
		return ""
	}
	n := *l.After.OOMKills - *l.Before.OOMKills
	if n <= 0 {
		return ""
	}
	who := "a process"
	switch {
	case l.Exit.Signal == "SIGKILL":
		who = "the program"
	case n > 1:
		who = fmt.Sprintf("%d processes", n)
	}
	text := "memory ran out: the kernel killed " + who
	if limit := l.After.MemoryBytes; limit != nil {
		text += fmt.Sprintf(" (limit %.3g GiB, largest process of the program %.3g GiB)", float64(*limit)/(1<<30),
			float64(l.Exit.MaxRSSBytes)/(1<<30))
	}
	return text
}

// busError says what a bus error means: memory that is mapped from a file could not be filled, as in a full /dev/shm. Empty where
// the program did not end by one.
func busError(l *record.Launcher) string {
	if l.Exit.Signal != "SIGBUS" {
		return ""
	}
	text := "a bus error ended the program: memory that is mapped from a file had no room, most often because /dev/shm was full"
	if l.Before != nil && l.Before.SHMBytes != nil {
		text += fmt.Sprintf(" (it holds %.3g MiB)", float64(*l.Before.SHMBytes)/(1<<20))
	}
	return text + "; docker run --shm-size=8g or --ipc=host makes it larger"
}

func (r *sessionReader) agentsRun(run *model.Run) {
	for i, p := range r.added() {
		if p.Start > 0 && (run.Start == 0 || p.Start < run.Start) {
			run.Start, run.TopLevel = p.Start, r.first+i
			if len(r.job.Command) == 0 {
				run.Command = p.Command
			}
		}
		if p.Exit == "" && r.alive(p.Host, p.PID) {
			r.s.Growing = true
		}
	}
	run.End = r.lastSeen()
	if len(r.added()) > 0 {
		run.Notes = append(run.Notes, "no launcher was in front of the program: its exit status and the machine's limits are not known")
	} else {
		run.Notes = append(run.Notes, "nothing was recorded in this session")
	}
}

// lastSeen is the end of the last process, as far as known.
func (r *sessionReader) lastSeen() model.Time {
	var last model.Time
	for _, p := range r.added() {
		last = max(last, p.End)
	}
	if last == 0 && !r.lastWrite.IsZero() {
		last = model.Time(r.lastWrite.UnixNano())
	}
	return last
}

// alive says whether a process of the session still runs: asked of the system on its own host, else judged by when the
// session was last written.
func (r *sessionReader) alive(host string, pid int) bool {
	if own, err := os.Hostname(); err == nil && own == host {
		return processExists(pid) && time.Since(r.lastWrite) < 10*time.Minute
	}
	return time.Since(r.lastWrite) < growingFor
}

func first(a, b string) string {
	if a != "" {
		return a
	}
	return b
}
