package overlay

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Copy is a folder's copy.
type Copy struct {
	Root string // of the original
	Path string // of the copy
}

// Make makes the copy of root at path, which must not exist. file, which must be below root, gets the text; "": all is linked.
func Make(root, path, file, text string) (*Copy, error) {
	c := &Copy{Root: root, Path: path}
	below := ""
	if file != "" {
		var err error
		if below, err = filepath.Rel(root, file); err != nil || !filepath.IsLocal(below) {
			return nil, fmt.Errorf("%s is not below %s", file, root)
		}
	}
	parts := strings.Split(below, string(filepath.Separator))
	from, to := root, path
	for i := 0; ; i++ {
		own := ""
		if below != "" {
			own = parts[i]
		}
		if err := linkAll(from, to, own); err != nil {
			return nil, err
		}
		if i >= len(parts)-1 {
			break
		}
		from, to = filepath.Join(from, own), filepath.Join(to, own)
	}
	if below == "" {
		return c, nil
	}
	info, err := os.Stat(file)
	if err != nil {
		return nil, err
	}
	return c, os.WriteFile(filepath.Join(path, below), []byte(text), info.Mode().Perm()|0o600)
}

// linkAll links the entries of a folder but one, and but what Python made of sources: it would be written for the changed ones, too.
func linkAll(from, to, but string) error {
	if err := os.Mkdir(to, 0o700); err != nil {
		return err
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	for _, e := range entries {
		if e.Name() == but || e.Name() == "__pycache__" {
			continue
		}
		if err := os.Symlink(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
			return err
		}
	}
	return nil
}

// Of is where a file of the original lies in the copy; ok is false of what is not below it.
func (c *Copy) Of(file string) (path string, ok bool) {
	below, err := filepath.Rel(c.Root, file)
	if err != nil || !filepath.IsLocal(below) {
		return file, false
	}
	return filepath.Join(c.Path, below), true
}

// Own makes a linked file of the copy one of its own, with the same text: Python takes the folder that a script's link points to for the
// script's. Files below linked folders stay as they are.
func (c *Copy) Own(file string) error {
	path, ok := c.Of(file)
	info, err := os.Lstat(path)
	if !ok || err != nil || info.Mode()&os.ModeSymlink == 0 {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := os.Remove(path); err != nil {
		return err
	}
	if info, err = os.Stat(file); err != nil {
		return err
	}
	return os.WriteFile(path, text, info.Mode().Perm()|0o600)
}
