package cause

import (
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse/cause/finding"
)

// withOptions sets arguments of a call that is given a dictionary of them (**options) in the file's only dictionary that names the first
// one: the line at an index becomes changed. ok is false where the call is given none, where several lines name an argument or its value is
// no number, name or truth value, or where nothing changes.
func withOptions(lines []string, line int, call string, args []finding.Argument) (at int, changed string, ok bool) {
	text := strings.Join(lines[line:min(line+callLines, len(lines))], "\n")
	begin := callIn(text, call)
	if begin < 0 || len(args) == 0 {
		return 0, "", false
	}
	given, ok := givenArguments(text, begin)
	if !ok || !slices.ContainsFunc(given, func(g givenArgument) bool { return strings.HasPrefix(text[g.value:], "**") }) ||
		slices.ContainsFunc(given, func(g givenArgument) bool { return g.name == args[0].Name }) {
		return 0, "", false
	}
	at, value, ok := entry(lines, args[0].Name)
	if !ok {
		return 0, "", false
	}
	set := args[0].Value
	for _, a := range args[1:] {
		if slices.ContainsFunc(given, func(g givenArgument) bool { return g.name == a.Name }) {
			continue
		}
		k, has, known := entry(lines, a.Name)
		switch {
		case !known && k >= 0, known && lines[k][has[0]:has[1]] != a.Value:
			return 0, "", false
		case !known:
			set += ", '" + a.Name + "': " + a.Value
		}
	}
	changed = lines[at][:value[0]] + set + lines[at][value[1]:]
	return at, changed, changed != lines[at]
}

// entry is the only line that names a key of a dictionary, and where its value stands; ok is false where it has no plain value, and at is
// -1 where no line names the key.
func entry(lines []string, key string) (at int, value []int, ok bool) {
	at = -1
	names := regexp.MustCompile(`['"]` + key + `['"]`)
	plain := regexp.MustCompile(names.String() + `\s*:\s*(\w+)\s*(?:[,}#]|$)`)
	for i, line := range lines {
		m := plain.FindStringSubmatchIndex(line)
		switch {
		case !names.MatchString(line):
		case m == nil || at >= 0:
			return i, nil, false
		default:
			at, value = i, m[2:4]
		}
	}
	return at, value, at >= 0
}
