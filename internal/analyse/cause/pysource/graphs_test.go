package pysource

import (
	"strings"
	"testing"
)

func TestGraphOff(t *testing.T) {
	for _, c := range []struct {
		source     string
		line       int32
		off, known bool
	}{
		{"def f(x):\n    return model(x)", 2, false, true},
		{"@torch.no_grad()\ndef f(x):\n    return model(x)", 3, true, true},
		{"@torch.inference_mode()\n@other\ndef f(x):\n    return model(x)", 4, true, true},
		{"def f(x):\n    with torch.no_grad():\n        for y in x:\n            model(y)\n    model(x)", 4, true, true},
		{"def f(x):\n    with torch.no_grad():\n        for y in x:\n            model(y)\n    model(x)", 5, false, true},
		{"def f(x):\n    with context:\n        model(x)", 3, false, false},
		{"def f(x):\n    with torch.autocast('cpu'), open(p) as out:\n        model(x)", 3, false, true},
		{"with torch.no_grad():\n    def f(x):\n        return model(x)", 3, false, true}, // it is called elsewhere
		{"with torch.inference_mode(): model(x)", 1, true, true},
		{"def f(x): return model(x)", 1, false, true},
		{"", 3, false, false},
	} {
		if off, known := GraphOff(strings.Split(c.source, "\n"), c.line); off != c.off || known != c.known {
			t.Errorf("%q, line %d: off %v, known %v; want %v, %v", c.source, c.line, off, known, c.off, c.known)
		}
	}
}

func TestSwitchesGraph(t *testing.T) {
	for source, want := range map[string]bool{
		"torch.set_grad_enabled(False)":                             true,
		"model.requires_grad_(False)":                               true,
		"for p in model.parameters():\n    p.requires_grad = False": true,
		"stack.enter_context(torch.no_grad())":                      true,
		"with torch.set_grad_enabled(train):\n    f(x)":             false,
		"@torch.no_grad()\ndef f(x):\n    return x":                 false,
		"x = torch.rand(3)  # requires_grad":                        false,
	} {
		if got := SwitchesGraph(strings.Split(source, "\n")); got != want {
			t.Errorf("%q: %v, want %v", source, got, want)
		}
	}
}
