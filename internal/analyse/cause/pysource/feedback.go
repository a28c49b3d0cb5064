package pysource

import "slices"

// FeedsBack says that the statement of a line calls something in a loop whose first argument rests on what the statement gave in the turn
// before, as a decoder reads its own words: turns cannot be joined. What else it is given, such as a state, does not count.
func FeedsBack(source []string, line int32) bool {
	at, body := loopAt(source, line)
	if body == nil {
		return false
	}
	var call Statement
	call.read(at.text)
	from := slices.Clone(call.Defines)
	for n := -1; n < len(from); { // names that rest on the result, until there are no more
		n = len(from)
		for i := range body {
			var st Statement
			if st.read(body[i].text); body[i].at != at.at && usesAny(st.Uses, from) {
				for _, name := range st.Defines {
					if !slices.Contains(from, name) {
						from = append(from, name)
					}
				}
			}
		}
	}
	return usesAny(namesIn(firstArgument(at.text)), from)
}

// firstArgument is the text of the first argument of the first call in a statement's value.
func firstArgument(text string) string {
	if m := assigned.FindStringSubmatch(text); m != nil {
		text = m[3]
	}
	depth, start := 0, -1
	for i, r := range text {
		switch r {
		case '(', '[', '{':
			if depth++; start < 0 && r == '(' {
				start, depth = i+1, 1
			}
		case ')', ']', '}':
			depth--
		}
		if start > 0 && (depth == 0 || depth == 1 && r == ',') {
			return text[start:i]
		}
	}
	return ""
}
