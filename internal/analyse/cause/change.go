package cause

import (
	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/input"
	"bottleneck/internal/analyse/cause/memory"
	"bottleneck/internal/wording"
	"cmp"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// certain turns a finding's change into a change of the user's own line where there is no doubt which line it is.
func certain(c *facts.Facts, f *finding.Finding) {
	a := &f.Fix.Action
	switch {
	case a.Uncertain:
	case a.Kind == finding.InsertLine:
		insertLine(c, a)
	case a.Call == input.TrainingArguments, a.Call == compileCall:
		changeOnly(c, a, a.Call)
	case a.Call == "DataLoader" && a.File != "":
		changeCall(c, a, a.File, a.Line, a.Call)
	case a.Kind == finding.SetArgument && a.Sets(memory.Fused):
		class := cmp.Or(a.Call, "Adam")
		a.Call = "" // the user's may be one of its relatives
		changeOnly(c, a, class)
	case a.Kind == finding.SetArgument && a.Sets(memory.NeedWeights):
		changeCall(c, a, f.Where.File, f.Where.Line, a.Call)
	case f.Cause == finding.Threads:
		changeThreads(c, f)
	case f.Cause == finding.Sync:
		changeSum(c, f)
	case f.Cause == finding.IO && f.Sub == "logging":
		leaveOutFlush(f)
	}
}

// compileCall is how a program compiles.
const compileCall = "torch.compile"

// changeOnly changes the one call of a function that the user's sources hold; Adam and TrainingArguments stand for their relatives too.
func changeOnly(c *facts.Facts, a *finding.Action, call string) {
	named := regexp.MustCompile(`\b(Seq2Seq)?` + regexp.QuoteMeta(call) + `\w*\(`)
	at, ok := c.OnlyLine(named.MatchString)
	if !ok {
		return
	}
	name := strings.TrimSuffix(named.FindString(at.Text), "(")
	changeCall(c, a, at.File, at.Line, name)
}

var setsThreadCount = regexp.MustCompile(`\bset_num_threads\(`)

// anotherCount changes an action that sets a number of threads to set another one.
func anotherCount(a *finding.Action, n int) {
	switch {
	case a.Kind == finding.SetArgument && len(a.Arguments) == 1:
		a.Arguments[0].Value = strconv.Itoa(n)
	case a.Kind == finding.SetEnvironment && a.Variable == finding.OmpThreads:
		a.Value = strconv.Itoa(n)
	case a.Kind == finding.EditLine && setNumber.MatchString(a.New):
		a.New = setNumber.ReplaceAllString(a.New, "set_num_threads("+strconv.Itoa(n)+")")
	}
}

// setNumber matches a call that sets a number which stands there.
var setNumber = regexp.MustCompile(`\bset_num_threads\(\s*(\d+)\s*\)`)

// setsThreads says that the program has set the number of threads: it is not the environment's, and without that more than the machine has
// cores.
func setsThreads(c *facts.Facts) bool {
	e := c.S.Environment
	if asked, err := strconv.ParseFloat(strings.TrimSpace(e.Threads["OMP_NUM_THREADS"]), 64); err == nil {
		return asked != facts.TorchThreads(c)
	}
	return e.CPUs > 0 && facts.TorchThreads(c) > float64(e.CPUs)
}

func changeThreads(c *facts.Facts, f *finding.Finding) {
	a := &f.Fix.Action
	if a.Kind != finding.SetEnvironment {
		return
	}
	n := a.Value
	at, found := c.OnlyLine(setsThreadCount.MatchString)
	if m := setNumber.FindStringSubmatch(at.Text); !found || m != nil && m[1] != fmt.Sprint(facts.TorchThreads(c)) {
		if setsThreads(c) {
			*a = finding.SetArguments("torch.set_num_threads", finding.Argument{Value: n})
			f.Fix.Advice = append(f.Fix.Advice, wording.Say("threads.fix-call"))
		}
		return
	}
	begin := setsThreadCount.FindStringIndex(at.Text)[1]
	if given, ok := givenArguments(at.Text, begin); ok && len(given) == 1 {
		a.Edit(at, at.Text[:begin]+n+at.Text[given[0].to:])
	}
	if f.Where.File == "" { // the program asks for them itself
		f.Where.File, f.Where.Line, f.Where.Source = at.File, at.Line, at.Text
	}
}

// itemSum matches a line that adds a tensor's value to a sum.
var itemSum = regexp.MustCompile(`^([\w.]+ \+= [\w.]+)\.item\(\)`)

func changeSum(c *facts.Facts, f *finding.Finding) {
	if old := f.Where.Source; itemSum.MatchString(old) {
		f.Fix.Action.Edit(finding.UserLine{File: f.Where.File, Line: f.Where.Line, Text: old}, itemSum.ReplaceAllString(old, "$1.detach()"))
	}
}

// flushes matches a line that does nothing but wait until what was written has left the process, or is on the disk.
var flushes = regexp.MustCompile(`^(os\.f(data)?sync\([\w.]+(\.fileno\(\))?\)|[\w.]+\.flush\(\))\s*(#.*)?$`)

func leaveOutFlush(f *finding.Finding) {
	if old := f.Where.Source; flushes.MatchString(old) {
		f.Fix.Advice = []wording.Text{wording.Say("io.fix-flush")}
		f.Fix.Action.Edit(finding.UserLine{File: f.Where.File, Line: f.Where.Line, Text: old}, "pass")
		f.Caveat = append(f.Caveat, wording.Say("io.caveat-flush"))
	}
}
