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
