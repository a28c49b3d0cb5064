package cli

import (
	"os"
	"os/exec"
	"time"
)

// viewer is the page of a run that goes on, in a process of its own: what it costs is not the program's, and what breaks in it breaks nothing
// else. A nil viewer shows nothing.
type viewer struct {
	command *exec.Cmd
	ended   chan struct{}
}

// startViewer serves the session, and prints where.
func (l *launch) startViewer() *viewer {
	if !l.opt.view || l.session == nil || l.session.launcher.Rank != 0 {
		return nil
	}
	self, err := os.Executable()
	if err != nil {
		l.warn("--view: no page: %v", err)
		return nil
	}
	v := &viewer{command: exec.Command(self, "view", l.session.dir), ended: make(chan struct{})}
	v.command.Stdout, v.command.Stderr = l.stderr, l.stderr
	v.command.WaitDelay = time.Second
	if err := v.command.Start(); err != nil {
		l.warn("--view: no page: %v", cause(err))
		return nil
	}
	go func() {
		_ = v.command.Wait()
		close(v.ended)
	}()
	return v
}

// end ends the page with the run.
func (l *launch) endViewer(v *viewer) {
	if v == nil {
		return
	}
	_ = v.command.Process.Kill()
	<-v.ended
	l.warn("the page has ended with the run; open it again by: bottleneck view %s", l.session.shown)
}
