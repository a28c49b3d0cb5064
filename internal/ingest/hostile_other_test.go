//go:build !unix

package ingest

import (
	"os"
	"testing"
)

// odd are ways to put something that is no file of a session at a path.
func odd(t *testing.T, outside string) map[string]func(string) error {
	return map[string]func(string) error{
		"link that leads out": func(path string) error {
			if err := os.Symlink(outside, path); err != nil {
				t.Skipf("links need a right: %v", err)
			}
			return nil
		},
	}
}
