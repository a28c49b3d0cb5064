package cli

import (
	"bytes"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	"bottleneck/internal/record"
)

// outputFolder is where sessions go unless --out names another place.
const outputFolder = "bottleneck-out"

// orNewest gives the paths of a command line, or where it has none the newest session here, which it names on standard error.
func (a *app) orNewest(command string, paths []string) ([]string, error) {
	if len(paths) > 0 {
		return paths, nil
	}
	dir, m, ok := newestSession()
	if !ok {
		return nil, usage("%s: PATH is missing: a session directory or a trace; no session was found in %s/ or beside it",
			command, outputFolder)
	}
	a.warn("%s takes the newest session here, %s of %s", command, dir, time.Unix(0, m.CreatedUnixNS).Format("2006-01-02 15:04:05"))
	return []string{dir}, nil
}

// newestSession finds the session that was begun last, of those in the usual folder and in folders of the working directory.
func newestSession() (dir string, m record.Manifest, ok bool) {
	type session struct {
		dir string
		record.Manifest
	}
	var found []session
	for _, pattern := range []string{filepath.Join(outputFolder, "*", record.ManifestName), filepath.Join("*", record.ManifestName)} {
		files, _ := filepath.Glob(pattern) // the pattern is well formed
		for _, file := range files {
			if m, err := record.ReadManifest(filepath.Dir(file)); err == nil {
				found = append(found, session{filepath.Dir(file), m})
			}
		}
	}
	if len(found) == 0 {
		return "", m, false
	}
	last := slices.MaxFunc(found, func(x, y session) int { return cmp.Compare(x.CreatedUnixNS, y.CreatedUnixNS) })
	return last.dir, last.Manifest, true
}

// overwritten refuses a file for --json that is there already and no document of ours where no path was given: it was most likely meant
// as the path.
func overwritten(command, flag, file string) error {
	if file == "" || file == "-" {
		return nil
	}
	info, err := os.Stat(file)
	if err != nil || info.Mode().IsRegular() && isDocument(file) {
		return nil
	}
	return usage("%s: PATH is missing: %s took %s for the file to write; for standard output: bottleneck %[1]s %[2]s - %[3]s",
		command, flag, file)
}

// isDocument says whether a file begins as the documents do that bottleneck writes.
func isDocument(file string) bool {
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 128)
	n, _ := io.ReadFull(f, head)
	return bytes.Contains(head[:n], []byte(`"schema": "bottleneck.`)) || bytes.Contains(head[:n], []byte(`"schema":"bottleneck.`))
}
