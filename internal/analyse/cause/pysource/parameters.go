package pysource

import (
	"regexp"
	"slices"
	"strings"
)

// ParameterLoop is a loop that goes through the parameters of a model one by one.
type ParameterLoop struct {
	Line int32 // of its head, or of the comprehension
	What PerParameter
	// Penalty says that it may be one: it sums squares, absolute values or norms of the parameters themselves.
	Penalty bool
}

// PerParameter is what a loop does with each parameter.
type PerParameter int

// What is done with each parameter.
const (
	Changes  PerParameter = iota // something
	Averages                     // a second model follows it
	Measures                     // its norm is asked for, or that of its gradient
)

var (
	parameters    = regexp.MustCompile(`(?:\b|\.)(?:named_)?(?:parameters|buffers)\(|\.state_dict\(`)
	comprehension = regexp.MustCompile(`[\[({\s]for\s+.+?\s+in\s+(.*)$`)
	norms         = regexp.MustCompile(`\bnorm\(|\.norm\(|vector_norm\(`)
	averages      = regexp.MustCompile(`\.(?:copy_|lerp_|lerp|mul_)\(|\.data\s*=[^=]`)
	gradients     = regexp.MustCompile(`\.grad\b`)
	squares       = regexp.MustCompile(`\bpow\(|\*\*\s*2\b|\bsquare\(|\babs\(`)
	// numbersOnly matches what leaves no graph.
	numbersOnly = regexp.MustCompile(`\.(?:item|tolist|numpy|detach)\(|\.data\b`)
	// others matches what no call for a list of tensors does: collectives, logs, files.
	others = regexp.MustCompile(`\b(?:print|log|info|all_reduce|all_gather|reduce|broadcast|send|recv|save|write|add_\w+|hist\w*)\(`)
)

// ParameterLoopAt is the loop over parameters in which the statement of a line stands, in the same function: a for statement or a
// comprehension whose expression asks a module for them, or uses a name that stands for what one was asked for. A statement that gives
// such a loop its name counts as the loop's. Line is 0 where there is none, and of loops that log, write or talk to other processes.
func ParameterLoopAt(source []string, line int32) ParameterLoop {
	if !slices.ContainsFunc(source, func(text string) bool {
		return strings.Contains(text, "parameters(") ||
			strings.Contains(text, "buffers(") || strings.Contains(text, "state_dict(")
	}) {
		return ParameterLoop{}
	}
	k := keepReader{all: statementsOf(source)}
	at := k.index(line)
	if at < 0 {
		return ParameterLoop{}
	}
	if m := comprehension.FindStringSubmatch(k.all[at].text); m != nil && k.ofParameters(at, m[1]) {
		return k.parameterLoop(at, at+1)
	}
	for head := k.around(at, loopLine); head >= 0; head = k.outer(head) {
		if m := loopHead.FindStringSubmatch(k.all[head].text); m != nil && k.ofParameters(head, m[2]) {
			return k.parameterLoop(head, k.end(head))
		}
	}
	return k.givesParameters(at)
}

// outer is the head of the loop around a loop, -1 for none.
func (k *keepReader) outer(head int) int {
	for i := head - 1; i >= 0; i-- {
		if k.all[i].indent < k.all[head].indent {
			return k.around(i, loopLine)
		}
	}
	return -1
}

// ofParameters says that an expression of a statement asks for a module's parameters, or uses a name that was given what such an
// expression asks for: one of the same function, or an attribute.
func (k *keepReader) ofParameters(at int, expression string) bool {
	if parameters.MatchString(expression) {
		return true
	}
	used := namesIn(expression)
	function := k.around(at, defLine)
	for i := range k.all {
		st := &k.all[i]
		if !parameters.MatchString(st.text) || loopLine.MatchString(st.text) {
			continue
		}
		local := k.around(i, defLine) == function && i < at
		known := definedIn(st.text)
		if !local {
			known = slices.DeleteFunc(known, func(name string) bool { return !strings.HasPrefix(name, "self.") })
		}
		if usesAny(used, known) {
			return true
		}
	}
	return false
}

// givesParameters is the loop over parameters that goes through what a statement asks a module for.
func (k *keepReader) givesParameters(at int) ParameterLoop {
	if !parameters.MatchString(k.all[at].text) {
		return ParameterLoop{}
	}
	defined := definedIn(k.all[at].text)
	for i := at + 1; i < len(k.all) && !defLine.MatchString(k.all[i].text); i++ {
		if m := loopHead.FindStringSubmatch(k.all[i].text); m != nil && usesAny(namesIn(m[2]), defined) {
			return k.parameterLoop(i, k.end(i))
		}
	}
	return ParameterLoop{}
}

// usesAny says that one of the names that are used, or what a method of one is called on, is one of others.
func usesAny(used, names []string) bool {
	return slices.ContainsFunc(used, func(use string) bool {
		use = strings.TrimSuffix(use, "(")
		return slices.ContainsFunc(names, func(name string) bool { return use == name || strings.HasPrefix(use, name+".") })
	})
}

// definedIn are the names that a statement gives values to.
func definedIn(text string) []string {
	var st Statement
	st.read(text)
	return st.Defines
}

// parameterLoop tells what the statements of a loop do, from its head up to another statement.
func (k *keepReader) parameterLoop(head, to int) ParameterLoop {
	out := ParameterLoop{Line: k.all[head].at}
	measures, sums, changes, numbers := false, false, false, false
	for i := head; i < to; i++ {
		text := k.all[i].text
		if others.MatchString(text) {
			return ParameterLoop{}
		}
		measures = measures || norms.MatchString(text)
		changes = changes || gradients.MatchString(text)
		numbers = numbers || numbersOnly.MatchString(text)
		sums = sums || squares.MatchString(text)
		if averages.MatchString(text) {
			out.What = Averages
		}
	}
	switch {
	case measures:
		out.What = Measures
	case changes:
		out.What = Changes
	}
	out.Penalty = (measures || sums) && !changes && !numbers && out.What != Averages
	return out
}
