package ingest

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// How many files of libraries are kept, the most sampled first; the user's own are all kept. Packages other than PyTorch may be what
// trains.
const (
	maxLibrarySources = 8
	maxPackageSources = 16
)

// SourcePaths lists the program texts that a report of s may show: every file of the user's that was sampled or named by
// a span, a DataLoader or an operator's stack, and of libraries those that were sampled most. Most sampled first.
func SourcePaths(s *model.Session) []string {
	weight := map[string]int64{}
	for _, p := range s.Processes {
		sampledFiles(s, &p.Samples, weight)
		for i := range p.Spans {
			mentionFile(s, p.Spans[i].File, weight)
		}
		for i := range p.Loaders {
			mentionFile(s, p.Loaders[i].File, weight)
		}
	}
	for _, c := range s.Calls {
		for i := range c.Lines {
			weight[c.Lines[i].File]++
		}
	}
	for _, t := range s.Traces {
		stackFiles(s, t, weight)
	}
	paths := slices.SortedFunc(maps.Keys(weight), func(a, b string) int {
		return cmp.Or(cmp.Compare(weight[b], weight[a]), strings.Compare(a, b))
	})
	libraries, packages := 0, 0
	return slices.DeleteFunc(paths, func(path string) bool {
		if !filepath.IsAbs(path) || agentPath(path) {
			return true
		}
		if !libraryPath(path) {
			return false
		}
		if slashed := filepath.ToSlash(path); strings.Contains(slashed, "-packages/") && !strings.Contains(slashed, "-packages/torch/") {
			packages++
			return packages > maxPackageSources || weight[path] == 0
		}
		libraries++
		return libraries > maxLibrarySources || weight[path] == 0
	})
}

// sampledFiles counts, for each file, the samples in whose stack it is innermost, and mentions the rest.
func sampledFiles(s *model.Session, samples *model.Samples, weight map[string]int64) {
	counts := make([]int64, len(samples.Stacks.Frame))
	for _, id := range samples.Stack {
		if id >= 0 && int(id) < len(counts) {
			counts[id]++
		}
	}
	for id, n := range counts {
		frame := samples.Stacks.Frame[id]
		if int(frame) < 0 || int(frame) >= len(samples.Stacks.Frames) {
			continue
		}
		weight[s.Strings.Text(samples.Stacks.Frames[frame].File)] += n
	}
}

func mentionFile(s *model.Session, file model.Str, weight map[string]int64) {
	if file != 0 {
		weight[s.Strings.Text(file)]++
	}
}

// stackFiles mentions the files of operators' stacks ("file(line): function;…"), each distinct stack once.
func stackFiles(s *model.Session, t *model.Trace, weight map[string]int64) {
	seen := map[model.Str]bool{}
	for i := range t.Events.OpArgs {
		stack := t.Events.OpArgs[i].Stack
		if stack == 0 || seen[stack] || len(seen) > 10000 {
			continue
		}
		seen[stack] = true
		for frame := range strings.SplitSeq(s.Strings.Text(stack), ";") {
			if file, _, ok := strings.Cut(frame, "("); ok {
				weight[strings.TrimSpace(file)]++
			}
		}
	}
}

// libraryPath says whether a file belongs to the standard library or an installed package.
func libraryPath(path string) bool {
	slashed := filepath.ToSlash(path)
	return strings.Contains(slashed, "/site-packages/") || strings.Contains(slashed, "/dist-packages/") ||
		strings.Contains(slashed, "/lib/python")
}

// agentPath says whether a file is the agent's own.
func agentPath(path string) bool {
	slashed := filepath.ToSlash(path)
	return strings.Contains(slashed, "/_bneck_agent/") || strings.HasSuffix(slashed, "/agent/sitecustomize.py")
}

// cleanPaths rewrites files named with "/./" or "//" (a script started as ./train.py) the way that users write them, and those
// named relative to the folder that their process was started in (the script, before Python 3.9), so that one file has one
// name. "/../" stays: behind a symbolic link it means another place.
func cleanPaths(s *model.Session, processes []*model.Process) {
	type name struct {
		file   model.Str
		folder string
	}
	known := map[name]model.Str{}
	folder := ""
	clean := func(file *model.Str) {
		if *file == 0 {
			return
		}
		key := name{*file, folder}
		to, seen := known[key]
		if !seen {
			to = *file
			text := s.Strings.Text(*file)
			if relativeFile(text) && strings.HasPrefix(folder, "/") {
				text = folder + "/" + text
			}
			if text = cleanPath(text); text != s.Strings.Text(*file) {
				to = s.Strings.Intern(text)
			}
			known[key] = to
		}
		*file = to
	}
	for _, p := range processes {
		folder = p.Folder
		for i := range p.Samples.Stacks.Frames {
			clean(&p.Samples.Stacks.Frames[i].File)
		}
		for i := range p.Spans {
			clean(&p.Spans[i].File)
		}
		for i := range p.Loaders {
			clean(&p.Loaders[i].File)
		}
	}
}

// relativeFile says that a frame's file is named relative to a folder: no text that was never a file ("<string>"), no path of Windows.
func relativeFile(path string) bool {
	return strings.HasSuffix(path, ".py") && !strings.HasPrefix(path, "<") && !strings.HasPrefix(path, "/") &&
		!strings.ContainsAny(path, `:\`)
}

func cleanPath(path string) string {
	if strings.Contains(path, "://") || strings.Contains(path, "<") {
		return path
	}
	for strings.Contains(path, "/./") {
		path = strings.ReplaceAll(path, "/./", "/")
	}
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}
