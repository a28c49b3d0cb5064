package timed

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"time"

	"golang.org/x/sys/unix"
)

// inSlices runs commands beside each other until all have ended.
func inSlices(ctx context.Context, slice time.Duration, commands []Command) []Outcome {
	out := make([]Outcome, len(commands))
	running := make([]*sliced, len(commands))
	defer func() {
		for _, s := range running {
			if s != nil && !s.over {
				_ = s.end()
			}
		}
	}()
	for left := len(commands); left > 0; {
		for i := range commands {
			if running[i] == nil {
				running[i] = newSliced(&commands[i])
			}
			s := running[i]
			if s.over {
				continue
			}
			if out[i].Err = s.run(ctx, slice); s.over || out[i].Err != nil {
				if !s.over {
					_ = s.end()
				}
				out[i].Took = s.took()
				left--
			}
		}
	}
	return out
}

// sliced is a command that runs by slices.
type sliced struct {
	*Command
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
	rest           func()
	ended          chan error
	began, over    bool
	wall           time.Duration
}

func newSliced(c *Command) *sliced {
	s := &sliced{Command: c, cmd: exec.Command(c.Args[0], c.Args[1:]...), ended: make(chan error, 1)}
	s.cmd.Dir, s.cmd.Env, s.cmd.Stdout, s.cmd.Stderr = c.Dir, c.Env, &s.stdout, &s.stderr
	s.rest = endWhole(s.cmd)
	s.cmd.WaitDelay = grace
	s.cmd.Cancel = nil // there is no context: end stops it
	return s
}

// run lets the command run for a slice, or to its end, which it then knows.
func (s *sliced) run(ctx context.Context, slice time.Duration) error {
	began := time.Now()
	if !s.began {
		s.began = true
		err := ctx.Err()
		if err == nil {
			err = s.cmd.Start()
		}
		if err != nil {
			s.over = true
			return err
		}
		go func() { s.ended <- s.cmd.Wait() }()
	} else if err := Resume(s.cmd.Process.Pid); err != nil {
		return err
	}
	timer := time.NewTimer(slice)
	defer timer.Stop()
	select {
	case err := <-s.ended:
		s.wall += time.Since(began)
		s.over = true
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
	}
	s.wall += time.Since(began)
	if s.wall > s.Limit {
		return fmt.Errorf("%w %.0f s and was ended", ErrLimit, s.Limit.Seconds())
	}
	return Pause(s.cmd.Process.Pid)
}

// end ends the command with all that descends from it.
func (s *sliced) end() error {
	s.over = true
	_ = Pause(s.cmd.Process.Pid) // so that nobody starts another one
	for _, pid := range Tree(s.cmd.Process.Pid) {
		_ = unix.Kill(pid, unix.SIGKILL)
	}
	s.rest()
	return <-s.ended
}

func (s *sliced) took() Took {
	t := Took{Wall: s.wall.Seconds(), Stdout: s.stdout.String(), Stderr: s.stderr.String()}
	if state := s.cmd.ProcessState; state != nil {
		t.CPU = (state.UserTime() + state.SystemTime()).Seconds()
	}
	return t
}
