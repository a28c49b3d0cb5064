package pysource

import (
	"strings"
	"testing"
)

func TestFeedsBack(t *testing.T) {
	for _, c := range []struct {
		source string
		want   bool
	}{
		{"for t in range(n):\n    h, c = cell(x[t], (h, c))  # here\n    out.append(h)", false},
		{"for word in words.unbind(1):\n    h, c = self.cell(word, (h, c))  # here\n    kinds.append(self.kind(h))", false},
		{"for t in range(n):\n    e = self.table(x[:, t])\n    h = self.cell(e, h)  # here", false},
		{"for t in range(n):\n    a = one(x[t], a)\n    b = two(a, b)  # here", false},
		{"for t in range(n):\n    h = self.cell(self.table(word), h)  # here\n    word = self.out(h).argmax(1)", true},
		{"for t in range(n):\n    seen = attend(h, read)\n    h, c = cell(torch.cat([x[t], seen], 1), (h, c))  # here", true},
		{"for t in range(n):\n    h = cell(torch.cat((x[t], h), 1), h)  # here", true},
		{"for t in range(n):\n    y = self.out(h)\n    if cold:\n        word = y.argmax(1)\n    h = cell(word, h)  # here", true},
		{"h = cell(word, h)  # here\nword = out(h)", false}, // no loop
	} {
		lines := strings.Split(c.source, "\n")
		for i, text := range lines {
			if strings.HasSuffix(text, "# here") {
				if got := FeedsBack(lines, int32(i+1)); got != c.want {
					t.Errorf("%v of\n%s", got, c.source)
				}
			}
		}
	}
}
