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
	known = true
	for indent := k.all[i].indent + 1; i >= 0; i-- {
		st := &k.all[i]
		if st.indent >= indent {
			continue
		}
		indent = st.indent
		switch {
		case withLine.MatchString(st.text):
			if noGraph.MatchString(st.text) {
				return true, true
			}
			known = known && otherContext.MatchString(st.text)
		case defLine.MatchString(st.text):
			for d := i - 1; d >= 0 && k.all[d].indent == st.indent && k.all[d].text[0] == '@'; d-- {
				if noGraph.MatchString(k.all[d].text) {
					return true, true
				}
			}
			return false, known
		}
	}
	return false, known
}
