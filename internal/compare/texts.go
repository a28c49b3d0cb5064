package compare

import (
	"path"
	"regexp"
	"slices"
	"strings"
)

// function is a function of a program text, or what a file holds outside of functions (name "<module>").
type function struct {
	file, name string // name without what encloses it
	first      int    // 1 is a file's first line
	lines      []textLine
}

// textLine is a line of a function that is not within another function of it, and neither empty nor a comment.
type textLine struct {
	number int
	text   string
}

var (
	definition = regexp.MustCompile(`^(\s*)(?:async\s+)?def\s+(\w+)`)
	identifier = regexp.MustCompile(`[A-Za-z_]\w*`)
)

const moduleLevel = "<module>"

// functionsOf finds the functions of a Python text by their indentation. It is a reading for comparison, not a parser: a text within
// quotes that looks like a definition is taken for one, on both sides alike.
func functionsOf(file string, text []string) []*function {
	type open struct {
		f      *function
		indent int
	}
	module := &function{file: file, name: moduleLevel, first: 1}
	all := []*function{module}
	stack := []open{{module, -1}}
	depth := 0 // of brackets: lines within them continue a statement
	for i, line := range text {
		bare := strings.TrimSpace(line)
		if bare == "" || strings.HasPrefix(bare, "#") {
			continue
		}
		indent := len(line) - len(strings.TrimLeft(line, " \t"))
		for depth <= 0 && len(stack) > 1 && indent <= stack[len(stack)-1].indent {
			stack = stack[:len(stack)-1]
		}
		if m := definition.FindStringSubmatch(line); m != nil && depth <= 0 {
			f := &function{file: file, name: m[2], first: i + 1}
			all = append(all, f)
			stack = append(stack, open{f, indent})
		}
		f := stack[len(stack)-1].f
		f.lines = append(f.lines, textLine{i + 1, bare})
		depth = max(depth+brackets(bare), 0)
	}
	return all
}

// brackets is how many more brackets a line opens than it closes; those in short quotes count as much on both sides.
func brackets(line string) int {
	code, _, _ := strings.Cut(line, " #")
	return strings.Count(code, "(") + strings.Count(code, "[") + strings.Count(code, "{") -
		strings.Count(code, ")") - strings.Count(code, "]") - strings.Count(code, "}")
}

// place is a line of a file.
type place struct {
	file string
	line int
}

// texts relates the program texts of two sides.
type texts struct {
	before, after map[string][]string
	lineBefore    map[place]place     // of the after side's lines: where they stood
	functions     map[place]*function // by an after side's function's first line: its counterpart before
	funcAfter     map[place]*function // by any line of the after side
	funcBefore    map[place]*function // by any line of the before side
	renamed       map[string]string   // names of functions after → before
	added         []place             // lines of the after side that have no counterpart
	removed       []place             // lines of the before side that have none
}

// relate matches functions and their lines. Only files of the user's are worth it: callers leave libraries out.
func relate(before, after map[string][]string) *texts {
	t := &texts{before: before, after: after, lineBefore: map[place]place{}, functions: map[place]*function{},
		funcAfter: map[place]*function{}, funcBefore: map[place]*function{}, renamed: map[string]string{}}
	a, b := allFunctions(before, t.funcBefore), allFunctions(after, t.funcAfter)
	pairs := pairFunctions(a, b)
	for f, g := range pairs {
		if f.name != g.name {
			t.renamed[f.name] = g.name
		}
		t.functions[place{f.file, f.first}] = g
	}
	paired := map[*function]bool{}
	for _, f := range b {
		g := pairs[f]
		if g == nil {
			t.added = append(t.added, f.places()...)
			continue
		}
		paired[g] = true
		t.align(g, f)
	}
	for _, g := range a {
		if !paired[g] {
			t.removed = append(t.removed, g.places()...)
		}
	}
	return t
}

func allFunctions(sources map[string][]string, byLine map[place]*function) []*function {
	var out []*function
	files := make([]string, 0, len(sources))
	for file := range sources {
		files = append(files, file)
	}
	slices.Sort(files)
	for _, file := range files {
		for _, f := range functionsOf(file, sources[file]) {
			out = append(out, f)
			for _, l := range f.lines {
				byLine[place{file, l.number}] = f
			}
		}
	}
	return out
}

func (f *function) places() []place {
	out := make([]place, len(f.lines))
	for i, l := range f.lines {
		out[i] = place{f.file, l.number}
	}
	return out
}

// alikeShare is the share of two functions' lines that must be equal for one to be the other under a new name.
const alikeShare = 0.6

// pairFunctions finds for functions after the change what they were before: of the same name in the same file; of the same name
// elsewhere; else the one whose lines are most alike.
func pairFunctions(before, after []*function) map[*function]*function {
	pairs, taken := map[*function]*function{}, map[*function]bool{}
	match := func(fits func(f, g *function) bool) {
		for _, f := range after {
			if pairs[f] != nil {
				continue
			}
			for _, g := range before {
				if !taken[g] && fits(f, g) {
					pairs[f], taken[g] = g, true
					break
				}
			}
		}
	}
	match(func(f, g *function) bool { return f.name == g.name && f.file == g.file && equalBodies(f, g) })
	match(func(f, g *function) bool {
		return f.name == g.name && path.Base(f.file) == path.Base(g.file) && equalBodies(f, g)
	})
	match(func(f, g *function) bool { return f.name == g.name && f.file == g.file })
	match(func(f, g *function) bool { return f.name == g.name && path.Base(f.file) == path.Base(g.file) })
	match(func(f, g *function) bool { return f.name == g.name && f.name != moduleLevel })
	for _, least := range []float64{0.999, 0.8, alikeShare} { // the most alike first
		match(func(f, g *function) bool {
			return (f.name == moduleLevel) == (g.name == moduleLevel) && alike(f, g) >= least
		})
	}
	return pairs
}

func equalBodies(f, g *function) bool {
	return slices.EqualFunc(f.lines, g.lines, func(x, y textLine) bool { return x.text == y.text })
}

// alike is the share of the lines of two functions that both have, their own names left out.
func alike(f, g *function) float64 {
	counts := map[string]int{}
	for _, l := range f.lines {
		counts[withoutName(l.text, f.name)]++
	}
	both := 0
	for _, l := range g.lines {
		if text := withoutName(l.text, g.name); counts[text] > 0 {
			counts[text]--
			both++
		}
	}
	return float64(both) / float64(max(len(f.lines), len(g.lines), 1))
}

func withoutName(line, name string) string {
	if !strings.Contains(line, name) {
		return line
	}
	return identifier.ReplaceAllStringFunc(line, func(word string) string {
		if word == name {
			return "·"
		}
		return word
	})
}

// align matches the lines of a function before and after.
func (t *texts) align(before, after *function) {
	a, b := make([]string, len(before.lines)), make([]string, len(after.lines))
	for i, l := range before.lines {
		a[i] = l.text
	}
	for i, l := range after.lines {
		b[i] = t.asBefore(l.text)
	}
	same := commonLines(a, b)
	at := 0
	for i := range b {
		if same[i] < 0 {
			t.added = append(t.added, place{after.file, after.lines[i].number})
			continue
		}
		for ; at < same[i]; at++ {
			t.removed = append(t.removed, place{before.file, before.lines[at].number})
		}
		at++
		t.lineBefore[place{after.file, after.lines[i].number}] = place{before.file, before.lines[same[i]].number}
	}
	for ; at < len(a); at++ {
		t.removed = append(t.removed, place{before.file, before.lines[at].number})
	}
}

// asBefore is a line of the after side with functions' names as they were before.
func (t *texts) asBefore(line string) string {
	if len(t.renamed) == 0 {
		return line
	}
	return identifier.ReplaceAllStringFunc(line, func(word string) string {
		if was, ok := t.renamed[word]; ok {
			return was
		}
		return word
	})
}

// mostCells bounds the table of commonLines; of longer texts only the equal beginning and end are matched.
const mostCells = 4 << 20

// commonLines gives for each line of b its place in a, -1 without: the longest common subsequence.
func commonLines(a, b []string) []int {
	out := make([]int, len(b))
	for i := range out {
		out[i] = -1
	}
	from := 0
	for from < len(a) && from < len(b) && a[from] == b[from] {
		out[from] = from
		from++
	}
	ea, eb := len(a), len(b)
	for ea > from && eb > from && a[ea-1] == b[eb-1] {
		ea, eb = ea-1, eb-1
		out[eb] = ea
	}
	a, b = a[from:ea], b[from:eb]
	if len(a) == 0 || len(b) == 0 || len(a)*len(b) > mostCells {
		return out
	}
	longest := make([][]int32, len(a)+1) // of what is left from here
	for i := range longest {
		longest[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if longest[i][j] = max(longest[i+1][j], longest[i][j+1]); a[i] == b[j] {
				longest[i][j] = longest[i+1][j+1] + 1
			}
		}
	}
	for i, j := 0, 0; i < len(a) && j < len(b); {
		switch {
		case a[i] == b[j]:
			out[from+j] = from + i
			i, j = i+1, j+1
		case longest[i+1][j] >= longest[i][j+1]:
			i++
		default:
			j++
		}
	}
	return out
}

// text is a line of one of the sides, without the space around it.
func text(sources map[string][]string, at place) string {
	lines := sources[at.file]
	if at.line < 1 || at.line > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[at.line-1])
}
