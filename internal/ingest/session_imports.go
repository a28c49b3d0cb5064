package ingest

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// importLine is a statement that imports modules: "import a.b as c, d" or "from .a import b, c".
var importLine = regexp.MustCompile(`^\s*(?:from\s+(\.*[\w.]*)\s+import\s+\(?\s*(.*)|import\s+(.*))$`)

// maxAbove is how many folders above a file its absolute imports are looked for in: the one of the script that runs is among them.
const maxAbove = 5

// ImportedSources lists the user's modules that the kept texts of s import and that are not kept themselves: settings and the like,
// which no sample meets. A module is a file beside the one that imports it, or below one of the folders above.
func ImportedSources(s *model.Session) []string {
	seen := map[string]bool{}
	for path, source := range s.Sources {
		if !filepath.IsAbs(path) || libraryPath(path) || agentPath(path) {
			continue
		}
		for _, line := range source.Lines {
			if m := importLine.FindStringSubmatch(line); m != nil {
				for _, file := range importedFiles(filepath.Dir(path), m[1], m[2], m[3]) {
					seen[file] = seen[file] || s.Sources[file] == nil
				}
			}
		}
	}
	var out []string
	for file, missing := range seen {
		if missing {
			out = append(out, file)
		}
	}
	slices.Sort(out)
	return out
}

// importedFiles are the files that exist of what a statement in a file of folder imports: from (with leading dots where it is relative)
// and names, or plain modules.
func importedFiles(folder, from, names, plain string) (out []string) {
	base := func(module string) []string { // the folders that a module's name starts from
		if dots := len(module) - len(strings.TrimLeft(module, ".")); dots > 0 {
			at := folder
			for range dots - 1 {
				at = filepath.Dir(at)
			}
			return []string{at}
		}
		var list []string
		for at := folder; len(list) <= maxAbove && at != filepath.Dir(at); at = filepath.Dir(at) {
			list = append(list, at)
		}
		return list
	}
	add := func(module string, more ...string) {
		for _, at := range base(module) {
			stem := filepath.Join(append([]string{at}, append(strings.Split(strings.TrimLeft(module, "."), "."), more...)...)...)
			for _, file := range []string{stem + ".py", filepath.Join(stem, "__init__.py")} {
				if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && !libraryPath(file) {
					out = append(out, file)
					return
				}
			}
		}
	}
	if from != "" {
		add(from)
		for name := range strings.SplitSeq(names, ",") {
			if name = firstWord(name); name != "" && name != "*" {
				add(from, name)
			}
		}
	}
	for module := range strings.SplitSeq(plain, ",") {
		if module = firstWord(module); module != "" {
			add(module)
		}
	}
	return out
}

// firstWord is a name without what follows it, such as "as other" or a comment.
func firstWord(s string) string {
	if words := strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune(" \t()#;\\", r) }); len(words) > 0 {
		return words[0]
	}
	return ""
}
