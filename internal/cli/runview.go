package cli

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// viewer is the page of a run that goes on, in a process of its own: what it costs is not the program's, and what breaks in it breaks
// nothing else. A nil viewer shows nothing.
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
	v.command.Stderr = l.stderr
	v.command.WaitDelay = time.Second
	out, err := v.command.StdoutPipe()
	if err == nil {
		err = v.command.Start()
	}
	if err != nil {
		l.warn("--view: no page: %v", cause(err))
		return nil
	}
	go l.announceViewer(out)
	go func() {
		_ = v.command.Wait()
		close(v.ended)
	}()
	return v
}

// endViewer ends the page with the run.
func (l *launch) endViewer(v *viewer) {
	if v == nil {
		return
	}
	_ = v.command.Process.Kill()
	<-v.ended
	l.warn("the page has ended with the run; open it again by: bottleneck view %s", l.session.shown)
}

// announceViewer prints where the page is. That Ctrl-C ends it is not said: here it ends the program.
func (l *launch) announceViewer(out io.Reader) {
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if lines.Text() != endsByInterrupt {
			fmt.Fprintln(l.stderr, lines.Text())
		}
	}
}
