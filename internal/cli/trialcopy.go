package cli

import (
	"bottleneck/internal/collect"
	"bottleneck/internal/overlay"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// variants are the original and the changed program, each in a copy of the folder that holds the changed file, so that nothing but the
// change
// differs between them.
func (t *trial) variants(folder string) ([2]variant, error) {
	out := [2]variant{{name: "original"}, {name: "changed", check: t.made}}
	for i := range out {
		if err := t.variant(&out[i], filepath.Join(folder, out[i].name), i == 1); err != nil {
			return out, unusable(fmt.Errorf("copy the sources: %w", err))
		}
	}
	if t.change.variable != "" {
		out[1].environment = append(out[1].environment, t.change.variable+"="+t.change.value)
	}
	if a := t.change.ablate; a != nil {
		out[1].ablate = a
		if a.secondStart {
			starts(&out, folder)
		}
	}
	return out, nil
}

// variant makes the copies of one side, and its command, working directory and environment by them.
func (t *trial) variant(v *variant, folder string, changed bool) error {
	cwd := t.launcher.CWD
	command := slices.Clone(t.command)
	v.dir = cwd
	script := t.script(command)
	var copies []*overlay.Copy
	add := func(root, file, text string) (*overlay.Copy, error) {
		path := filepath.Join(folder, fmt.Sprint(len(copies)), filepath.Base(root))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			return nil, err
		}
		c, err := overlay.Make(root, path, file, text)
		copies = append(copies, c)
		return c, err
	}
	file, text := t.change.file, t.before
	if changed {
		text = t.after
	}
	if file != "" {
		c, err := add(t.root(script), file, text)
		if err != nil {
			return err
		}
		v.environment = pythonPath(c, cwd, packageRoot(file))
		if script >= 0 {
			whole := absoluteIn(cwd, command[script])
			if there, ok := c.Of(whole); ok {
				command[script] = there
			}
			if err := c.Own(whole); err != nil {
				return err
			}
		} else if there, ok := c.Of(cwd); ok { // python -m takes the working directory first
			v.dir = there
		}
	}
	if t.temporary && v.dir == cwd {
		below := ""
		if c := copies; len(c) > 0 {
			if there, ok := c[0].Of(cwd); ok {
				below = there
			}
		}
		if below == "" {
			c, err := add(cwd, "", "")
			if err != nil {
				return err
			}
			below = c.Path
		}
		v.dir = below
	}
	v.target = collect.Target{Kind: collect.TargetCommand, Name: command[0], Args: command[1:]}
	return nil
}

// script is the index of the command's argument that is a script, -1 where there is none.
func (t *trial) script(command []string) int {
	return slices.IndexFunc(command, func(word string) bool {
		if !strings.HasSuffix(word, ".py") || strings.HasPrefix(word, "-") {
			return false
		}
		info, err := os.Stat(absoluteIn(t.launcher.CWD, word))
		return err == nil && info.Mode().IsRegular()
	})
}

// root is the folder to be copied: the script's, where the changed file lies below it, else the working directory, else that of the file's
// outermost package.
func (t *trial) root(script int) string {
	below := func(root string) bool {
		name, err := filepath.Rel(root, t.change.file)
		return err == nil && filepath.IsLocal(name)
	}
	if script >= 0 {
		if dir := filepath.Dir(absoluteIn(t.launcher.CWD, t.command[script])); below(dir) {
			return dir
		}
	}
	if below(t.launcher.CWD) {
		return t.launcher.CWD
	}
	return packageRoot(t.change.file)
}

// packageRoot is the folder from which a file is imported: above its outermost package.
func packageRoot(file string) string {
	dir := filepath.Dir(file)
	for {
		if _, err := os.Stat(filepath.Join(dir, "__init__.py")); err != nil || filepath.Dir(dir) == dir {
			return dir
		}
		dir = filepath.Dir(dir)
	}
}

// pythonPath puts the copy before the original among the folders of imports, and in the place of it where that is named.
func pythonPath(c *overlay.Copy, cwd, root string) []string {
	var parts []string
	if there, ok := c.Of(root); ok {
		parts = append(parts, there)
	}
	for _, dir := range filepath.SplitList(os.Getenv("PYTHONPATH")) {
		there, _ := c.Of(absoluteIn(cwd, dir))
		parts = append(parts, there)
	}
	return []string{"PYTHONPATH=" + strings.Join(parts, string(os.PathListSeparator))}
}

// absoluteIn is a path as seen from a folder.
func absoluteIn(dir, path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(dir, path)
}
