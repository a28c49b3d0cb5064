package cli

import (
	"context"
	_ "embed"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"bottleneck/internal/record"
)

//go:embed py/states.py
var statesProgram string

// keepSaved copies what a run of a side has saved, before the next run writes over it.
func (r *repeater) keepSaved(v *variant, once *ranOnce) error {
	for _, name := range v.saved {
		from, err := os.Open(absoluteIn(v.dir, name))
		if err != nil {
			return fmt.Errorf("the run left no %s to compare: %w", name, cause(err))
		}
		defer from.Close()
		path := strings.TrimSuffix(once.stdout, ".out") + "-" + filepath.Base(name)
		to, err := os.OpenFile(path, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, record.FileMode)
		if err != nil {
			return cause(err)
		}
		_, err = io.Copy(to, from)
		if closed := to.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return fmt.Errorf("keep %s: %w", name, cause(err))
		}
		once.saved = append(once.saved, path)
	}
	return nil
}

// statesDiffer says how a saved state dict of the changed program differs from the original's, "" where it does not.
func statesDiffer(ctx context.Context, python string, originals []string, after string) (string, error) {
	cmd := exec.CommandContext(ctx, python, append(append([]string{"-c", statesProgram}, originals...), after)...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		lines := strings.Split(strings.TrimSpace(stderr.String()), "\n")
		return "", fmt.Errorf("%s cannot be compared: %s", filepath.Base(originals[0]), lines[len(lines)-1])
	}
	return strings.TrimSpace(string(out)), nil
}
