package cause

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"regexp"
	"slices"
	"strings"
)

// insertLine says where a line is to be put in, where there is no doubt: what is done once goes before the loop that runs the steps, a
// model is compiled before its parameters go to the optimizer.
func insertLine(c *facts.Facts, a *finding.Action) {
	switch module, _, _ := strings.Cut(a.Code, "."); {
	case strings.HasPrefix(a.Code, "torch.set_flush_denormal("):
		insertAtStart(c, a)
	case module == "gc" || strings.HasPrefix(a.Code, "torch.set_") || strings.HasPrefix(a.Code, "torch.backends."):
		at, ok := c.StepLoop()
		if !ok {
			return
		}
		if code, ok := withModule(c.S.Sources[at.File].Lines, a.Code, module); ok {
			a.Insert(at, code)
		}
	case strings.Contains(a.Code, compileCall+"("):
		insertCompile(c, a)
	}
}

// importsTorch matches a statement of one line that imports torch or something of it.
var importsTorch = regexp.MustCompile(`^(?:import|from)\s+torch\b[^(\\]*$`)

// insertAtStart sets something behind the first import of torch in the file of the loop that runs the steps: threads that have computed
// before keep what was set when they began.
func insertAtStart(c *facts.Facts, a *finding.Action) {
	loop, ok := c.StepLoop()
	if !ok {
		return
	}
	lines := c.S.Sources[loop.File].Lines
	first := slices.IndexFunc(lines, importsTorch.MatchString)
	code, ok := withModule(lines, a.Code, "torch")
	if first < 0 || !ok {
		return
	}
	for i, line := range lines[first+1:] {
		if statement.MatchString(line) {
			a.Insert(finding.UserLine{File: loop.File, Line: first + i + 2, Text: strings.TrimSpace(line)}, code)
			return
		}
	}
}

// statement matches a line that begins a statement of a module's own.
var statement = regexp.MustCompile(`^[A-Za-z_@]`)

var importLine = regexp.MustCompile(`^import\s+([\w., \t]+)`)

// withModule is code that uses a module, for a file: where the file has not imported it, the code does, unless the name may be of something
// else there.
func withModule(lines []string, code, module string) (string, bool) {
	named := regexp.MustCompile(`\b` + module + `\b`)
	mentioned := false
	for _, line := range lines {
		if m := importLine.FindStringSubmatch(line); m != nil {
			for name := range strings.SplitSeq(m[1], ",") {
				if strings.TrimSpace(name) == module {
					return code, true
				}
			}
		}
		mentioned = mentioned || named.MatchString(line)
	}
	return "import " + module + "; " + code, !mentioned
}

// optimized matches the line that hands a model's parameters to an optimizer.
var optimized = regexp.MustCompile(`\b(?:optim\.\w+|Adam\w*|SGD|RMSprop)\(\s*(?:params\s*=\s*)?([A-Za-z_][\w.]*)\.parameters\(\)`)

// insertCompile compiles the model whose parameters the program's one optimizer is made with.
func insertCompile(c *facts.Facts, a *finding.Action) {
	at, ok := c.OnlyLine(optimized.MatchString)
	if !ok {
		return
	}
	name, lines := optimized.FindStringSubmatch(at.Text)[1], c.S.Sources[at.File].Lines
	if _, ok := withModule(lines, a.Code, "torch"); !ok || !ownName(lines, at.Line, name) {
		return
	}
	a.Insert(at, name+" = torch.compile("+name+")")
}

var (
	functionHead = regexp.MustCompile(`^\s*(?:async\s+)?def\s`)
	indentation  = regexp.MustCompile(`^\s*`)
)

// ownName says that a name can be given another value before a line: it is an attribute, of the module's body, or was given a value in the
// line's own function above it.
func ownName(lines []string, line int, name string) bool {
	depth := len(indentation.FindString(lines[line-1]))
	if strings.Contains(name, ".") || depth == 0 {
		return true
	}
	given := regexp.MustCompile(`\b` + name + `\b[^=()]*=[^=]`)
	for i := line - 2; i >= 0; i-- {
		if functionHead.MatchString(lines[i]) && len(indentation.FindString(lines[i])) < depth {
			return regexp.MustCompile(`\b` + name + `\b`).MatchString(lines[i])
		}
		if given.MatchString(lines[i]) {
			return true
		}
	}
	return false
}
