// Command pgo makes the profile by which the compiler chooses what to inline (cmd/bottleneck/default.pgo) of CPU profiles of
// Go programs. Functions, lines and weights are all that the compiler reads, so the names of files and of the machine's
// folders are left out. It does not record: `make pgo` does.
//
//	go run ./bench/pgo CPU-PROFILE... > cmd/bottleneck/default.pgo
package main

import (
	"fmt"
	"os"

	"github.com/google/pprof/profile"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(paths []string) error {
	var list []*profile.Profile
	for _, path := range paths {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		p, err := profile.Parse(f)
		f.Close()
		if err != nil {
			return fmt.Errorf("reading %s: %w", path, err)
		}
		list = append(list, p)
	}
	merged, err := profile.Merge(list)
	if err != nil {
		return fmt.Errorf("merging %v: %w", paths, err)
	}
	merged.Comments, merged.TimeNanos, merged.DurationNanos = nil, 0, 0
	for _, f := range merged.Function {
		f.Filename = ""
	}
	for _, m := range merged.Mapping {
		m.File, m.BuildID = "", ""
	}
	if err := merged.Write(os.Stdout); err != nil {
		return fmt.Errorf("writing the profile: %w", err)
	}
	return nil
}
