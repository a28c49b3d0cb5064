package pysource

import (
	"os"
	"strings"
	"testing"
)

// TestUnchanging asks of lines in programs whether they compute the same at each turn. A line that ends in "# same" does, one that ends in
// "# other" does not; calls says from which lines its function is called.
func TestUnchanging(t *testing.T) {
	for _, name := range []string{"unchanging.py"} {
		text, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		source := strings.Split(string(text), "\n")
		var reader Reader
		asked := 0
		for i, line := range source {
			at := int32(i + 1)
			same, other := strings.HasSuffix(line, "# same"), strings.HasSuffix(line, "# other")
			if !same && !other {
				continue
			}
			asked++
			var stack []At
			for _, call := range callsTo(source, at) {
				stack = append(stack, At{source, functionAt(source, call), call})
			}
			stack = append(stack, At{source, functionAt(source, at), at})
			if reader.Unchanging(stack) != same {
				t.Errorf("%s:%d: %s: said %v", name, at, strings.TrimSpace(line), !same)
			}
		}
		if asked < 30 {
			t.Errorf("only %d lines of %s are asked about", asked, name)
		}
	}
}

// functionAt is the name of the function around a line.
func functionAt(source []string, line int32) string {
	k := keepReader{all: statementsOf(source)}
	if head := k.around(k.index(line), defLine); head >= 0 {
		return defLine.FindStringSubmatch(k.all[head].text)[1]
	}
	return "<module>"
}

// callsTo are the lines from which the function around a line is called, outermost first: those that name it in "# calls NAME".
func callsTo(source []string, line int32) (out []int32) {
	for name := functionAt(source, line); name != "<module>"; {
		found := int32(0)
		for i, text := range source {
			if strings.HasSuffix(text, "# calls "+name) {
				found = int32(i + 1)
			}
		}
		if found == 0 {
			break
		}
		out = append([]int32{found}, out...)
		name = functionAt(source, found)
	}
	return out
}
