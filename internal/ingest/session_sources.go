package ingest

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// maxLibrarySources is how many files of libraries are kept, the most sampled first; the user's own are all kept.
const maxLibrarySources = 30

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
	for _, t := range s.Traces {
		stackFiles(s, t, weight)
	}
	paths := slices.SortedFunc(maps.Keys(weight), func(a, b string) int {
		return cmp.Or(cmp.Compare(weight[b], weight[a]), strings.Compare(a, b))
	})
	libraries := 0
	return slices.DeleteFunc(paths, func(path string) bool {
		if !filepath.IsAbs(path) {
			return true
		}
		if !libraryPath(path) {
			return false
		}
		libraries++
		return libraries > maxLibrarySources
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
	for i := range t.Events.OpDetails {
		stack := t.Events.OpDetails[i].Stack
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
	return strings.Contains(slashed, "/site-packages/") || strings.Contains(slashed, "/dist-packages/") || strings.Contains(slashed, "/lib/python")
}
