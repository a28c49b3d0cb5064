package cause

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"cmp"
	"regexp"
	"slices"
	"strings"
)

// positional is the index at which an argument that a fix sets can stand without its name.
var positional = map[string]int{"num_workers": 5}

// callLines is how many lines of a call are read.
const callLines = 60

// changeCall sets arguments of the call that begins in a line, where one line of it is all that changes.
func changeCall(c *facts.Facts, a *finding.Action, file string, line int, call string) {
	src := c.S.Sources[file]
	if src == nil || line < 1 || line > len(src.Lines) {
		return
	}
	lines := src.Lines[line-1 : min(line-1+callLines, len(src.Lines))]
	if at, text, ok := withArguments(lines, call, a.Arguments); ok {
		a.Edit(finding.UserLine{File: file, Line: line + at, Text: strings.TrimSpace(lines[at])}, strings.TrimSpace(text))
	} else if at, text, ok := withOptions(src.Lines, line-1, call, a.Arguments); ok {
		a.Edit(finding.UserLine{File: file, Line: at + 1, Text: strings.TrimSpace(src.Lines[at])}, strings.TrimSpace(text))
	}
}

// withArguments sets keyword arguments of the call in the first of some lines of Python: the line at an index becomes changed. ok is
// false where the lines do not tell how: they hold no such call, several, or not its end; arguments that are passed on (*rest, **options)
// may hold those that are set; more than one line would change, or none.
func withArguments(lines []string, call string, args []finding.Argument) (at int, changed string, ok bool) {
	text := strings.Join(lines, "\n")
	begin := callIn(text, call)
	if begin < 0 {
		return 0, "", false
	}
	given, ok := givenArguments(text, begin)
	if !ok {
		return 0, "", false
	}
	edits, ok := editsFor(text, given, begin, args)
	if !ok {
		return 0, "", false
	}
	for i := len(edits) - 1; i >= 0; i-- {
		text = text[:edits[i].from] + edits[i].text + text[edits[i].to:]
	}
	after, n := strings.Split(text, "\n"), 0
	for i := range after {
		if len(after) == len(lines) && after[i] != lines[i] {
			at, changed = i, after[i]
			n++
		}
	}
	return at, changed, n == 1
}

// edit puts text in the place of a part of another.
type edit struct {
	from, to int
	text     string
}

// editsFor are the edits, in the order of their places, that set arguments of a call whose own begin at an index: the value of one that is
// given changes; those that are not follow the last one, or the changed one where that stands in another line.
func editsFor(text string, given []givenArgument, begin int, args []finding.Argument) ([]edit, bool) {
	var edits []edit
	var missing []string
	end := begin
	if n := len(given); n > 0 {
		end = given[n-1].to
	}
	last := end
	for _, a := range args {
		i := slices.IndexFunc(given, func(g givenArgument) bool { return g.name == a.Name })
		if i < 0 {
			missing = append(missing, a.Name+"="+a.Value)
			continue
		}
		edits = append(edits, edit{given[i].value, given[i].to, a.Value})
		if given[i].named && strings.Contains(text[given[i].to:end], "\n") {
			last = given[i].to
		}
	}
	if len(missing) > 0 {
		set := strings.Join(missing, ", ")
		if len(given) > 0 {
			set = ", " + set
		}
		if len(given) == 1 && comprehension.MatchString(text[given[0].value:given[0].to]) ||
			slices.ContainsFunc(given, func(g givenArgument) bool { return g.star }) {
			return nil, false
		}
		edits = append(edits, edit{last, last, set})
	}
	slices.SortStableFunc(edits, func(a, b edit) int { return cmp.Compare(a.from, b.from) })
	return edits, true
}

// comprehension matches an argument that stays alone in its call unless it gets parentheses of its own.
var comprehension = regexp.MustCompile(`\sfor\s`)

// givenArgument is one argument of a call: the name that it is given by or, where its position tells it, stands for; the indices of its
// value and of its end.
type givenArgument struct {
	name        string
	named, star bool
	value, to   int
}

// named matches an argument that is given by its name.
var named = regexp.MustCompile(`^([A-Za-z_]\w*)\s*=\s*`)

// givenArguments reads the arguments of the call whose first one begins at an index; ok is false where the call does not end.
func givenArguments(text string, begin int) (out []givenArgument, ok bool) {
	from, last, depth := -1, begin, 0
	add := func() {
		if from >= 0 {
			out = append(out, argumentAt(text[from:last], from, len(out)))
		}
		from = -1
	}
	end := eachSign(text, begin, func(i, to int) bool {
		switch sign := text[i]; {
		case depth == 0 && sign == ')':
			add()
			return false
		case depth == 0 && sign == ',':
			add()
			return true
		case strings.IndexByte("([{", sign) >= 0:
			depth++
		case strings.IndexByte(")]}", sign) >= 0:
			depth--
		}
		if from < 0 {
			from = i
		}
		last = to
		return true
	})
	return out, end >= 0
}

// argumentAt describes one argument by its text, its index in the source and its number in the call.
func argumentAt(text string, from, number int) givenArgument {
	g := givenArgument{value: from, to: from + len(text), star: strings.HasPrefix(text, "*")}
	if m := named.FindStringSubmatch(text); m != nil {
		g.name, g.named, g.value = m[1], true, from+len(m[0])
		return g
	}
	for name, at := range positional {
		if at == number {
			g.name = name
		}
	}
	return g
}

// callIn is the index behind the opening parenthesis of the one call of a function, or of a method by its name, in the first line of a text
// of Python; -1 where the line has none, or several.
func callIn(text, call string) int {
	calls := regexp.MustCompile(`^` + regexp.QuoteMeta(call) + `[ \t]*\(`)
	first, n, before := -1, 0, byte(' ')
	line, _, _ := strings.Cut(text, "\n")
	eachSign(text, 0, func(i, to int) bool {
		if i >= len(line) {
			return false
		}
		if m := calls.FindString(text[i:]); m != "" && !wordSign(before) && !defines.MatchString(line[:i]) {
			first = i + len(m)
			n++
		}
		before = text[to-1]
		if to < len(text) && text[to] == ' ' {
			before = ' '
		}
		return true
	})
	if n != 1 {
		return -1
	}
	return first
}

// defines matches what stands before a name that is defined, not called.
var defines = regexp.MustCompile(`\b(class|def)\s+$`)

func wordSign(b byte) bool {
	return b == '_' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= 0x80
}

// eachSign calls f for the signs of a text of Python from an index on until f returns false, whose index it gives: a string is one sign
// (from i up to to), spaces and comments are none. -1: the text ends before.
func eachSign(text string, from int, f func(i, to int) bool) int {
	for i := from; i < len(text); {
		to := i + 1
		switch text[i] {
		case ' ', '\t', '\n', '\r', '\\':
			i++
			continue
		case '#':
			n := strings.IndexByte(text[i:], '\n')
			if n < 0 {
				return -1
			}
			i += n
			continue
		case '"', '\'':
			if to = endOfString(text, i); to < 0 {
				return -1
			}
		}
		if !f(i, to) {
			return i
		}
		i = to
	}
	return -1
}

// endOfString is the index behind the string that begins at an index; -1 where it does not end.
func endOfString(text string, from int) int {
	quote := text[from : from+1]
	if strings.HasPrefix(text[from:], strings.Repeat(quote, 3)) {
		quote = strings.Repeat(quote, 3)
	}
	for i := from + len(quote); i < len(text); i++ {
		switch {
		case text[i] == '\\':
			i++
		case strings.HasPrefix(text[i:], quote):
			return i + len(quote)
		case text[i] == '\n' && len(quote) == 1:
			return -1
		}
	}
	return -1
}
