package rerun

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// LeaveWorkingDirectory is the first line of a program that is given to Python by -c: no file of the working directory stands in for a
// module. (-P does the same from 3.11 on; -I would leave out what the user has installed for himself, too.)
const LeaveWorkingDirectory = "import sys; sys.path[:] = [entry for entry in sys.path if entry]\n"

// Apart is env without the entries of PYTHONPATH that are, or are found from, the working directory: Python would import what it
// needs for its own start from there.
func Apart(env []string) []string {
	const name = "PYTHONPATH="
	here, _ := os.Getwd()
	out := slices.Clone(env)
	for i, entry := range out {
		value, ok := strings.CutPrefix(entry, name)
		if !ok {
			continue
		}
		kept := slices.DeleteFunc(filepath.SplitList(value), func(dir string) bool {
			return !filepath.IsAbs(dir) || filepath.Clean(dir) == here
		})
		out[i] = name + strings.Join(kept, string(filepath.ListSeparator))
	}
	return out
}
