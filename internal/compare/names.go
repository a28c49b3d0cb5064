package compare

import (
	"bottleneck/internal/report"
	"path"
	"regexp"
	"strings"
)

// tuned are the words of kernels' names that a tuner or a compiler chooses anew: tiles, stages, layouts, numbers of generated kernels.
var tuned = regexp.MustCompile(`(?i)^(\d+(x\d+)*|[nt]{1,2}|(tilesize|stages?|warpsize|warpgroupsize|warps?|sliced|splitk?|ldg|align[a-d]?|alignment|tensor|cluster)\d[\dx]*|warpspecialized|pingpong|cooperative)$`)

// kernelName is a kernel's name without its tuning parameters.
func kernelName(name string) string {
	short := report.ShortKernel(name)
	var words []string
	for word := range strings.SplitSeq(short, "_") {
		if !tuned.MatchString(word) {
			words = append(words, word)
		}
	}
	if joined := strings.Join(words, "_"); strings.Trim(joined, "_") != "" {
		return joined
	}
	return short
}

// libraryPath is a file of Python or of an installed package without where it is installed; ok is false for others.
func libraryPath(file string) (short string, ok bool) {
	file = strings.ReplaceAll(file, `\`, "/")
	for _, folder := range []string{"/site-packages/", "/dist-packages/"} {
		if at := strings.LastIndex(file, folder); at >= 0 {
			return file[at+len(folder):], true
		}
	}
	if at := strings.LastIndex(file, "/lib/python3"); at >= 0 {
		_, rest, _ := strings.Cut(file[at+len("/lib/"):], "/")
		return rest, true
	}
	if strings.HasPrefix(file, "<frozen ") || file == "~" || file == "" {
		return file, true
	}
	return file, false
}

// lastName is a qualified name's own part.
func lastName(name string) string {
	name = name[strings.LastIndexByte(name, '.')+1:]
	return name
}

// shortPlace is a place with its file's base name.
func shortPlace(p *report.Place) string {
	if p == nil {
		return ""
	}
	return path.Base(strings.ReplaceAll(p.File, `\`, "/")) + ":" + itoa(p.Line)
}
