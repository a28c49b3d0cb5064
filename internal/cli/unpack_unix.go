//go:build unix

package cli

import (
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
)

// scratch are directories that live as long as a command.
type scratch struct {
	mu    sync.Mutex
	dirs  []string
	locks []*os.File
	stop  func()
	ends  atomic.Bool // a signal has come: the process is about to end by it
}

// await lets a signal that has come end the process, before anybody says what it interrupted.
func (s *scratch) await() {
	if s.ends.Load() {
		select {}
	}
}

// make makes a directory and holds its lock.
func (s *scratch) make() (string, error) {
	dir, err := os.MkdirTemp("", unpackedPrefix+"*")
	if err != nil {
		return "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dirs = append(s.dirs, dir)
	// The lock is taken under another name: whoever sees the file finds it held.
	held := filepath.Join(dir, "."+unpackedLock)
	f, err := os.OpenFile(held, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if err != nil {
		return "", err
	}
	s.locks = append(s.locks, f)
	if syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) == nil { // a file system without locks keeps what is left there
		err = os.Rename(held, filepath.Join(dir, unpackedLock))
	}
	return filepath.Join(dir, "s"), err
}

func (s *scratch) remove() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, dir := range s.dirs {
		for range 100 { // another goroutine may still be unpacking into it
			if os.RemoveAll(dir) == nil {
				break
			}
		}
	}
	for _, f := range s.locks {
		_ = f.Close()
	}
	s.dirs, s.locks = nil, nil
	if s.stop != nil {
		s.stop()
		s.stop = nil
	}
}

// untilInterrupted removes the directories when a signal asks the process to end, and lets it end by that signal.
func (s *scratch) untilInterrupted(ctx context.Context) context.Context {
	ctx, cancel := context.WithCancel(ctx)
	got := make(chan os.Signal, 1)
	for _, sig := range []os.Signal{syscall.SIGINT, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT} {
		if !signal.Ignored(sig) {
			signal.Notify(got, sig)
		}
	}
	done := make(chan struct{})
	s.stop = func() {
		signal.Stop(got)
		close(done)
		cancel()
	}
	go func() {
		select {
		case sig := <-got:
			s.ends.Store(true)
			cancel()
			s.mu.Lock()
			s.stop = nil
			s.mu.Unlock()
			s.remove()
			signal.Reset(sig)
			_ = syscall.Kill(os.Getpid(), sig.(syscall.Signal))
		case <-done:
		}
	}()
	return ctx
}

// tryLock takes the lock of a file whose process has gone.
func tryLock(path string) (*os.File, bool) {
	f, err := os.OpenFile(path, os.O_RDWR|syscall.O_NOFOLLOW|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, false // another user's
	}
	info, err := f.Stat()
	owner, ok := infoOwner(info)
	if err != nil || !ok || owner != os.Getuid() || syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB) != nil {
		_ = f.Close()
		return nil, false
	}
	return f, true
}

// infoOwner is the user who owns a file.
func infoOwner(info os.FileInfo) (int, bool) {
	if info == nil {
		return 0, false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return 0, false
	}
	return int(stat.Uid), true
}
