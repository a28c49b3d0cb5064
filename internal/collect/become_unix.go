//go:build unix

package collect

import (
	"errors"

	"golang.org/x/sys/unix"
)

// Become makes this process the program, without a launcher: the command as Target.Plain gives it. It returns only with an error, a
// *StartError.
func (c Command) Become(env []string) error {
	return startError(c.Path, unix.Exec(c.Path, c.Argv, env))
}

// Lacking says whether a program could not be started because this process may not have more of something: files, processes, memory.
func Lacking(err error) bool {
	var start *StartError
	return errors.As(err, &start) && (start.errno == unix.EMFILE || start.errno == unix.ENFILE || start.errno == unix.EAGAIN ||
		start.errno == unix.ENOMEM)
}
