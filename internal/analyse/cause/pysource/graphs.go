package pysource

import (
	"regexp"
	"slices"
)

var (
	withLine = regexp.MustCompile(`^(?:async\s+)?with\b`)
	// otherContext matches contexts that have nothing to do with gradients, by what their names say.
	otherContext = regexp.MustCompile(`(?i)\bopen\(|autocast|lock|profile|record_function|timer|progress|tqdm|suppress|warnings|redirect|` +
		`temporary|stream|socket|session|connection|pool|executor|device\(`)
	// switchesGraph matches what ends or begins the recording of gradients for all that follows.
	switchesGraph = regexp.MustCompile(`\bset_grad_enabled\(|\brequires_grad_?\b|\bGRAD_ENABLED\b|\b__enter__\(|\benter_context\(`)
)

// SwitchesGraph says that somewhere a source decides otherwise than by with statements and decorators whether gradients are recorded.
func SwitchesGraph(source []string) bool {
	return slices.ContainsFunc(statementsOf(source), func(st codeLine) bool {
		return switchesGraph.MatchString(st.text) && !withLine.MatchString(st.text) && st.text[0] != '@'
	})
}

// GraphOff says that a line stands within torch.no_grad, torch.inference_mode or the like, by a with statement around it or a decorator of
// its function; known is false where a with statement is of something that may be one of them.
func GraphOff(source []string, line int32) (off, known bool) {
	k := keepReader{all: statementsOf(source)}
	i := k.index(line)
	if i < 0 {
		return false, false
	}
	def := i
	if !defLine.MatchString(k.all[i].text) {
		def = k.around(i, defLine)
	}
	known = true
	take := func(head int) {
		if text := k.all[head].text; withLine.MatchString(text) {
			off, known = off || noGraph.MatchString(text), known && otherContext.MatchString(text)
		}
	}
	take(i)
	headsAround(k.all, i, def, take)
	off = off || decoratedWithoutGraph(k.all, def)
	return off, off || known
}
