package cli

import (
	"context"
	"strings"

	"bottleneck/internal/collect"
	"bottleneck/internal/record"
)

// watcher samples the program's Python stacks from outside while it runs.
type watcher struct{}

func startWatcher(context.Context, *session, *runOptions, *collect.Program) *watcher {
	return &watcher{}
}

// stop ends sampling and notes what it cost and what it could not see.
func (w *watcher) stop(*record.Launcher) {}

// noteMissing says what the report lacks because the agent was not loaded, and how to get it.
func (s *session) noteMissing() {
	_, processes, err := record.Folders(s.dir)
	if err != nil || len(processes) > 0 {
		return
	}
	l := s.launcher
	switch {
	case l.Target == string(collect.TargetCommand) && !mentionsPython(l.Command):
		l.AddNote("no-python", "no Python process was seen in this command; only its time and exit status are known")
	case hasIsolatingFlag(l.Command):
		l.AddNote("agent-isolated", "Python ran with -I, -E or -S, which keeps the agent out: steps, waits and operators are missing; run without that flag to get them")
	default:
		l.AddNote("agent-absent", "the agent was not loaded (Python with -I, -E or -S, or a launcher that drops the environment): steps, waits and operators are missing; "+
			"pass PYTHONPATH and "+"BNECK_AGENT_CONFIG on to the program, or run `bottleneck run` inside the launcher")
	}
}

func mentionsPython(argv []string) bool {
	for _, arg := range argv {
		if strings.Contains(strings.ToLower(arg), "python") || strings.HasSuffix(arg, ".py") {
			return true
		}
	}
	return false
}

// hasIsolatingFlag says whether an interpreter's own flags (those before the script) hold -I, -E or -S.
func hasIsolatingFlag(argv []string) bool {
	for _, arg := range argv[min(1, len(argv)):] {
		if !strings.HasPrefix(arg, "-") || strings.HasPrefix(arg, "--") {
			return false
		}
		if strings.ContainsAny(arg[1:], "IES") {
			return true
		}
	}
	return false
}
