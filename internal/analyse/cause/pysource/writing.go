package pysource

import (
	"regexp"
	"slices"
	"strings"
)

var (
	// appended matches a tensor to which a statement appends: x = torch.cat([x, …], …).
	appended  = regexp.MustCompile(`^((?:\w+\.)*\w+)\s*=\s*(?:torch\.)?(?:cat|concat|concatenate|hstack)\(\s*(?:tensors\s*=\s*)?[\[(]\s*((?:\w+\.)*\w+)\s*,`)
	keepsKeys = regexp.MustCompile(`(?i)cache|past|\bkv|keys|hidden|state`)
)

// WritesFromAll says that the statement of a line stands in a loop that appends to a tensor in each turn, and works on all of that tensor,
// or on its end: a text that is computed whole for each token. Loops that keep something for the next turn are none.
func WritesFromAll(source []string, line int32) bool {
	if !slices.ContainsFunc(source, func(text string) bool {
		return strings.Contains(text, "cat(") || strings.Contains(text, "stack(") ||
			strings.Contains(text, "concat")
	}) {
		return false
	}
	at, body := loopAt(source, line)
	grown := ""
	for i := range body {
		if m := appended.FindStringSubmatch(body[i].text); m != nil && m[1] == m[2] {
			grown = m[1]
		}
		if keepsKeys.MatchString(body[i].text) {
			return false
		}
	}
	if grown == "" {
		return false
	}
	names := []string{grown}
	for i := range body {
		var st Statement
		st.read(body[i].text)
		uses := usesAny(st.Uses, names)
		if body[i].at == at.at {
			return uses
		}
		if uses {
			names = append(names, st.Defines...)
		}
	}
	return false
}

// GivenAlike is the first name that a line's call of a model is given and that stays the same in each turn of the loop around it, beside
// what grows; "" where all that it is given grows or changes.
func GivenAlike(source []string, line int32) string {
	at, body := loopAt(source, line)
	given, ok := argumentsOf(at.text, "forward") // of the one call, whatever it calls
	if !ok || len(given) < 2 {
		return ""
	}
	var changed []string
	for i := range body {
		changed = append(changed, definedIn(body[i].text)...)
	}
	for _, name := range given {
		if plainName.MatchString(name) && !slices.Contains(changed, name) {
			return name
		}
	}
	return ""
}

var plainName = regexp.MustCompile(`^[A-Za-z_]\w*$`)
