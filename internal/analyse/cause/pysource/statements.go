package pysource

import (
	"regexp"
	"slices"
	"strings"
)

// Statement is one simple statement of Python, or the head of a compound one, as far as its text tells.
type Statement struct {
	From, To int32 // lines
	Gives    bool  // return or yield
	Defines  []string
	Uses     []string
}

// maxFunctionLines bounds how much of a function is read.
const maxFunctionLines = 2000

var (
	dottedName = regexp.MustCompile(`\.?\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*`)
	indexed    = regexp.MustCompile(`\[[^\[\]]*\]`)
	// assigned splits targets from a value; comparisons, := and keyword arguments (inside brackets) are none.
	assigned = regexp.MustCompile(`^([^=<>!:]*?)(?::[^=]*)?([-+*/%&|^@]|//|\*\*|<<|>>)?=([^=].*)$`)
	oneLine  = regexp.MustCompile(`^(?:if|elif|while|else|try|finally)\b(.*?):\s+(\S.*)$`) // a head and its only statement
	loopHead = regexp.MustCompile(`^(?:async\s+)?for\s+(.+?)\s+in\s+(.*)$`)
	withHead = regexp.MustCompile(`\s+as\s+(\([\w.,\s]+\)|[\w.]+)`)
	// changed matches calls of methods of Python's containers that add to what they are called on, and PyTorch's operators in place.
	changed = regexp.MustCompile(
		`^([A-Za-z_][\w.]*?)(?:\[.*\])?\.(?:append|appendleft|extend|insert|add|update|put|[a-z]\w*[a-z0-9]_)\s*\(`)
	innerHead = regexp.MustCompile(`^(?:async\s+def|def|class)\s+(\w+)`)
)

// StatementsOf reads the statements of the function that begins in a line; of a module's body with line 0. A function or class inside is
// one statement that gives its name a value and uses what it takes from around it.
func StatementsOf(source []string, first int32) []Statement {
	start := max(int(first)-1, 0)
	lines := withoutText(source[min(start, len(source)):min(start+maxFunctionLines, len(source))])
	least, i := -1, 0
	for first > 0 && i < len(lines) && least < 0 {
		text, next := joined(lines, i)
		if innerHead.MatchString(text) {
			least = indentOf(lines[i])
		} else if !strings.HasPrefix(text, "@") {
			break // its own text is not known: a lambda
		}
		i = next
	}
	out, _ := block(lines, i, least)
	for k := range out {
		out[k].From, out[k].To = out[k].From+int32(start), out[k].To+int32(start)
	}
	return out
}

// block reads statements that are indented further than least, and gives the index after the last one.
func block(lines []string, i, least int) ([]Statement, int) {
	var out []Statement
	for i < len(lines) {
		text, next := joined(lines, i)
		if text != "" && indentOf(lines[i]) <= least {
			break
		}
		st := Statement{From: int32(i + 1), To: int32(next)}
		switch head := innerHead.FindStringSubmatch(text); {
		case text == "":
			i = next
			continue
		case head != nil:
			var inside []Statement
			inside, i = block(lines, next, indentOf(lines[i]))
			own := namesIn(text)
			for k := range inside {
				own = append(own, inside[k].Defines...)
			}
			st.Defines = []string{head[1]}
			for k := range inside {
				for _, name := range inside[k].Uses {
					root, _, _ := strings.Cut(strings.TrimSuffix(name, "("), ".")
					if !slices.Contains(own, root) && !slices.Contains(st.Uses, name) {
						st.Uses = append(st.Uses, name)
					}
				}
			}
		default:
			st.read(text)
			i = next
		}
		out = append(out, st)
	}
	return out, i
}

// withoutText takes strings and comments out of lines, also strings over several of them. A string leaves "0": a value without names.
func withoutText(lines []string) []string {
	out := make([]string, len(lines))
	quote := "" // of a string that goes on
	for i, line := range lines {
		var b strings.Builder
		for line != "" {
			switch {
			case quote != "" && strings.HasPrefix(line, quote):
				line, quote = line[len(quote):], ""
			case quote != "" && line[0] == '\\':
				line = line[min(2, len(line)):]
			case quote != "":
				line = line[1:]
			case line[0] == '#':
				line = ""
			case strings.HasPrefix(line, `"""`) || strings.HasPrefix(line, "'''"):
				line, quote = line[3:], line[:3]
				b.WriteByte('0')
			case line[0] == '"' || line[0] == '\'':
				line, quote = line[1:], line[:1]
				b.WriteByte('0')
			default:
				b.WriteByte(line[0])
				line = line[1:]
			}
		}
		if len(quote) == 1 {
			quote = "" // it must end on its line
		}
		if quote != "" {
			b.WriteByte('\\') // the statement goes on
		}
		out[i] = strings.TrimRight(b.String(), " \t\r")
	}
	return out
}

func indentOf(line string) int { return len(line) - len(strings.TrimLeft(line, " \t")) }

// joined is the text of the statement that begins in a line, and the index after its last line.
func joined(lines []string, i int) (string, int) {
	var b strings.Builder
	for open := 0; i < len(lines); {
		text, goesOn := strings.CutSuffix(strings.TrimSpace(lines[i]), `\`)
		i++
		b.WriteString(text + " ")
		open += unclosed(text)
		if open <= 0 && !goesOn {
			break
		}
	}
	return strings.TrimSpace(b.String()), i
}

// unclosed is how many brackets a text opens more than it closes.
func unclosed(text string) int {
	n := 0
	for _, r := range text {
		switch r {
		case '(', '[', '{':
			n++
		case ')', ']', '}':
			n--
		}
	}
	return n
}

// read tells which names a statement gives values to and which it uses.
func (st *Statement) read(text string) {
	if m := oneLine.FindStringSubmatch(text); m != nil {
		st.read(m[2])
		st.Uses = append(st.Uses, namesIn(m[1])...)
		return
	}
	if rest, ok := strings.CutPrefix(text, "return"); ok && !strings.HasPrefix(rest, "_") {
		st.Gives = true
	}
	st.Gives = st.Gives || strings.Contains(text, "yield ")
	targets, value := "", text
	switch m, loop := assigned.FindStringSubmatch(text), loopHead.FindStringSubmatch(text); {
	case loop != nil:
		targets, value = loop[1], loop[2]
	case strings.HasPrefix(text, "with ") || strings.HasPrefix(text, "async with "):
		for _, as := range withHead.FindAllStringSubmatch(text, -1) {
			targets += as[1] + ","
		}
	case m != nil && unclosed(m[1]) == 0:
		targets, value = m[1], m[3]
		if m[2] != "" {
			value += " " + m[1]
		}
		if more := assigned.FindStringSubmatch(strings.TrimSpace(m[3])); more != nil && unclosed(more[1]) == 0 { // a = b = value
			targets, value = targets+","+more[1], more[3]
		}
	default:
		if m := changed.FindStringSubmatch(text); m != nil && m[1] != "self" {
			targets = m[1]
		}
	}
	for _, in := range indexed.FindAllString(targets, -1) {
		value += " " + in
	}
	st.Defines, st.Uses = namesIn(indexed.ReplaceAllString(targets, "")), namesIn(value)
}

// namesIn are the dotted names in a text; the name of a method that is called ends in "(".
func namesIn(text string) []string {
	var out []string
	for _, m := range dottedName.FindAllStringIndex(text, -1) {
		name := text[m[0]:m[1]]
		if name[0] == '.' {
			continue // an attribute of what a call or an index gives
		}
		if strings.HasPrefix(text[m[1]:], "(") {
			name += "("
		}
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// Meets says that a value given to one name is seen through another one: both are the same, or one holds the other.
func Meets(defined, used string) bool {
	used = strings.TrimSuffix(used, "(")
	return defined == used || strings.HasPrefix(used, defined+".") || strings.HasPrefix(defined, used+".") && used != "self"
}

// Attribute is the last part of a dotted name that is not called, "" of others: under it, other functions know the same object.
func Attribute(name string) string {
	i := strings.LastIndexByte(name, '.')
	if i < 0 || strings.HasSuffix(name, "(") {
		return ""
	}
	return name[i+1:]
}
