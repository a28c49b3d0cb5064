package pysource

// loopAt is the statement of a line and those of the innermost loop around it; none where it stands in no loop.
func loopAt(source []string, line int32) (st codeLine, body []codeLine) {
	k := keepReader{all: statementsOf(source)}
	at := k.index(line)
	if at < 0 {
		return st, nil
	}
	if head := k.around(at, loopLine); head >= 0 {
		body = k.all[head+1 : k.end(head)]
	}
	return k.all[at], body
}

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
