package code

import (
	"regexp"
	"strings"

	"bottleneck/internal/model"
)

// LoopAround is the line of the innermost for or while that holds a line of a kept source, in the same function; 0 where none does, or
// where the source is not kept. It goes by indentation.
func LoopAround(source *model.Source, line int) int {
	if source == nil || line < 1 || line > len(source.Lines) {
		return 0
	}
	inside := indentation(source.Lines[line-1])
	for n := line - 1; n >= 1 && inside > 0; n-- {
		text := strings.TrimSpace(source.Lines[n-1])
		depth := indentation(source.Lines[n-1])
		if text == "" || strings.ContainsRune("#)]}", rune(text[0])) || depth >= inside {
			continue
		}
		inside = depth
		switch word := firstWord(text); {
		case heads[word]:
			return n
		case word == "def" || word == "class":
			return 0
		}
	}
	return 0
}

// heads are the words that begin a loop.
var heads = map[string]bool{"for": true, "while": true}

// firstWord is the word that says what a statement is, given without the white space before it.
func firstWord(text string) string {
	word, _, _ := strings.Cut(strings.TrimPrefix(text, "async "), " ")
	return word
}

// comprehension matches a loop within an expression.
var comprehension = regexp.MustCompile(`[\[({,\s]for\s+.+?\s+in\s`)

// LoopAt is the loop whose head a line is, or that it holds as a comprehension, else LoopAround: what is iterated over is called for there,
// too.
func LoopAt(source *model.Source, line int) int {
	if source == nil || line < 1 || line > len(source.Lines) {
		return 0
	}
	if text := source.Lines[line-1]; heads[firstWord(strings.TrimSpace(text))] || comprehension.MatchString(text) {
		return line
	}
	return LoopAround(source, line)
}

// InLoop says that a loop, given by its line, holds another line of the source.
func InLoop(source *model.Source, loop, line int) bool {
	for loop > 0 && line > loop {
		if line = LoopAround(source, line); line == loop {
			return true
		}
	}
	return false
}

// indentation is the width of the white space before a line, a tab up to the next multiple of eight.
func indentation(line string) int {
	width := 0
	for _, r := range line {
		switch r {
		case ' ':
			width++
		case '\t':
			width += 8 - width%8
		default:
			return width
		}
	}
	return width
}
