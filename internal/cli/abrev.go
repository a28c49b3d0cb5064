package cli

import (
	"bottleneck/internal/compare"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// worktree is a git revision beside the user's working tree, in a folder of its own. The user's files, index and branches stay as they are.
type worktree struct {
	rev    string
	top    string // of the working tree
	below  string // the working directory, from there
	folder string // that is removed
	path   string // of the revision, in it
	links  []string
}

// checkOut makes a temporary worktree of a revision.
func checkOut(ctx context.Context, rev string) (*worktree, error) {
	top, err := git(ctx, "", "rev-parse", "--show-toplevel")
	if err != nil {
		return nil, usage("--rev: %v", err)
	}
	commit, err := git(ctx, "", "rev-parse", "--verify", "--quiet", "--end-of-options", rev+"^{commit}")
	if err != nil {
		return nil, usage("--rev: git knows no revision %q here", rev)
	}
	cwd, err := os.Getwd()
	if err == nil {
		cwd, err = filepath.EvalSymlinks(cwd)
	}
	w := &worktree{rev: rev, top: top}
	if err == nil {
		w.below, err = filepath.Rel(top, cwd)
	}
	if err == nil {
		w.folder, err = os.MkdirTemp("", "bottleneck-rev-")
	}
	if err != nil {
		return nil, unusable(fmt.Errorf("--rev: %w", err))
	}
	w.path = filepath.Join(w.folder, filepath.Base(top))
	if _, err := git(ctx, top, "-c", "core.hooksPath=/dev/null", "worktree", "add", "--quiet", "--detach", w.path, commit); err != nil {
		w.undo()
		return nil, unusable(fmt.Errorf("--rev: %w", err))
	}
	if info, err := os.Stat(filepath.Join(w.path, w.below)); err != nil || !info.IsDir() {
		w.undo()
		return nil, unusable(fmt.Errorf("--rev: %s has no folder %s", rev, w.below))
	}
	w.linkIgnored(ctx)
	return w, nil
}

// notLinked are ignored files that belong to the one tree: what Python or a build made of its sources.
var notLinked = []string{"__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "bottleneck-out", "build", "dist"}

// linkIgnored lets the revision see the working tree's ignored files, such as data: what is in git is the revision's, everything else is
// the
// same for both. Nothing is changed where that fails: the program says what it lacks.
func (w *worktree) linkIgnored(ctx context.Context) {
	list, err := git(ctx, w.top, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
	if err != nil {
		return
	}
	for _, name := range strings.Split(list, "\x00") {
		name = filepath.Clean(filepath.FromSlash(name))
		base := filepath.Base(name)
		if !filepath.IsLocal(name) || name == "." || slices.Contains(notLinked, base) || strings.HasSuffix(base, ".pyc") ||
			strings.HasSuffix(base, ".egg-info") {
			continue
		}
		link := filepath.Join(w.path, name)
		if os.MkdirAll(filepath.Dir(link), 0o700) == nil && os.Symlink(filepath.Join(w.top, name), link) == nil {
			w.links = append(w.links, link)
		}
	}
}

// remove takes the worktree away, also after Ctrl-C.
func (w *worktree) remove(a *app) {
	if err := w.undo(); err != nil {
		a.warn("the temporary worktree is left: %v; remove it by: git worktree remove --force %s", err, w.path)
	}
}

// undo is remove without words. Links go first, so that nothing behind them can.
func (w *worktree) undo() error {
	for _, link := range w.links {
		if err := os.Remove(link); err != nil {
			return cause(err)
		}
	}
	_, err := git(context.Background(), w.top, "worktree", "remove", "--force", w.path)
	if rm := os.RemoveAll(w.folder); err == nil {
		err = rm
	}
	_, _ = git(context.Background(), w.top, "worktree", "prune")
	return err
}

// variants are the command at the revision and in the working tree. Arguments that name files of the working tree name the revision's
// there.
func (w *worktree) variants(command []string) ([2]variant, error) {
	if program := command[0]; strings.ContainsRune(program, filepath.Separator) && !filepath.IsAbs(program) {
		if _, err := os.Stat(filepath.Join(w.path, w.below, program)); err != nil { // an interpreter that is not in git
			if whole, err := filepath.Abs(program); err == nil {
				command = append([]string{whole}, command[1:]...)
			}
		}
	}
	then := slices.Clone(command)
	for i := range then {
		then[i] = w.moved(then[i])
	}
	before := variant{name: "a", target: targetOf(then), dir: filepath.Join(w.path, w.below), check: w.ownSources}
	if path := os.Getenv("PYTHONPATH"); path != "" {
		parts := filepath.SplitList(path)
		for i := range parts {
			parts[i] = w.moved(parts[i])
		}
		before.environment = []string{"PYTHONPATH=" + strings.Join(parts, string(os.PathListSeparator))}
	}
	return [2]variant{before, {name: "b", target: targetOf(command)}}, nil
}

// moved is an absolute path of the working tree as the revision's, where that has it; other texts stay.
func (w *worktree) moved(text string) string {
	below, err := filepath.Rel(w.top, text)
	if !filepath.IsAbs(text) || err != nil || !filepath.IsLocal(below) {
		return text
	}
	there := filepath.Join(w.path, below)
	if info, err := os.Lstat(there); err != nil || info.Mode()&os.ModeSymlink != 0 {
		return text
	}
	return there
}

// ownSources asks that the revision's run imported nothing from the working tree, as it does where the package is installed as editable.
func (w *worktree) ownSources(run compare.Run) error {
	for file := range run.Sources {
		below, err := filepath.Rel(w.top, filepath.FromSlash(file))
		if err != nil || !filepath.IsLocal(below) || strings.Contains(file, "site-packages") || strings.Contains(file, "dist-packages") {
			continue
		}
		return unusable(fmt.Errorf("the run of %s imported %s from the working tree, so that both sides would run the same code: "+
			"put the revision's own folder on PYTHONPATH in the command (env PYTHONPATH=src python …), since the package is installed as "+
			"editable", w.rev, below))
	}
	return nil
}

// git runs git and gives what it prints; its own words are the error.
func git(ctx context.Context, dir string, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Dir = dir
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		if text := strings.TrimSpace(stderr.String()); text != "" {
			return "", fmt.Errorf("git: %s", strings.TrimPrefix(text, "fatal: "))
		}
		return "", fmt.Errorf("git: %w", err)
	}
	return strings.TrimRight(string(out), "\n"), nil
}
