package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// library holds the files of the repositories: one folder for each, beside which what git has of it may lie.
type library struct {
	dir     string // the folder of checkouts
	mirrors string // a folder of repositories as OWNER+NAME/repo or OWNER+NAME/repo/.git; "" where git asks the host
	host    string
}

// git runs one command in a repository's store.
func (l *library) git(ctx context.Context, store string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, "git", append([]string{"--git-dir", store}, args...)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("git %s: %s", args[0], cmp.Or(strings.TrimSpace(stderr.String()), err.Error()))
	}
	return out, nil
}

// store is the folder in which git has a repository's revision: a mirror's, or one that is filled from the host now.
func (l *library) store(ctx context.Context, repository, revision string) (string, error) {
	name := strings.ReplaceAll(repository, "/", "+")
	if l.mirrors != "" {
		for _, sub := range []string{"repo/.git", "repo", ".git", "."} {
			store := filepath.Join(l.mirrors, name, sub)
			if _, err := os.Stat(filepath.Join(store, "HEAD")); err == nil {
				return store, nil
			}
		}
	}
	store := filepath.Join(l.dir, name+".git")
	if _, err := l.git(ctx, store, "cat-file", "-e", revision); err == nil {
		return store, nil
	}
	if err := exec.CommandContext(ctx, "git", "init", "--quiet", "--bare", store).Run(); err != nil {
		return "", fmt.Errorf("git init: %w", err)
	}
	_, err := l.git(ctx, store, "fetch", "--quiet", "--depth", "1", l.host+"/"+repository, revision)
	return store, err
}

// get brings a program's files into the folder of checkouts, where they are not there as they must be.
func (l *library) get(ctx context.Context, p *program, pins []pin) error {
	needed := p.pinsOf(pins)
	if len(needed) == 0 {
		return fmt.Errorf("%s has no pinned file: -pin writes them", p.ID)
	}
	if p.Package != "" {
		return nil
	}
	missing := slices.DeleteFunc(slices.Clone(needed), func(f pin) bool { return l.same(f) })
	if len(missing) == 0 {
		return nil
	}
	store, err := l.store(ctx, p.Repository, missing[0].revision)
	if err != nil {
		return err
	}
	for _, f := range missing {
		text, err := l.git(ctx, store, "cat-file", "blob", f.revision+":"+f.path)
		if err != nil {
			return err
		}
		if hashOf(text) != f.hash {
			return fmt.Errorf("%s of %s at %s is not the file that is pinned", f.path, f.repository, f.revision)
		}
		if err := write(filepath.Join(l.dir, p.tree()), f.path, text); err != nil {
			return err
		}
	}
	return nil
}

// same says that a file is there as it is pinned.
func (l *library) same(f pin) bool {
	text, err := os.ReadFile(filepath.Join(l.dir, strings.ReplaceAll(f.repository, "/", "+"), f.path))
	return err == nil && hashOf(text) == f.hash
}

func hashOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func write(folder, name string, text []byte) error {
	path, err := inside(folder, name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, text, 0o644)
}

// packaged checks a program that is part of an installed package: its files must be the pinned ones, wherever the interpreter has them.
func packaged(ctx context.Context, python string, p *program, pins []pin) error {
	out, err := exec.CommandContext(ctx, python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").Output()
	if err != nil {
		return fmt.Errorf("where are the interpreter's packages: %w", err)
	}
	for _, f := range p.pinsOf(pins) {
		text, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), f.path))
		if err != nil {
			return err
		}
		if hashOf(text) != f.hash {
			return fmt.Errorf("%s of the installed %s is not the file that is pinned for %s", f.path, p.Package, f.revision)
		}
	}
	return nil
}

// pinAll writes the line of each file that the programs need: of the revision that is pinned already, else of the newest one at hand.
func (l *library) pinAll(ctx context.Context, python string, programs []program, pins []pin) (string, error) {
	revisions, lines := map[string]string{}, map[string]bool{}
	for _, f := range pins {
		revisions[f.repository] = f.revision
	}
	for i := range programs {
		p := &programs[i]
		found, err := l.pinsIn(ctx, python, p, revisions[p.Repository])
		if err != nil {
			return "", fmt.Errorf("%s: %w", p.ID, err)
		}
		for _, f := range found {
			lines[fmt.Sprintf("%s %s %s %s\n", f.repository, f.revision, f.hash, f.path)] = true
		}
	}
	var text strings.Builder
	for _, line := range sortedKeys(lines) {
		text.WriteString(line)
	}
	return text.String(), nil
}

// pinsIn are the pins of one program's files.
func (l *library) pinsIn(ctx context.Context, python string, p *program, revision string) ([]pin, error) {
	if p.Package != "" {
		return pinsOfPackage(ctx, python, p)
	}
	store, err := l.store(ctx, p.Repository, cmp.Or(revision, "HEAD"))
	if err != nil {
		return nil, err
	}
	if revision == "" {
		head, err := l.git(ctx, store, "rev-parse", "HEAD")
		if err != nil {
			return nil, err
		}
		revision = strings.TrimSpace(string(head))
	}
	names, err := l.git(ctx, store, append([]string{"ls-tree", "-r", "-z", "--name-only", revision, "--"}, p.Paths...)...)
	if err != nil {
		return nil, err
	}
	var pins []pin
	for _, name := range strings.FieldsFunc(string(names), func(r rune) bool { return r == 0 }) {
		if !source(name) && !slices.Contains(p.Paths, name) {
			continue
		}
		text, err := l.git(ctx, store, "cat-file", "blob", revision+":"+name)
		if err != nil {
			return nil, err
		}
		pins = append(pins, pin{p.Repository, revision, name, hashOf(text)})
	}
	if len(pins) < len(p.Paths) {
		return nil, errors.New("not all of its paths are in the repository")
	}
	return pins, nil
}

// source says that a file of a folder may be needed to run a program: text, not pictures or notes.
func source(name string) bool {
	return slices.Contains([]string{".py", ".yaml", ".json", ".toml", ".csv"}, filepath.Ext(name))
}

// pinsOfPackage are the pins of an installed package's files, with its version as their revision.
func pinsOfPackage(ctx context.Context, python string, p *program) ([]pin, error) {
	code := "import sys, sysconfig, importlib.metadata as m; print(m.version(sys.argv[1])); print(sysconfig.get_path('purelib'))"
	out, err := exec.CommandContext(ctx, python, "-c", code, p.Package).Output()
	if err != nil {
		return nil, fmt.Errorf("is the package %s installed: %w", p.Package, err)
	}
	version, folder, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	var pins []pin
	for _, name := range p.Paths {
		text, err := fs.ReadFile(os.DirFS(folder), name)
		if err != nil {
			return nil, err
		}
		pins = append(pins, pin{p.Repository, p.Package + "==" + version, name, hashOf(text)})
	}
	return pins, nil
}
