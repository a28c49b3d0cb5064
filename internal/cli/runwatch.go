package cli

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"bottleneck/internal/collect"
	"bottleneck/internal/record"
)

// watcher samples the program's Python stacks from outside while it runs. A nil watcher takes none.
type watcher struct {
	sampler *collect.Sampler
	seen    []collect.SampledProcess
}

// startWatcher begins to sample; why it cannot is noted in the session.
func startWatcher(ctx context.Context, s *session, o *runOptions, p *collect.Program) *watcher {
	if o.noSample {
		return nil
	}
	sampler, err := collect.StartSampler(ctx, collect.SamplerOptions{PID: p.PID(), Hz: o.rate, Dir: s.folder, Host: s.launcher.Host,
		Native: o.nativeMode})
	if err != nil {
		s.launcher.AddNote("no-samples", fmt.Sprintf("no Python stacks were taken: %v", cause(err)))
		return nil
	}
	w := &watcher{sampler: sampler}
	if o.duration > 0 || o.config.Steps > 0 {
		go w.stopWhenMeasured(ctx, s.dir)
	}
	return w
}

// stopWhenMeasured ends the sampling once --duration or --steps has ended the measuring in the program's processes.
func (w *watcher) stopWhenMeasured(ctx context.Context, dir string) {
	second := time.NewTicker(time.Second)
	defer second.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-w.sampler.Done():
			return
		case <-second.C:
		}
		if measured(dir) {
			w.sampler.Stop()
			return
		}
	}
}

// measured says whether the measuring is over in every rank that runs torch, or, where there is no rank, in every main
// process that does.
func measured(dir string) bool {
	_, folders, err := record.Folders(dir)
	if err != nil {
		return false
	}
	open, over := map[string]int{}, map[string]int{}
	for _, folder := range folders {
		var process struct {
			Role        string
			Over        bool `json:"measuring_over"`
			Torch, Exit *struct{}
		}
		text, err := os.ReadFile(filepath.Join(folder, record.ProcessName))
		if err != nil || json.Unmarshal(text, &process) != nil {
			continue
		}
		if process.Over {
			over[process.Role]++
		} else if process.Torch != nil && process.Exit == nil {
			open[process.Role]++
		}
	}
	if open["rank"]+over["rank"] > 0 {
		return open["rank"] == 0
	}
	return over["main"] > 0 && open["main"] == 0
}

// stop ends sampling and notes what it cost and what it could not see.
func (w *watcher) stop(l *record.Launcher) {
	if w == nil {
		return
	}
	w.note(w.sampler.Stop(), l)
}

// note writes what sampling cost and what it could not see.
func (w *watcher) note(stats collect.SamplerStats, l *record.Launcher) {
	w.seen = stats.Processes
	l.Own.SamplerCPUNS = stats.CPU.Nanoseconds()
	if stats.WriteError != "" {
		l.AddNote("samples-lost", "Python stacks were taken but not all were kept: "+stats.WriteError)
	}
	reasons := map[string][]string{}
	for _, p := range stats.Processes {
		if p.Reason != "" {
			reasons[p.Reason] = append(reasons[p.Reason], fmt.Sprint(p.PID))
		}
	}
	for reason, pids := range reasons {
		if len(pids) > 5 {
			pids = append(pids[:5], "…")
		}
		l.AddNote("not-sampled", fmt.Sprintf("no Python stacks of process %s: %s", strings.Join(pids, ", "), reason))
	}
	noteNative(stats, l)
	slices.SortFunc(l.Notes, func(a, b record.Note) int { return strings.Compare(a.Code+a.Text, b.Code+b.Text) })
}

// python lists the processes that the sampler found to run Python.
func (w *watcher) python() []collect.SampledProcess {
	if w == nil {
		return nil
	}
	var out []collect.SampledProcess
	for _, p := range w.seen {
		if p.Python != "" || p.Samples > 0 {
			out = append(out, p)
		}
	}
	return out
}

// noteMissing says what the report lacks because the agent was not loaded, and how to get it.
func (s *session) noteMissing() {
	_, folders, err := record.Folders(s.dir)
	if err != nil || len(folders) > 0 || s.agent == nil { // then it is said why
		return
	}
	const lost = ": steps, waits and operators are missing, Python lines are known from outside only; "
	l, found := s.launcher, s.watcher.python()
	commands := [][]string{l.Command}
	for _, p := range found {
		commands = append(commands, append([]string{p.Executable}, p.Args...), p.Args)
	}
	switch {
	case slices.ContainsFunc(commands, isolated):
		l.AddNote("agent-isolated", "Python ran with -I, -E or -S, which keeps the agent out"+lost+"run it without that flag to get them")
	case len(found) == 0 && l.Target == string(collect.TargetCommand):
		l.AddNote("no-python", "no Python process was seen in this command: only its time and exit status are known")
	case l.Target == string(collect.TargetCommand):
		l.AddNote("agent-absent", "the agent was not loaded, because something between bottleneck and Python drops the environment"+lost+
			"pass PYTHONPATH and BNECK_AGENT_CONFIG on (docker run -e, sudo --preserve-env, ssh SendEnv), put `bottleneck run` directly "+
			"before Python, "+
			"or, for containers and other hosts, take the variables of `bottleneck env`")
	default:
		l.AddNote("agent-absent",
			"the agent was not loaded: this interpreter does not import sitecustomize, or could not write to the session"+lost+
				"look at `"+filepath.Base(l.Interpreter)+" -c 'import sitecustomize'`")
	}
}
