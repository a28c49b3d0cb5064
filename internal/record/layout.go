package record

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Names inside a session directory (docs/session.md).
const (
	ManifestName = "manifest.json"
	LauncherName = "launcher.json"
	ProcessName  = "process.json"
	MeasuredName = "measured.json" // prices of --measure-fixes
	CallsName    = "calls.prof"    // of one process, with --calls
	// ActionCallsName is the file of the functions within a trainer's actions, with --calls.
	ActionCallsName = "calls-actions.json.gz"
	LinesName       = "lines.json.gz" // of one process, with --lines
	AgentDir        = "agent"
	RoomName        = ".room" // of a launcher's folder: keeps room on the disk for what is written at the end
	SourceDir       = "source"
	// LauncherPrefix begins the name of every launcher's folder.
	LauncherPrefix = "launcher-"
	// WithPrefix begins the names of files that another profiler wrote in a launcher's folder.
	WithPrefix = "with-"
)

// Modes of everything in a session: nobody but its owner reads it.
const (
	DirMode  os.FileMode = 0o700
	FileMode os.FileMode = 0o600
)

// FolderName is "<host>-<pid>-<start in Unix ms>", with everything but letters, digits, '.' and '_' of the host replaced.
func FolderName(host string, pid int, start time.Time) string {
	return fmt.Sprintf("%s-%d-%d", safeName(host), pid, start.UnixMilli())
}

// safeName keeps of s what is harmless in a file name on every platform.
func safeName(s string) string {
	out := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
	if len(out) > 64 {
		out = out[:64]
	}
	return strings.Trim(out, ".")
}

// SafeName is s as a part of a file name: letters, digits, '.', '_' and '-' stay, at most 64 of them.
func SafeName(s string) string { return safeName(s) }

// IsSession says whether dir holds a session: a manifest, or a launcher's or process's folder of one that lost it.
func IsSession(dir string) bool {
	if _, err := Stat(dir, ManifestName); err == nil {
		return true
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return false
	}
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		for _, name := range []string{LauncherName, ProcessName} {
			if _, err := Stat(dir, filepath.Join(e.Name(), name)); err == nil {
				return true
			}
		}
	}
	return false
}

// Folders lists a session's launcher folders and process folders, as full paths in order of name.
func Folders(dir string) (launchers, processes []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, nil, fmt.Errorf("list session %s: %w", dir, err)
	}
	for _, e := range entries {
		name := e.Name()
		switch {
		case !e.IsDir() || name == AgentDir || name == SourceDir:
		case strings.HasPrefix(name, LauncherPrefix):
			launchers = append(launchers, filepath.Join(dir, name))
		default:
			processes = append(processes, filepath.Join(dir, name))
		}
	}
	return launchers, processes, nil
}

// HostPrefix begins the names of the folders of a host's processes.
func HostPrefix(host string) string { return safeName(host) + "-" }
