package cli

import "runtime/debug"

// version is set by the linker in releases.
var version = ""

// Version is the tool's version: a release's, else the commit that it was built from, else "devel".
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	commit, changed := "", ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			commit = s.Value
		case "vcs.modified":
			if s.Value == "true" {
				changed = "+"
			}
		}
	}
	if len(commit) < 12 {
		return "devel"
	}
	return "devel-" + commit[:12] + changed
}
