package pysource

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Kept is a statement that keeps something each time that it runs.
type Kept struct {
	File   string
	Line   int32
	Text   string // of the statement, with 0 for strings
	Target string // what it is kept in: a dotted name, or a function for a cache
	What   Keeping
}

// Keeping is what a statement keeps.
type Keeping int

// What is kept, what costs most first.
const (
	Graph   Keeping = iota // a loss with all that backward needs of it
	Hook                   // a hook that is registered again
	Objects                // tensors or objects
	Results                // a cache without bound
	Numbers                // one of Python's own numbers
)

// Ran is a line that was seen to run again and again. In a function that Drives, which is on the stack all the time, what is repeated is
// the loop around the line; in others, the function.
type Ran struct {
	Line   int32
	Drives bool
}

// codeLine is one statement, or the head of a compound one. Its indent counts twice, so that what follows a head on its line stands deeper.
type codeLine struct {
	at     int32
	indent int
	text   string
}

var (
	compound = regexp.MustCompile(`^(?:async\s+)?(?:def|class|for|while|if|elif|else|with|try|except|finally)\b`)
	loopLine = regexp.MustCompile(`^(?:async\s+for|for|while)\b`)
	defLine  = regexp.MustCompile(`^(?:async\s+)?def\s+(\w+)`)
	appends  = regexp.MustCompile(
		`^((?:\w+\.)*\w+)(\[[^\]]*\]|\.setdefault\(.*?\))?\.(?:append|extend|insert|appendleft|add|put)\((.*)\)\s*;?$`)
	storesAt  = regexp.MustCompile(`^((?:\w+\.)*\w+)\[([^\]]+)\]\s*=\s*([^=].*)$`)
	addsTo    = regexp.MustCompile(`^((?:\w+\.)*\w+)\s*\+=\s*(.+)$`)
	gives     = regexp.MustCompile(`^((?:\w+\.)*\w+)\s*=\s*([^=].*)$`)
	joins     = regexp.MustCompile(`\b(?:cat|concat|concatenate|vstack|hstack|append)\(`)
	hooks     = regexp.MustCompile(`\.register_(?:\w+_)?hook\(`)
	unbounded = regexp.MustCompile(`^@(?:functools\.)?(?:cache$|lru_cache\(\s*(?:maxsize\s*=\s*)?None\s*\))`)
	backward  = regexp.MustCompile(`\b((?:\w+\.)*\w+)\.backward\(`)
	mapping   = regexp.MustCompile(`=\s*(?:\{\}|dict\(|(?:collections\.)?(?:defaultdict|OrderedDict|Counter)\(|WeakValue)`)
	isNumber  = regexp.MustCompile(`\.(?:item|numel|size|dim|perf_counter|time|monotonic)\(|^(?:float|int|len|bool|str|round|min|max|sum|repr|time|perf_counter)\(|^[\d.eE+\-* 0/]+$`)
	detached  = regexp.MustCompile(`\.(?:detach|data\b|item|tolist|numpy)|^float\(|\bfloat\(`)
	words     = regexp.MustCompile(`\b[A-Za-z_]\w*`)
)

// KeptIn finds the statements of sources, by file, that run at each repetition and keep something that is never let go there: where lines
// are seen to run, and in the functions that are called from there by a name that no other function has.
func KeptIn(sources map[string][]string, ran map[string][]Ran) []Kept {
	var readers []*keepReader
	for _, file := range slices.Sorted(maps.Keys(sources)) {
		k := &keepReader{file: file, all: statementsOf(sources[file])}
		k.inside = make([]bool, len(k.all))
		for _, r := range ran[file] {
			k.repeat(r)
		}
		readers = append(readers, k)
	}
	for range calledDepth {
		markCalled(readers)
	}
	var out []Kept
	for _, k := range readers {
		for i := range k.all {
			if !k.inside[i] {
				continue
			}
			for _, reads := range []func(int) (Kept, bool){k.cache, k.kept} {
				if kept, ok := reads(i); ok {
					kept.File, kept.Text = k.file, k.all[i].text
					out = append(out, kept)
				}
			}
		}
	}
	slices.SortStableFunc(out, func(a, b Kept) int { return int(a.What) - int(b.What) })
	return out
}

// calledDepth is how many calls deep functions are looked at that were not seen to run themselves.
const calledDepth = 3

// statementsOf reads a source's statements in their order. Strings in them are 0.
func statementsOf(source []string) (out []codeLine) {
	lines := withoutText(source)
	for i := 0; i < len(lines); {
		text, next := joined(lines, i)
		line := codeLine{int32(i + 1), 2 * indentOf(lines[i]), text}
		if head, body := headOf(text); body != "" {
			out = append(out, codeLine{line.at, line.indent, head})
			line.indent, line.text = line.indent+1, body
		}
		for one := range strings.SplitSeq(line.text, ";") {
			if line.text = strings.TrimSpace(one); line.text != "" {
				out = append(out, line)
			}
		}
		i = next
	}
	return out
}

// headOf splits a compound statement on one line into its head and what follows it; body is "" for all others.
func headOf(text string) (head, body string) {
	if !compound.MatchString(text) {
		return text, ""
	}
	open := 0
	for i, r := range text {
		switch open += unclosed(string(r)); {
		case r == ':' && open == 0:
			return text[:i+1], strings.TrimSpace(text[i+1:])
		}
	}
	return text, ""
}

// keepReader reads one file.
type keepReader struct {
	file   string
	all    []codeLine
	inside []bool // runs at each repetition
}

// index is the statement that holds a line, -1 for none.
func (k *keepReader) index(line int32) int {
	i, found := slices.BinarySearchFunc(k.all, line, func(st codeLine, line int32) int { return int(st.at - line) })
	if !found {
		i--
	}
	return i
}

// end is the index after the last statement of a block, given by its head.
func (k *keepReader) end(head int) int {
	for i := head + 1; i < len(k.all); i++ {
		if k.all[i].indent <= k.all[head].indent {
			return i
		}
	}
	return len(k.all)
}

// around is the head of the innermost block around a statement that a pattern matches, -1 for none up to the function's own head.
func (k *keepReader) around(at int, head *regexp.Regexp) int {
	indent := k.all[at].indent
	for i := at; i >= 0; i-- {
		st := &k.all[i]
		if st.indent >= indent && i != at {
			continue
		}
		indent = min(indent, st.indent)
		if head.MatchString(st.text) && (i != at || head == loopLine) {
			return i
		}
		if defLine.MatchString(st.text) && i != at {
			return -1
		}
	}
	return -1
}

// repeat marks what a line that ran tells to be repeated.
func (k *keepReader) repeat(r Ran) {
	at := k.index(r.Line)
	if at < 0 {
		return
	}
	head := k.around(at, defLine)
	if r.Drives {
		head = k.around(at, loopLine)
	}
	if head >= 0 {
		k.mark(head)
	}
}

// mark marks a block, without the functions that are only defined in it.
func (k *keepReader) mark(head int) {
	for i := head + 1; i < k.end(head); i++ {
		if defLine.MatchString(k.all[i].text) {
			i = k.end(i) - 1
			continue
		}
		k.inside[i] = true
	}
}

// markCalled marks the functions that marked statements call by a name that only one function of all sources has.
func markCalled(readers []*keepReader) {
	type function struct {
		in   *keepReader
		head int
	}
	heads := map[string][]function{}
	for _, k := range readers {
		for i := range k.all {
			if m := defLine.FindStringSubmatch(k.all[i].text); m != nil {
				heads[m[1]] = append(heads[m[1]], function{k, i})
			}
		}
	}
	for _, k := range readers {
		for i := range k.all {
			if !k.inside[i] {
				continue
			}
			for _, c := range callsIn(k.all[i].text) {
				if at := heads[c.name]; len(at) == 1 {
					at[0].in.mark(at[0].head)
				}
			}
		}
	}
}

// kept says what a statement keeps.
func (k *keepReader) kept(i int) (Kept, bool) {
	st := &k.all[i]
	kept := Kept{Line: st.at}
	switch text := st.text; {
	case hooks.MatchString(text) && !k.anywhere(`\.remove\(`):
		kept.Target, kept.What = text[hooks.FindStringIndex(text)[0]+1:], Hook
		kept.Target, _, _ = strings.Cut(kept.Target, "(")
		return kept, true
	case appends.MatchString(text):
		m := appends.FindStringSubmatch(text)
		kept.Target, kept.What = m[1], k.value(i, m[3])
	case storesAt.MatchString(text):
		m := storesAt.FindStringSubmatch(text)
		if !k.newKey(i, m[2]) || !k.anywhere(regexp.QuoteMeta(lastPart(m[1]))+`\s*(?::[^=]*)?`+mapping.String()) {
			return kept, false
		}
		kept.Target, kept.What = m[1], k.value(i, m[3])
	case addsTo.MatchString(text):
		m := addsTo.FindStringSubmatch(text)
		if kept.Target, kept.What = m[1], k.value(i, m[2]); kept.What != Graph && !strings.HasPrefix(m[2], "[") {
			return kept, false
		}
	case gives.MatchString(text):
		m := gives.FindStringSubmatch(text)
		if !mentions(m[2], m[1]) || !joins.MatchString(m[2]) && k.value(i, m[2]) != Graph {
			return kept, false
		}
		kept.Target, kept.What = m[1], min(k.value(i, m[2]), Objects)
		return kept, k.staysOutside(i, kept.Target, st.at)
	default:
		return kept, false
	}
	return kept, k.staysOutside(i, kept.Target, 0)
}

// cache finds the decorator of a repeated function that keeps each result for ever.
func (k *keepReader) cache(i int) (Kept, bool) {
	if i > 0 && k.inside[i-1] || i < 2 {
		return Kept{}, false // not a function's first statement
	}
	for head := i - 1; head >= 0 && (defLine.MatchString(k.all[head].text) || strings.HasPrefix(k.all[head].text, "@")); head-- {
		if at := &k.all[head]; unbounded.MatchString(at.text) {
			m := defLine.FindStringSubmatch(k.all[i-1].text)
			return Kept{Line: at.at, Target: m[1], What: Results}, true
		}
	}
	return Kept{}, false
}

// value says what keeping an expression in a statement keeps.
func (k *keepReader) value(at int, text string) Keeping {
	text = strings.TrimSpace(text)
	if isNumber.MatchString(text) {
		return Numbers
	}
	for _, st := range k.all { // a name that has been given a number
		if m := gives.FindStringSubmatch(st.text); m != nil && m[1] == text && isNumber.MatchString(strings.TrimSpace(m[2])) {
			return Numbers
		}
	}
	if !detached.MatchString(text) {
		for _, st := range k.all {
			if m := backward.FindStringSubmatch(st.text); m != nil && mentions(text, m[1]) && !k.handedOver(at, m[1]) {
				return Graph
			}
		}
	}
	return Objects
}

// handedOver says that a name is an argument of the function around a statement, and that a call of that function hands over only the
// number, or a tensor without its graph, under the same name.
func (k *keepReader) handedOver(at int, name string) bool {
	head := k.around(at, defLine)
	if head < 0 {
		return false
	}
	function := defLine.FindStringSubmatch(k.all[head].text)[1]
	return slices.ContainsFunc(k.all, func(st codeLine) bool {
		called := slices.ContainsFunc(callsIn(st.text), func(c Call) bool { return lastPart(c.name) == function })
		return called && (strings.Contains(st.text, name+".item(") || strings.Contains(st.text, name+".detach(") ||
			strings.Contains(st.text, "float("+name))
	})
}

// newKey says that an index can be a new one each time: neither a constant, nor given by a loop inside of what is repeated.
func (k *keepReader) newKey(i int, index string) bool {
	names := words.FindAllString(index, -1)
	if len(names) == 0 {
		return false
	}
	for j := i - 1; j >= 0 && k.inside[j]; j-- {
		if m := loopHead.FindStringSubmatch(k.all[j].text); m != nil && k.all[j].indent < k.all[i].indent {
			for _, name := range words.FindAllString(m[1], -1) {
				if slices.Contains(names, name) {
					return false
				}
			}
		}
	}
	return true
}

// staysOutside says that what a name stands for is neither made nor emptied where it is repeated, but for the statement in a line of its
// own.
func (k *keepReader) staysOutside(at int, target string, own int32) bool {
	name := regexp.QuoteMeta(target)
	ends := regexp.MustCompile(`^(?:` + name + `(?:\[[^\]]*\])?\s*(?::[^=]*)?=[^=]|` + name + `\.(?:clear|pop|popleft|popitem)\(|del\s+` +
		name + `\b|(?:async\s+)?for\s+[^:]*\b` + name + `\b.*\sin\s)`)
	fresh := regexp.MustCompile(`^` + name + `\s*(?::[^=]*)?=[^=]`)
	for i := range k.all {
		st := &k.all[i]
		if st.at == own || !ends.MatchString(st.text) || i == at {
			continue
		}
		if k.inside[i] || fresh.MatchString(st.text) && strings.Contains(st.text, "maxlen") {
			return false
		}
	}
	return true
}

// anywhere says that a pattern occurs in the source.
func (k *keepReader) anywhere(pattern string) bool {
	re, err := regexp.Compile(pattern)
	return err == nil && slices.ContainsFunc(k.all, func(st codeLine) bool { return re.MatchString(st.text) })
}

// mentions says that a text uses a dotted name.
func mentions(text, name string) bool {
	return slices.ContainsFunc(namesIn(text), func(n string) bool { return Meets(name, n) })
}

func lastPart(name string) string { return name[strings.LastIndexByte(name, '.')+1:] }

// OnlyName is the name that a statement keeps, "" where it keeps what an expression gives.
func OnlyName(k *Kept) string {
	for _, form := range []*regexp.Regexp{appends, addsTo} {
		m := form.FindStringSubmatch(k.Text)
		if m == nil {
			continue
		}
		if value := strings.TrimSpace(m[len(m)-1]); words.FindString(value) == value {
			return value
		}
	}
	return ""
}
