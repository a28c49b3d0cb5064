package view

import (
	"cmp"
	"maps"
	"path"
	"slices"
	"strings"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
	"bottleneck/internal/report"
)

// maxNearest is how many other files an answer names.
const maxNearest = 5

// SourceFile finds the file of a session that name means: a path as frames name it, or the end of one ("data.py",
// "pkg/data.py"). Where it means none or several, found is "" and near lists the ones it means, else those with samples
// whose names are nearest, most sampled first.
func SourceFile(s *model.Session, name string, choice report.SampleChoice) (found string, near []string) {
	weight := map[string]float64{}
	for file := range s.Sources {
		weight[file] = 0
	}
	for file, ns := range report.SumSamples(s, choice).Files {
		weight[s.Strings.Text(file)] += ns
	}
	if _, exact := weight[name]; exact {
		return name, nil
	}
	files := slices.SortedFunc(maps.Keys(weight), func(a, b string) int {
		return cmp.Or(cmp.Compare(weight[b], weight[a]), strings.Compare(a, b))
	})
	end := "/" + strings.TrimLeft(path.Clean(strings.ReplaceAll(name, `\`, "/")), "./")
	matches := slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		return !strings.HasSuffix("/"+strings.ReplaceAll(file, `\`, "/"), end)
	})
	// The program's own file is meant before a library's of the same name: server.py before http/server.py.
	if own := slices.DeleteFunc(slices.Clone(matches), func(file string) bool {
		return code.ClassifyFile(file) != code.FileUser || weight[file] == 0
	}); len(own) == 1 {
		return own[0], nil
	}
	sampled := 0
	for sampled < len(matches) && weight[matches[sampled]] > 0 {
		sampled++
	}
	switch {
	case len(matches) == 1 || sampled == 1:
		return matches[0], nil
	case len(matches) > 1:
		return "", matches[:min(len(matches), maxNearest)]
	}
	return "", nearestFiles(path.Base(end), files, weight)
}

// maxAlike is how many of these are named for their likeness; the others have the most samples.
const maxAlike = 3

// nearestFiles are the sampled files whose base names differ least from name, where they have something in common with
// it, and then those with most time. files are in the order of their time.
func nearestFiles(name string, files []string, weight map[string]float64) []string {
	files = slices.DeleteFunc(files, func(file string) bool { return weight[file] == 0 || strings.HasPrefix(file, "<") })
	name = strings.TrimSuffix(name, ".py")
	distance, unlike := map[string]int{}, map[string]bool{}
	for _, file := range files {
		distance[file], unlike[file] = nameDistance(name, strings.TrimSuffix(path.Base(file), ".py"))
	}
	alike := slices.DeleteFunc(slices.Clone(files), func(file string) bool { return unlike[file] })
	slices.SortStableFunc(alike, func(a, b string) int { return cmp.Compare(distance[a], distance[b]) })
	alike = alike[:min(len(alike), maxAlike)]
	for _, file := range files {
		if len(alike) < maxNearest && !slices.Contains(alike, file) {
			alike = append(alike, file)
		}
	}
	return alike
}

// nameDistance is how many pairs of neighbouring characters one name has and the other lacks: 0 for equal names. unlike
// says that they share none.
func nameDistance(a, b string) (distance int, unlike bool) {
	pairs := map[string]int{}
	for i := range len(a) - 1 {
		pairs[strings.ToLower(a[i:i+2])]++
	}
	for i := range len(b) - 1 {
		pairs[strings.ToLower(b[i:i+2])]--
	}
	sum := 0
	for _, n := range pairs {
		sum += max(n, -n)
	}
	return sum, sum > 0 && sum >= len(a)+len(b)-2
}
