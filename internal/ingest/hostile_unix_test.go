//go:build unix

package ingest

import (
	"os"
	"syscall"
	"testing"
)

// odd are ways to put something that is no file of a session at a path.
func odd(_ *testing.T, outside string) map[string]func(string) error {
	return map[string]func(string) error{
		"link that leads out":  func(path string) error { return os.Symlink(outside, path) },
		"link to a device":     func(path string) error { return os.Symlink("/dev/zero", path) },
		"link to its parent":   func(path string) error { return os.Symlink("..", path) },
		"link to itself":       func(path string) error { return os.Symlink(path, path) },
		"pipe without writers": func(path string) error { return syscall.Mkfifo(path, 0o600) },
	}
}
