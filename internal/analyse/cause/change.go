package cause

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/analyse"
	"bottleneck/internal/wording"
)

// certain turns a finding's change into a change of the user's own line where there is no doubt which line it is.
func (c *Facts) certain(f *Finding) {
	a := &f.Fix.Action
	switch {
	case a.uncertain:
	case a.Call == trainingArguments, a.Call == compileCall:
		c.changeOnly(a, a.Call)
	case a.Call == "DataLoader" && a.File != "":
		c.changeCall(a, a.File, a.Line, a.Call)
	case a.Kind == SetArgument && a.sets(fused):
		c.changeOnly(a, "Adam")
	case f.Cause == Threads:
		c.changeThreads(f)
	case f.Cause == Sync:
		c.changeSum(f)
	}
}

// compileCall is how a program compiles.
const compileCall = "torch.compile"

// userLine is a line of the user's kept sources.
type userLine struct {
	file string
	line int
	text string
}

// onlyLine is the line of the user's sources that a test chooses; ok is false where none or several do.
func (c *Facts) onlyLine(is func(text string) bool) (at userLine, ok bool) {
	lines := c.userLines(is)
	if len(lines) > 0 {
		at = lines[len(lines)-1]
	}
	return at, len(lines) == 1
}

// userLines are the lines of the user's sources that a test chooses, without comments.
func (c *Facts) userLines(is func(text string) bool) (out []userLine) {
	for _, path := range slices.Sorted(maps.Keys(c.S.Sources)) {
		if analyse.ClassifyFile(path) != analyse.FileUser || c.S.Sources[path] == nil {
			continue
		}
		for i, text := range c.S.Sources[path].Lines {
			if code := strings.TrimSpace(text); !strings.HasPrefix(code, "#") && is(code) {
				out = append(out, userLine{file: path, line: i + 1, text: code})
			}
		}
	}
	return out
}

// changeOnly changes the one call of a function that the user's sources hold; Adam and TrainingArguments stand for their relatives too.
func (c *Facts) changeOnly(a *Action, call string) {
	named := regexp.MustCompile(`\b(Seq2Seq)?` + regexp.QuoteMeta(call) + `\w*\(`)
	at, ok := c.onlyLine(named.MatchString)
	if !ok {
		return
	}
	name := strings.TrimSuffix(named.FindString(at.text), "(")
	c.changeCall(a, at.file, at.line, name)
}

var setsThreadCount = regexp.MustCompile(`\bset_num_threads\(`)

// ompThreads is the variable that sets how many threads an operator computes with.
const ompThreads = "OMP_NUM_THREADS"

func setThreads(n int) Action { return setEnvironment(ompThreads, strconv.Itoa(n)) }

// anotherCount changes an action that sets a number of threads to set another one.
func anotherCount(a *Action, n int) {
	switch {
	case a.Kind == SetArgument && len(a.Arguments) == 1:
		a.Arguments[0].Value = strconv.Itoa(n)
	case a.Kind == SetEnvironment && a.Variable == ompThreads:
		a.Value = strconv.Itoa(n)
	case a.Kind == EditLine && setNumber.MatchString(a.New):
		a.New = setNumber.ReplaceAllString(a.New, "set_num_threads("+strconv.Itoa(n)+")")
	}
}

// setNumber matches a call that sets a number which stands there.
var setNumber = regexp.MustCompile(`\bset_num_threads\(\s*(\d+)\s*\)`)

// setsThreads says that the program has set the number of threads: it is not the environment's, and without that more than the machine has cores.
func (c *Facts) setsThreads() bool {
	e := c.S.Environment
	if asked, err := strconv.ParseFloat(strings.TrimSpace(e.Threads["OMP_NUM_THREADS"]), 64); err == nil {
		return asked != torchThreads(c)
	}
	return e.CPUs > 0 && torchThreads(c) > float64(e.CPUs)
}

func (c *Facts) changeThreads(f *Finding) {
	a := &f.Fix.Action
	if a.Kind != SetEnvironment {
		return
	}
	n := a.Value
	at, found := c.onlyLine(setsThreadCount.MatchString)
	if m := setNumber.FindStringSubmatch(at.text); !found || m != nil && m[1] != fmt.Sprint(torchThreads(c)) {
		if c.setsThreads() {
			*a = setArguments("torch.set_num_threads", Argument{Value: n})
			f.Fix.Advice = append(f.Fix.Advice, wording.Say("threads.fix-call"))
		}
		return
	}
	begin := setsThreadCount.FindStringIndex(at.text)[1]
	if given, ok := givenArguments(at.text, begin); ok && len(given) == 1 {
		a.edit(at, at.text[:begin]+n+at.text[given[0].to:])
	}
	if f.Where.File == "" { // the program asks for them itself
		f.Where.File, f.Where.Line, f.Where.Source = at.file, at.line, at.text
	}
}

// itemSum matches a line that adds a tensor's value to a sum.
var itemSum = regexp.MustCompile(`^([\w.]+ \+= [\w.]+)\.item\(\)`)

func (c *Facts) changeSum(f *Finding) {
	if old := f.Where.Source; itemSum.MatchString(old) {
		f.Fix.Action.edit(userLine{file: f.Where.File, line: f.Where.Line, text: old}, itemSum.ReplaceAllString(old, "$1.detach()"))
	}
}
