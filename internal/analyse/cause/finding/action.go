package finding

import (
	"slices"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// ActionKind says how a fix is carried out.
type ActionKind string

// Kinds of actions. Advice is what only a person can carry out.
const (
	Advice         ActionKind = ""
	SetArgument    ActionKind = "set-argument"
	SetEnvironment ActionKind = "set-environment"
	EditLine       ActionKind = "edit-line"
	InsertLine     ActionKind = "insert-line"
)

// Action is a fix in a form that a program can apply to a copy of the sources.
type Action struct {
	Kind            ActionKind
	Call            string     // SetArgument: what is called, such as DataLoader; "" for an optimizer, whichever it is
	Arguments       []Argument // SetArgument: what it is called with
	Variable, Value string     // SetEnvironment
	Code            string     // InsertLine: the line
	File            string     // where the change belongs; "" where that is not known
	Line            int
	// The user's line at File and Line, and what becomes of it; InsertLine: Old is the line before which Code goes, as deep as that. ""
	// where that is not certain.
	Old, New string
	// Uncertain marks a change that needs more than its line, so that it stays a description; With is more code that it needs, without
	// which it does harm.
	Uncertain bool
	With      string
	// Step is what the change alone saves, ns per step, and Run over the run, where the finding's fix is another one or more than it; zero
	// where it saves what the finding says.
	Step, Run Range
}

// Argument is one argument of a call; one without a name is the only one.
type Argument struct{ Name, Value string }

func SetArguments(call string, args ...Argument) Action {
	return Action{Kind: SetArgument, Call: call, Arguments: args}
}

func SetVariable(variable, value string) Action {
	return Action{Kind: SetEnvironment, Variable: variable, Value: value}
}

func NewLine(code string) Action { return Action{Kind: InsertLine, Code: code} }

// WithoutPlans leaves attention to implementations that need no plan of cuDNN's.
func WithoutPlans() Action { return NewLine("torch.backends.cuda.enable_cudnn_sdp(False)") }

// Sets says that the action sets an argument of a name.
func (a *Action) Sets(argument string) bool {
	return slices.ContainsFunc(a.Arguments, func(g Argument) bool { return g.Name == argument })
}

// Edit makes the action the change of one line of the user's, of which it is certain.
func (a *Action) Edit(at UserLine, becomes string) {
	if a.Kind != SetArgument {
		*a = Action{Kind: EditLine}
	}
	a.File, a.Line, a.Old, a.New = at.File, at.Line, at.Text, becomes
}

// Insert makes the action a line that goes before one of the user's, of which it is certain.
func (a *Action) Insert(before UserLine, code string) {
	*a = Action{Kind: InsertLine, Code: code, File: before.File, Line: before.Line, Old: before.Text}
}

// Change is the changed line, call or setting as code; "" for advice.
func (a *Action) Change() string {
	switch {
	case a.New != "":
		return a.New
	case a.Kind == SetEnvironment:
		return a.Variable + "=" + a.Value
	case a.Kind == InsertLine:
		return a.Code
	case a.Kind != SetArgument:
		return ""
	}
	var set []string
	with := ""
	if a.With != "" {
		with = " with " + a.With
	}
	for _, g := range a.Arguments {
		if g.Name == "" {
			return a.Call + "(" + g.Value + ")" + with
		}
		set = append(set, g.Name+"="+g.Value)
	}
	if a.Call == "" {
		return strings.Join(set, ", ") + with
	}
	return a.Call + "(..., " + strings.Join(set, ", ") + ")" + with
}

// UserLine is a line of the user's kept sources.
type UserLine struct {
	File string
	Line int
	Text string
}

// Where is the line as a place of no function and no rank.
func (l UserLine) Where() Where {
	return Where{File: l.File, Line: l.Line, Source: l.Text, Rank: model.NoRank}
}

// OmpThreads is the variable that sets how many threads an operator computes with.
const OmpThreads = "OMP_NUM_THREADS"

func SetThreads(n int) Action { return SetVariable(OmpThreads, strconv.Itoa(n)) }
