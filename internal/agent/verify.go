package agent

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ExtractOrVerify is Extract for a directory that several launchers and hosts share: what is there already must be what Extract writes,
// file by file, and nothing else, because Python would run it. Compiled code that lies there is removed, not trusted.
func ExtractOrVerify(dir string) error {
	info, err := os.Lstat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Extract(dir)
	}
	if err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	if !info.IsDir() {
		return notOurs(dir)
	}
	if err := dropCompiled(dir); err != nil {
		return fmt.Errorf("agent: %w", err)
	}
	if err := verify(dir); err != nil {
		return err
	}
	return Extract(dir)
}

// dropCompiled removes what Python has compiled in an agent's folder.
func dropCompiled(dir string) error {
	return errors.Join(os.RemoveAll(filepath.Join(dir, "__pycache__")), os.RemoveAll(filepath.Join(dir, filepath.FromSlash(CompiledDir))))
}

// verify compares everything that lies in dir with the agent's files. What is missing is no fault: another launcher may be writing it.
func verify(dir string) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return fmt.Errorf("agent: %w", err)
		}
		name, err := filepath.Rel(dir, path)
		if err != nil {
			return err
		}
		if entry.Type().IsRegular() && strings.HasPrefix(entry.Name(), temporary) {
			return nil // another launcher is writing; no module can have such a name
		}
		want, known := fs.Stat(files, filepath.ToSlash(filepath.Join("py", name)))
		switch {
		case known != nil || want.IsDir() != entry.IsDir():
			return notOurs(path)
		case entry.IsDir():
			return nil
		case !entry.Type().IsRegular():
			return notOurs(path)
		}
		text, err := fs.ReadFile(files, filepath.ToSlash(filepath.Join("py", name)))
		if err != nil {
			return fmt.Errorf("agent: %w", err)
		}
		if have, err := os.ReadFile(path); err != nil || string(have) != string(text) {
			return notOurs(path)
		}
		return nil
	})
}

func notOurs(path string) error {
	return fmt.Errorf(
		"%s is not what this version of bottleneck writes there, and Python would run it; remove it or choose another directory", path)
}
