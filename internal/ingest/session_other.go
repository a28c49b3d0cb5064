//go:build !unix

package ingest

import "os"

// processExists says whether a process with that id can be opened.
func processExists(pid int) bool {
	p, err := os.FindProcess(pid)
	if err != nil {
		return false
	}
	_ = p.Release()
	return true
}
