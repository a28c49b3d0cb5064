//go:build !unix

package cli

import (
	"context"
	"os"
	"path/filepath"
)

// scratch are directories that live as long as a command.
type scratch struct{ dirs []string }

func (s *scratch) make() (string, error) {
	dir, err := os.MkdirTemp("", unpackedPrefix+"*")
	if err == nil {
		s.dirs = append(s.dirs, dir)
	}
	return filepath.Join(dir, "s"), err
}

func (s *scratch) remove() {
	for _, dir := range s.dirs {
		_ = os.RemoveAll(dir)
	}
	s.dirs = nil
}

// await is for systems where a signal is waited for.
func (s *scratch) await() {}

// untilInterrupted is the context as it is: an interrupt ends the process at once.
func (s *scratch) untilInterrupted(ctx context.Context) context.Context { return ctx }

// tryLock is for systems whose files can be locked.
func tryLock(string) (*os.File, bool) { return nil, false }
