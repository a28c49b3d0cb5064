package pysource

import (
	"slices"
	"strings"
)

// Reader reads each file once.
type Reader struct{ units map[*string]*unit } // by a source's first line

// unitOf is a file's.
func (r *Reader) unitOf(source []string) *unit {
	if len(source) == 0 {
		return unitOf(nil)
	}
	u := r.units[&source[0]]
	if u == nil {
		if r.units == nil {
			r.units = map[*string]*unit{}
		}
		u = unitOf(source)
		r.units[&source[0]] = u
	}
	return u
}

// unit is a file, with what its statements define.
type unit struct {
	keepReader
	imports map[string]bool
	defines [][]string // by statement: the names that it gives values to, or whose objects it may change
	changes []string   // by statement: the name whose object it changes in place, "" for none
	same    [][]string // by statement: names that stand for one object, or for a view of it; nil for none
	within  []int      // by statement: the head of the function around it, -1 for none
	learns  [][]string // by statement: names that stand for what is learned in it; nil for none

	heads map[string]int // of the file's functions, by name
	pures map[askedPure]bool
}

// askedPure is a question about a function of the file that was answered: what it gives does not depend on who asks, but on how deep.
type askedPure struct {
	name  string
	depth int
}

func unitOf(source []string) *unit {
	u := &unit{
		keepReader: keepReader{all: statementsOf(source)}, imports: map[string]bool{}, heads: map[string]int{}, pures: map[askedPure]bool{},
	}
	for i := range u.all {
		u.within, u.learns = append(u.within, u.around(i, defLine)), append(u.learns, learnsIn(u.all[i].text))
		if m := defLine.FindStringSubmatch(u.all[i].text); m != nil && u.all[i].indent == 0 {
			if _, twice := u.heads[m[1]]; !twice {
				u.heads[m[1]] = i
			}
		}
		if importLine.MatchString(u.all[i].text) {
			for _, name := range words.FindAllString(u.all[i].text, -1) {
				u.imports[name] = true
			}
		}
	}
	u.defines, u.changes, u.same = make([][]string, len(u.all)), make([]string, len(u.all)), make([][]string, len(u.all))
	for i := range u.all {
		text := u.all[i].text
		if m := inPlace.FindStringSubmatch(text); m != nil {
			u.changes[i] = m[1]
		}
		if m := gives.FindStringSubmatch(text); m != nil && isView.MatchString(m[2]) {
			u.same[i] = append(namesIn(isView.FindStringSubmatch(m[2])[1]), m[1])
		}
	}
	for i := range u.all {
		u.defines[i] = append(u.defined(u.all[i].text), u.handsOver(u.all[i].text)...)
	}
	return u
}

// alsoChanged are the other names of objects that statements change in place.
func (u *unit) alsoChanged(from, to int) []string {
	var out []string
	for i := from; i < to; i++ {
		if u.changes[i] == "" {
			continue
		}
		group := []string{u.changes[i]}
		for grown := true; grown; {
			grown = false
			for _, same := range u.same {
				if !slices.ContainsFunc(same, func(name string) bool { return slices.Contains(group, name) }) {
					continue
				}
				for _, name := range same {
					if !slices.Contains(group, name) {
						group, grown = append(group, name), true
					}
				}
			}
		}
		out = append(out, group[1:]...)
	}
	return out
}

// defined are the names that a statement gives values to, and those of which it calls methods, which may change them.
func (u *unit) defined(text string) []string {
	if defLine.MatchString(text) {
		return nil
	}
	out := definedIn(text)
	if m := loopHead.FindStringSubmatch(strings.TrimSuffix(text, ":")); m != nil && !rangeHead.MatchString(text) {
		for _, name := range namesIn(m[2]) { // what a loop goes through may go on by itself
			if !strings.HasSuffix(name, "(") && !u.imports[name] {
				out = append(out, name)
			}
		}
	}
	for _, m := range called.FindAllStringSubmatchIndex(text, -1) {
		if name := text[m[4]:m[5]]; m[2] < m[3] && !pure[name] && !asks.MatchString(name) {
			on := dottedEnd.FindString(text[:m[2]])
			if root, _, _ := strings.Cut(on, "."); on != "" && on != "self" && !u.imports[root] {
				out = append(out, on)
			}
		}
	}
	return out
}

// handsOver are the names of what a statement that is only a call hands to a function that may change it: one that is not of the file, or
// that changes a parameter.
func (u *unit) handsOver(text string) []string {
	m := bareCall.FindStringSubmatch(text)
	if m == nil || pure[m[1]] || m[1] == "print" || compound.MatchString(text) {
		return nil
	}
	head := u.function(m[1])
	var parameters []string
	if head >= 0 {
		parameters = parametersOf(u.all[head].text)
	}
	var out []string
	for i, argument := range splitArguments(m[2]) {
		if head >= 0 && i < len(parameters) && !assigned.MatchString(argument) && !u.changesIn(head, parameters[i]) {
			continue
		}
		for _, name := range namesIn(argument) {
			if !strings.HasSuffix(name, "(") && !u.imports[name] {
				out = append(out, name)
			}
		}
	}
	return out
}

// changesIn says that a function may change a parameter's object.
func (u *unit) changesIn(head int, parameter string) bool {
	for i := head + 1; i < u.end(head); i++ {
		text := u.all[i].text
		if u.changes[i] == parameter || slices.Contains(u.defined(text)[len(definedIn(text)):], parameter) {
			return true
		}
	}
	return false
}

// function is the head of a function of the file, -1 for none.
func (u *unit) function(name string) int {
	if head, ok := u.heads[name]; ok {
		return head
	}
	return -1
}

// parametersOf are the names of a function's parameters.
func parametersOf(head string) []string {
	open, end := strings.IndexByte(head, '('), strings.LastIndexByte(head, ')')
	if open < 0 || end < open {
		return nil
	}
	var out []string
	for _, part := range splitArguments(head[open+1 : end]) {
		if name := words.FindString(part); name != "" && !strings.HasPrefix(part, "*") {
			out = append(out, name)
		}
	}
	return out
}

// argumentsOf are what a statement hands to a function of that name or, of forward, to the only object that it calls which is no
// function of PyTorch's.
func argumentsOf(text, name string) ([]string, bool) {
	var found [][]string
	for _, m := range called.FindAllStringSubmatchIndex(text, -1) {
		own := text[m[4]:m[5]]
		if own != name && (name != "forward" || pure[own]) {
			continue
		}
		rest, open := text[m[1]:], 1
		for i, r := range rest {
			if open += unclosed(string(r)); open == 0 {
				found = append(found, splitArguments(rest[:i]))
				break
			}
		}
	}
	if len(found) == 0 {
		return nil, false
	}
	if name == "forward" { // the innermost of nested calls ran last or first: which one is not known
		for _, other := range found[1:] {
			if !slices.Equal(other, found[0]) {
				return nil, false
			}
		}
	}
	return found[0], len(found) == 1
}

// splitArguments cuts a text at the commas outside of brackets.
func splitArguments(text string) []string {
	var out []string
	open, from := 0, 0
	for i, r := range text {
		switch open += unclosed(string(r)); {
		case r == ',' && open == 0:
			out, from = append(out, strings.TrimSpace(text[from:i])), i+1
		}
	}
	if last := strings.TrimSpace(text[from:]); last != "" {
		out = append(out, last)
	}
	return out
}
