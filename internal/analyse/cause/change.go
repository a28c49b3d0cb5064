package cause

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"bottleneck/internal/analyse"
)

// argument is a keyword argument that a fix sets.
type argument struct{ name, value string }

// certain turns a finding's change into a change of the user's own line where there is no doubt which line it is.
func (c *Context) certain(f *Finding) {
	switch {
	case f.Fix.File != "" && strings.HasPrefix(f.Fix.Change, "DataLoader(..."):
		c.changeCall(f, f.Fix.File, f.Fix.Line, "DataLoader", argumentsOf(f.Fix.Change))
	case f.Cause == Compile && f.Fix.Change != "":
		c.changeOnly(f, "torch.compile", argumentsOf(f.Fix.Change))
	case f.Cause == MemoryBound && f.Fix.Change == fusedChange:
		c.changeOnly(f, "Adam", argumentsOf("("+fusedChange+")"))
	case f.Cause == Threads:
		c.changeThreads(f)
	case f.Cause == Sync:
		c.changeSum(f)
	}
}

var keyword = regexp.MustCompile(`\b([a-z_]+)=([^,()]+)`)

// argumentsOf are the keyword arguments of a call that a fix was written as.
func argumentsOf(call string) []argument {
	var out []argument
	for _, m := range keyword.FindAllStringSubmatch(call, -1) {
		out = append(out, argument{m[1], strings.TrimSpace(m[2])})
	}
	return out
}

// userLine is a line of the user's kept sources.
type userLine struct {
	file string
	line int
	text string
}

// onlyLine is the line of the user's sources that a test chooses; ok is false where none or several do.
func (c *Context) onlyLine(is func(text string) bool) (at userLine, ok bool) {
	n := 0
	for _, path := range slices.Sorted(maps.Keys(c.S.Sources)) {
		if analyse.ClassifyFile(path) != analyse.FileUser || c.S.Sources[path] == nil {
			continue
		}
		for i, text := range c.S.Sources[path].Lines {
			if code := strings.TrimSpace(text); !strings.HasPrefix(code, "#") && is(code) {
				at = userLine{path, i + 1, code}
				n++
			}
		}
	}
	return at, n == 1
}

// changeOnly changes the one call of a function that the user's sources hold; Adam stands for its relatives too.
func (c *Context) changeOnly(f *Finding, call string, args []argument) {
	named := regexp.MustCompile(`\b` + regexp.QuoteMeta(call) + `\w*\(`)
	at, ok := c.onlyLine(named.MatchString)
	if !ok {
		return
	}
	name := strings.TrimSuffix(named.FindString(at.text), "(")
	c.changeCall(f, at.file, at.line, name, args)
}

// changeCall sets arguments of the call in a line.
func (c *Context) changeCall(f *Finding, file string, line int, call string, args []argument) {
	old := c.source(file, line)
	if text, ok := withArguments(old, call, args); ok && text != old {
		f.Fix.Old, f.Fix.Change, f.Fix.File, f.Fix.Line = old, text, file, line
	}
}

var setThreads = regexp.MustCompile(`\bset_num_threads\(`)

func (c *Context) changeThreads(f *Finding) {
	_, n, ok := strings.Cut(f.Fix.Change, "OMP_NUM_THREADS=")
	at, found := c.onlyLine(setThreads.MatchString)
	if !ok || !found {
		return
	}
	begin := setThreads.FindStringIndex(at.text)[1]
	if end := closing(at.text, begin); end > 0 {
		f.Fix.Old, f.Fix.Change, f.Fix.File, f.Fix.Line = at.text, at.text[:begin]+n+at.text[end:], at.file, at.line
	}
	if f.Where.File == "" { // the program asks for them itself
		f.Where.File, f.Where.Line, f.Where.Source = at.file, at.line, at.text
	}
}

// itemSum matches a line that adds a tensor's value to a sum.
var itemSum = regexp.MustCompile(`^([\w.]+ \+= [\w.]+)\.item\(\)`)

func (c *Context) changeSum(f *Finding) {
	if old := f.Where.Source; itemSum.MatchString(old) {
		f.Fix.Old, f.Fix.Change, f.Fix.File, f.Fix.Line = old, itemSum.ReplaceAllString(old, "$1.detach()"), f.Where.File, f.Where.Line
	}
}

// withArguments sets keyword arguments of the call in a line of Python; ok is false where the call does not end in that line.
func withArguments(line, call string, args []argument) (changed string, ok bool) {
	begin := strings.Index(line, call+"(")
	if begin < 0 {
		return line, false
	}
	begin += len(call) + 1
	end := closing(line, begin)
	if end < 0 {
		return line, false
	}
	inside := line[begin:end]
	for _, a := range args {
		given := regexp.MustCompile(`\b` + regexp.QuoteMeta(a.name) + `\s*=\s*[^,()]+`)
		set := a.name + "=" + a.value
		switch {
		case given.MatchString(inside):
			inside = given.ReplaceAllLiteralString(inside, set)
		case strings.TrimSpace(inside) == "":
			inside = set
		default:
			inside = strings.TrimRight(inside, ", ") + ", " + set
		}
	}
	return line[:begin] + inside + line[end:], true
}

// closing is the index of the parenthesis that ends the arguments beginning at an index, outside of strings; -1 without one.
func closing(line string, from int) int {
	depth, quote := 1, byte(0)
	for i := from; i < len(line); i++ {
		switch ch := line[i]; {
		case quote != 0:
			if ch == quote {
				quote = 0
			}
		case ch == '\'' || ch == '"':
			quote = ch
		case ch == '#':
			return -1
		case ch == '(':
			depth++
		case ch == ')':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}
