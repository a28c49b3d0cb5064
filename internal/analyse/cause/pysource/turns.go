package pysource

import (
	"regexp"
	"slices"
	"strings"
)

var (
	forHead     = regexp.MustCompile(`^(?:async\s+)?for\b`)
	comprehends = regexp.MustCompile(`\bfor\b`)
	lastWord    = regexp.MustCompile(`\w*$`)
	boundThere  = regexp.MustCompile(`\bfor\s+(.+?)\s+in\b`)
)

// SameInTurns says that the last of lines, each called from the one before, computes the same at each turn of the innermost loop around it,
// in its function or in one that leads to it, and gives the line of that loop. What it must compute are all calls of functions with such
// names that it makes; where none is asked for, its whole value. The loop turns within a step: none that trains, and not the steps' own,
// which is in the function at the index step or before. Where the text leaves a doubt it does not.
func (r *Reader) SameInTurns(lines []At, step int, names func(string) bool) (loop At, ok bool) {
	for i := len(lines) - 1; i >= max(step, 0); i-- {
		w, here, ok := r.worldAt(&lines[i])
		if !ok {
			return At{}, false
		}
		w.inStep = true
		wanted := names
		if i+1 < len(lines) {
			wanted = calls(lines[i+1].Name)
		}
		known, head, turns := w.inTurn(here, wanted)
		if !turns {
			continue
		}
		if w.loop >= 0 && w.trains(w.loop) || i == step && !w.withinStep(here) {
			return At{}, false
		}
		loop = At{Source: lines[i].Source, Name: lines[i].Name, Line: w.all[head].at}
		return loop, r.sameFrom(lines[i:], w, here, known, names)
	}
	return At{}, false
}

// calls chooses the calls that can be of a function, as argumentsOf does.
func calls(name string) func(string) bool {
	return func(own string) bool { return own == name || name == "forward" && !pure[own] }
}

// sameFrom goes on from the line in the loop, of whose names it is known whether they stay the same, to the last one.
func (r *Reader) sameFrom(lines []At, w world, here int, known map[string]bool, names func(string) bool) bool {
	for i := range lines {
		if i > 0 {
			given := w.handed(w.all[here].text, r, &lines[i], known)
			if _, method := given["self"]; method {
				given["self"] = w.sameObject(w.all[here].text, lines[i].Name, known)
			}
			var ok bool
			if w, here, ok = r.worldAt(&lines[i]); !ok {
				return false
			}
			w.given, w.inStep = given, true
			known = w.until(here)
		}
	}
	text := w.all[here].text
	if names == nil {
		m := assigned.FindStringSubmatch(text)
		whole := strings.HasPrefix(text, "return ") || m != nil && m[2] == "" && unclosed(m[1]) == 0
		return whole && w.clean(text, known)
	}
	found := false
	for _, at := range callsOf(text, names) {
		if found = true; !w.clean(text[at[0]:at[1]], known) {
			return false
		}
	}
	return found
}

// sameObject says that a statement calls a method, by its name, of the same object in each turn: not of one layer after the other.
func (w *world) sameObject(text, name string, known map[string]bool) bool {
	found := callsOf(text, calls(name))
	if len(found) != 1 {
		return false
	}
	on, _, _ := strings.Cut(text[found[0][0]:found[0][1]], "(")
	if name != "forward" {
		var method bool
		if on, method = strings.CutSuffix(on, "."+name); !method {
			return false
		}
	}
	if same, is := known["self"]; on == "self" {
		return same || !is
	}
	return on != "" && on[0] != '.' && !strings.ContainsAny(on, "[]") && w.cleanName(on, known)
}

// inTurn are the names that a turn of the innermost loop around a statement of the function changes or leaves, and the loop's head, which
// is the statement itself where the loop is a comprehension in it; turns is false where there is none.
func (w *world) inTurn(here int, wanted func(string) bool) (known map[string]bool, head int, turns bool) {
	text := w.all[here].text
	if wanted != nil {
		if bound := boundAround(text, wanted); len(bound) > 0 {
			known = map[string]bool{}
			for _, name := range bound {
				known[name] = false
			}
			return known, here, true
		}
	}
	w.eachAround(here, func(i int) {
		if w.loop < 0 && loopLine.MatchString(w.all[i].text) {
			w.loop = i
		}
	})
	if w.loop < 0 {
		return nil, 0, false
	}
	w.carried = w.carriedOver(w.loop)
	return w.until(here), w.loop, true
}

// withinStep says that the function trains at the level of the step, outside of the loop that is asked about: in no loop that is not around
// the statement as well.
func (w *world) withinStep(here int) bool {
	around := func(at int) (heads []int) {
		w.eachAround(at, func(i int) {
			if loopLine.MatchString(w.all[i].text) {
				heads = append(heads, i)
			}
		})
		return heads
	}
	own := around(here)
	for i := w.own + 1; i < w.end; i++ {
		if !trainsHere.MatchString(w.all[i].text) || w.within[i] != w.own {
			continue
		}
		if !slices.ContainsFunc(around(i), func(head int) bool { return !slices.Contains(own, head) }) {
			return true
		}
	}
	return false
}

// carriedOver are the names that a loop uses before it gives them a value in the same turn: one turn hands them to the next.
func (w *world) carriedOver(head int) (out []string) {
	end := w.blockEnd(head)
	given, level := map[string]bool{}, 0
	var st Statement
	st.read(w.all[head].text)
	for _, name := range st.Defines {
		given[name] = true
	}
	changes := func(name string) bool {
		for i := head; i < end; i++ {
			if slices.Contains(w.defines[i], name) {
				return true
			}
		}
		return false
	}
	for i := head + 1; i < end; i++ {
		if i == head+1 {
			level = w.all[i].indent
		}
		st = Statement{}
		st.read(strings.TrimSuffix(w.all[i].text, ":"))
		for _, used := range st.Uses {
			for name := strings.TrimSuffix(used, "("); name != ""; {
				if !given[name] && changes(name) && !slices.Contains(out, name) {
					out = append(out, name)
				}
				dot := strings.LastIndexByte(name, '.')
				name = name[:max(dot, 0)]
			}
		}
		if w.all[i].indent == level {
			for _, name := range st.Defines {
				given[name] = true
			}
		}
	}
	return out
}

// TurnsApart says that the statement of a line stands in a for statement and rests on nothing that a turn of it hands to the next one: what
// it does for one element, it could do for all.
func (r *Reader) TurnsApart(source []string, line int32) bool {
	w, here, ok := r.worldAt(&At{Source: source, Name: r.FunctionAt(source, line), Line: line})
	if !ok {
		return false
	}
	w.given = map[string]bool{}
	_, head, turns := w.inTurn(here, nil)
	return turns && forHead.MatchString(w.all[head].text) && w.apart(head, here)
}

// LoopApart is the line of the innermost loop within a step, or of the comprehension, that a line stands in, 0 where it stands in none, and
// whether its turns rest on nothing that one hands to the next, but for sums and lists of what they give. In a function that drives the
// steps it is none of theirs: the function trains around it.
func (r *Reader) LoopApart(source []string, line int32, drives bool) (at int32, apart bool) {
	w, here, ok := r.worldAt(&At{Source: source, Name: r.FunctionAt(source, line), Line: line})
	if !ok {
		return 0, false
	}
	w.given = map[string]bool{}
	if drives && !w.withinStep(here) {
		return 0, false
	}
	if comprehension.MatchString(w.all[here].text) {
		return w.all[here].at, !trainsHere.MatchString(w.all[here].text)
	}
	_, head, turns := w.inTurn(here, nil)
	if !turns || w.trains(head) {
		return 0, false
	}
	return w.all[head].at, forHead.MatchString(w.all[head].text) && w.apart(head, here)
}

// apart says that a statement rests on nothing that a turn of a loop hands to the next, and on nothing that is made of it.
func (w *world) apart(head, here int) bool {
	handed := slices.Clone(w.carried)
	for n := -1; n < len(handed); { // until there is no more
		n = len(handed)
		for i := head + 1; i < w.blockEnd(head); i++ {
			var st Statement
			if st.read(w.all[i].text); usesAny(st.Uses, handed) {
				if i == here && usesAny(gathered(w.all[i].text), handed) {
					return false
				}
				for _, name := range st.Defines {
					if !slices.Contains(handed, name) {
						handed = append(handed, name)
					}
				}
			}
		}
	}
	return true
}

// CallsWhatTurns says that a line of a loop calls what differs from turn to turn: one of the names that the loop's head gives values to, or
// an element by its number.
func CallsWhatTurns(head, line string) bool {
	m := boundThere.FindStringSubmatch(head)
	if m == nil {
		return false
	}
	return strings.Contains(line, "](") || slices.ContainsFunc(namesIn(m[1]), func(name string) bool {
		return regexp.MustCompile(`(?:^|[^\w.])` + regexp.QuoteMeta(name) + `\(`).MatchString(line)
	})
}

// gathers matches a statement that adds something to a name, puts it into a list, or into a place of a tensor or of a list.
var gathers = regexp.MustCompile(`^([\w.]+)(?:\s*\+=\s*|\.append\(|\[[^=]*\]\s*=\s*|\s*=\s*([\w.]+)\s*\+\s*)(.+)$`)

// gathered are the names that a statement uses, without what it adds to.
func gathered(text string) []string {
	if m := gathers.FindStringSubmatch(text); m != nil && (m[2] == "" || m[2] == m[1]) {
		text = "_ = " + m[3]
	}
	var st Statement
	st.read(text)
	return st.Uses
}

// callsOf are the places in a statement of calls of functions with such names, each with what it is called on.
func callsOf(text string, names func(string) bool) (out [][2]int) {
	for _, m := range called.FindAllStringSubmatchIndex(text, -1) {
		if !names(text[m[4]:m[5]]) {
			continue
		}
		from, end := m[0], m[1]
		for from > 0 && text[from] == '.' {
			before := startOf(text, from)
			if before == from {
				break
			}
			from = before
		}
		for open := 1; end < len(text) && open > 0; end++ {
			open += unclosed(text[end : end+1])
		}
		out = append(out, [2]int{from, end})
	}
	return out
}

// startOf is where the expression begins whose attribute is taken at a dot; it begins with a dot where it is an attribute itself.
func startOf(text string, dot int) int {
	at := dot
	for at > 0 && strings.IndexByte(")]", text[at-1]) >= 0 {
		for open := 0; at > 0; {
			at--
			if open += unclosed(text[at : at+1]); open == 0 {
				break
			}
		}
	}
	name := at - len(lastWord.FindString(text[:at]))
	if name > 0 && text[name-1] == '.' {
		return name - 1
	}
	return name
}

// boundAround are the names that the innermost comprehension around the only call of such a name gives values to; none where there is none,
// or several calls.
func boundAround(text string, names func(string) bool) (bound []string) {
	found := callsOf(text, names)
	if len(found) == 0 {
		return nil
	}
	at := found[0][1]
	for depth := 0; at < len(text); at++ {
		if depth += unclosed(text[at : at+1]); depth < 0 { // out of one bracket: look at what of it follows the call
			depth = 0
			continue
		}
		if depth == 0 && comprehends.MatchString(wordAt(text, at)) {
			end := at
			for open := 1; end < len(text) && open > 0; end++ {
				open += unclosed(text[end : end+1])
			}
			for _, m := range boundThere.FindAllStringSubmatch(text[at:end], -1) {
				bound = append(bound, words.FindAllString(m[1], -1)...)
			}
			return bound
		}
	}
	return nil
}

// wordAt is the word that begins at a place, "" where none does.
func wordAt(text string, at int) string {
	if m := words.FindStringIndex(text[at:]); m != nil && m[0] == 0 && (at == 0 || !words.MatchString(text[at-1:at])) {
		return text[at : at+m[1]]
	}
	return ""
}

// CallerOf is the only line of a file that calls the function around a line; ok is false where several do, or none.
func (r *Reader) CallerOf(at At) (caller At, ok bool) {
	w, _, ok := r.worldAt(&at)
	if !ok || w.own < 0 {
		return At{}, false
	}
	n := 0
	for i := range w.all {
		if defLine.MatchString(w.all[i].text) || len(callsOf(w.all[i].text, func(name string) bool { return name == at.Name })) == 0 {
			continue
		}
		n++
		caller = At{Source: at.Source, Name: "<module>", Line: w.all[i].at}
		if in := w.within[i]; in >= 0 {
			caller.Name = w.nameOf(in)
		}
	}
	return caller, n == 1
}

// FunctionAt is the name of the function around a line, <module> for a file's body.
func (r *Reader) FunctionAt(source []string, line int32) string {
	u := r.unitOf(source)
	if i := u.index(line); i >= 0 {
		if in := u.within[i]; in >= 0 {
			return defLine.FindStringSubmatch(u.all[in].text)[1]
		}
	}
	return "<module>"
}

// CallsAt are the names of functions and methods that the statement of a line calls.
func (r *Reader) CallsAt(source []string, line int32) []string {
	u := r.unitOf(source)
	if i := u.index(line); i >= 0 {
		return u.callsIn(i)
	}
	return nil
}

// callsIn are the names of functions and methods that a statement calls.
func (u *unit) callsIn(i int) (out []string) {
	for _, m := range called.FindAllStringSubmatch(u.all[i].text, -1) {
		out = append(out, m[2])
	}
	return out
}

// CallsInTurn are the functions and methods that surely run between two turns of a line which SameInTurns knows: those that are called
// around it in its loop, or in its function where that is called in a loop. pureOnly says that each of them is one of PyTorch's, NumPy's or
// Python's.
func (r *Reader) CallsInTurn(at At, names func(string) bool) (out []string, pureOnly bool) {
	w, here, ok := r.worldAt(&at)
	if !ok {
		return nil, false
	}
	from, end := w.own+1, w.end
	if len(boundAround(w.all[here].text, names)) > 0 {
		from, end = here, here+1
	} else if head := w.around(here, loopLine); head >= 0 {
		from, end = head+1, w.blockEnd(head)
	}
	pureOnly = true
	for i := from; i < end; i++ {
		certain := true
		w.eachAround(i, func(head int) {
			certain = certain && (head < from || !branch.MatchString(w.all[head].text) && !defLine.MatchString(w.all[head].text))
		})
		for _, name := range w.callsIn(i) {
			pureOnly = pureOnly && pure[name]
			if certain && pure[name] {
				out = append(out, name)
			}
		}
	}
	return out, pureOnly
}
