package pysource

import (
	"regexp"
	"strings"
)

var (
	// goesOn matches calls whose answer hangs on the calls before, or is there to be written into.
	goesOn = regexp.MustCompile(`(?:^|[^\w.])(?:next|iter|input|open|list|dict|set|print)\(|\b(?:zeros|ones|empty|full|deepcopy|copy)(?:_like)?\(|` +
		`\.(?:get|get_nowait|recv|read|readlines?|acquire|wait|poll)\(`)
	// drawnBy matches calls of functions that give something else each time; a class is what it is built from.
	drawnBy = regexp.MustCompile(`\b(?:[a-z_]\w*\.)*[a-z_]*(?:rand|normal|bernoulli|multinomial|shuffle|sample|choice|poisson|uniform|seed|time|` +
		`perf_counter|monotonic)\w*\(`)
	// opened splits what a with statement enters from the name that it gets.
	opened = regexp.MustCompile(`^with\s+(.*?)(?:\s+as\s+\w+)?:$`)
)

// AlikeEachCall says that the statement of a line gives the same in each call of its function: it calls functions and classes of what is
// around the function with constants, with attributes that only __init__ sets, and with what the function makes of such. A statement that
// calls nothing, or a method of an object, is not meant. Where the text leaves a doubt it does not.
func (r *Reader) AlikeEachCall(at At) bool {
	w, here, ok := r.worldAt(&at)
	if !ok || w.own < 0 {
		return false
	}
	w.inStep, w.given = true, map[string]bool{} // no weight is asked about
	for _, parameter := range parametersOf(w.all[w.own].text) {
		if parameter != "self" && parameter != "cls" {
			w.given[parameter] = false
		}
	}
	text := w.all[here].text
	if m := assigned.FindStringSubmatch(text); m != nil && unclosed(m[1]) == 0 {
		text = m[3]
	} else if m := opened.FindStringSubmatch(text); m != nil {
		text = m[1]
	}
	if notPure.MatchString(text) || branch.MatchString(text) || goesOn.MatchString(text) || drawnBy.MatchString(text) {
		return false
	}
	names := w.until(here)
	calls := false
	for _, name := range namesIn(keyword.ReplaceAllString(strings.TrimPrefix(text, "return "), " $1")) {
		if called, is := strings.CutSuffix(name, "("); is {
			root, method, dotted := strings.Cut(called, ".")
			if dotted && !w.imports[root] && !pure[method] {
				return false
			}
			calls = true
		}
		if !w.cleanName(name, names) {
			return false
		}
	}
	return calls
}
