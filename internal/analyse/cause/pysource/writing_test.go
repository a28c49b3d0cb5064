package pysource

import (
	"strings"
	"testing"
)

// A text that is computed whole for each token is told by the line that asks the model, also where it is cut to the model's longest one;
// not where only the newest token is asked for, where something is kept, or where a loop only collects what comes out.
func TestWritesFromAll(t *testing.T) {
	for _, c := range []struct {
		source string
		line   int32
		want   bool
	}{
		{"for _ in range(n):\n    p = model(x[:, -size:])\n    x = torch.cat([x, p.argmax(-1)[:, -1:]], 1)", 2, true},
		{"for _ in range(n):\n    cond = x if x.size(1) <= size else x[:, -size:]\n    logits, _ = self(cond)\n" +
			"    x = torch.cat((x, pick(logits)), dim=1)", 3, true},
		{"while n:\n    p = model(token)\n    token = p.argmax()\n    x = torch.cat([x, token])", 2, false},
		{"for _ in range(n):\n    p, cache = model(x[:, -1:], cache)\n    x = torch.cat([x, p])", 2, false},
		{"for batch in loader:\n    out = model(batch)\n    features = torch.cat([features, out])", 2, false},
		{"p = model(x)\nx = torch.cat([x, p])", 1, false},
		{"for _ in range(n):\n    p = model(x)", 2, false},
	} {
		if got := WritesFromAll(strings.Split(c.source, "\n"), c.line); got != c.want {
			t.Errorf("%v for line %d of\n%s", got, c.line, c.source)
		}
	}
}

// What a model is given beside the text, and what no turn changes, is told by its name.
func TestGivenAlike(t *testing.T) {
	const end = "\n    x = torch.cat([x, p.argmax(-1)[:, -1:]], 1)"
	for source, want := range map[string]string{
		"for _ in range(n):\n    p = model(src, x)" + end:                       "src",
		"for _ in range(n):\n    p = model(x, memory, mask)" + end:              "memory",
		"for i in range(n):\n    mask = tril(i)\n    p = model(x, mask)" + end:  "",
		"for _ in range(n):\n    p = model(x)" + end:                            "",
		"for _ in range(n):\n    p = model(x[:, -9:], 0)" + end:                 "",
		"for _ in range(n):\n    src = next(rows)\n    p = model(src, x)" + end: "",
	} {
		line := int32(2)
		if strings.Count(source, "\n") > 2 {
			line = 3
		}
		if got := GivenAlike(strings.Split(source, "\n"), line); got != want {
			t.Errorf("%q for line %d of\n%s", got, line, source)
		}
	}
}
