package cli

import (
	"cmp"
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"bottleneck/internal/confine"
	"bottleneck/internal/record"
)

type confinedKey struct{}

// Confined makes commands that only read give up what they do not need, for the rest of the process. A process that goes on
// afterwards, as a test's does, must not ask for it.
func Confined(ctx context.Context) context.Context {
	return context.WithValue(ctx, confinedKey{}, true)
}

// needs is what a command that only reads will do with files.
type needs struct {
	inputs   []string // paths as the user gave them
	outputs  []string // files and folders to be written; "" and "-" are none
	scratch  bool     // it writes temporary files whatever the inputs are
	anything bool     // the input says which other files are read
}

// confine gives up all else. What the kernel cannot enforce is left out without a word: doctor says what it can.
func (a *app) confine(ctx context.Context, n needs) {
	if ctx.Value(confinedKey{}) == nil {
		return
	}
	_, _ = time.Unix(0, 0).Zone() // reads the time zone's file, once
	access := confine.Access{Read: n.inputs, Anything: n.anything}
	for _, path := range n.inputs {
		info, err := os.Stat(path)
		switch {
		case err == nil && info.IsDir():
			access.Read = append(access.Read, linked(path)...)
		case err == nil:
			n.scratch = true // packed sessions are unpacked
		}
	}
	for _, path := range n.outputs {
		access.Write = append(access.Write, writes(path)...)
	}
	if n.scratch {
		access.Write = append(access.Write, os.TempDir())
	}
	_ = confine.Apply(access)
}

// writes is what must be writable for an output: the folder it goes to, or the first above that there is, where missing ones are
// made; of a device, a pipe and a folder that is there itself.
func writes(path string) []string {
	if path == "" || path == "-" {
		return nil
	}
	path, err := filepath.Abs(path)
	if err != nil {
		return nil
	}
	var list []string
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		list = append(list, path)
		if !info.IsDir() {
			return list
		}
	}
	dir := filepath.Dir(path)
	for dir != filepath.Dir(dir) {
		if info, err := os.Stat(dir); err == nil && info.IsDir() {
			break
		}
		dir = filepath.Dir(dir)
	}
	if to, err := filepath.EvalSymlinks(path); err == nil { // a link to a file elsewhere, which is written
		list = append(list, filepath.Dir(to))
	}
	return append(list, dir)
}

// maxLinks is how many links out of a folder are followed.
const maxLinks = 1 << 14

// linked lists the files and sessions that links below a folder of traces name. Links within sessions are not followed.
func linked(dir string) []string {
	var list []string
	_ = filepath.WalkDir(filepath.Clean(dir)+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if err != nil || len(list) > maxLinks {
			return cmp.Or(err, error(fs.SkipAll))
		}
		if d.IsDir() {
			if _, err := os.Lstat(filepath.Join(path, record.ManifestName)); err == nil {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type()&fs.ModeSymlink == 0 {
			return nil
		}
		if info, err := os.Stat(path); err == nil && (info.Mode().IsRegular() || info.IsDir() && isSession(path)) {
			list = append(list, path)
		}
		return nil
	})
	return list
}

func isSession(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, record.ManifestName))
	return err == nil
}
