package pysource

// OutermostLoop is the line of the outermost loop of its function in which a line stands, 0 where it stands in none.
func OutermostLoop(source []string, line int32) (at int32) {
	k := keepReader{all: statementsOf(source)}
	i := k.index(line)
	if i < 0 {
		return 0
	}
	for least := k.all[i].indent + 1; i >= 0; i-- {
		st := &k.all[i]
		if st.indent >= least {
			continue
		}
		if least = st.indent; loopLine.MatchString(st.text) {
			at = st.at
		}
		if defLine.MatchString(st.text) {
			break
		}
	}
	return at
}
