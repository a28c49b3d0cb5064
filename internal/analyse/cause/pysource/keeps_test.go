package pysource

import (
	"fmt"
	"strings"
	"testing"
)

// What is kept is told from what is let go, what is bounded and what is only a number.
func TestKeptIn(t *testing.T) {
	loop := func(before, body string) string {
		return before + "\nfor step in range(100):\n    loss = model(x).sum()\n    loss.backward()\n    " +
			strings.ReplaceAll(body, "\n", "\n    ") + "\n"
	}
	for name, c := range map[string]struct{ source, want string }{
		"a loss with its graph":  {loop("total = 0", "total += loss"), "5 total 0"},
		"written out":            {loop("total = 0", "total = total + loss"), "5 total 0"},
		"detached":               {loop("total = 0", "total += loss.detach()"), ""},
		"its number":             {loop("total = 0", "total += loss.item()"), ""},
		"a list of losses":       {loop("losses = []", "losses.append(loss)"), "5 losses 0"},
		"a list of numbers":      {loop("losses = []", "losses.append(loss.item())"), "5 losses 4"},
		"a number with a name":   {loop("losses = []", "value = loss.item()\nlosses.append(value)"), "6 losses 4"},
		"a list of tensors":      {loop("seen = []", "out = model(x)\nseen.append(out.detach().cpu())"), "6 seen 2"},
		"a list made anew":       {loop("", "seen = []\nseen.append(out)"), ""},
		"emptied":                {loop("seen = []", "seen.append(out)\nif step % 10 == 0:\n    seen.clear()"), ""},
		"with a longest length":  {loop("seen = deque(maxlen=10)", "seen.append(out)"), ""},
		"a dict by step":         {loop("seen = {}", "seen[step] = out"), "5 seen 2"},
		"a dict by name":         {loop("seen = {}", "seen['loss'] = out"), ""},
		"a dict by parameter":    {loop("seen = {}", "for n, p in model.named_parameters():\n    seen[n] = p.grad"), ""},
		"an array":               {loop("seen = torch.zeros(9)", "seen[step] = out"), ""},
		"concatenated":           {loop("seen = torch.empty(0)", "seen = torch.cat([seen, out])"), "5 seen 2"},
		"a hook":                 {loop("", "model.register_forward_hook(look)"), "5 register_forward_hook 1"},
		"a hook that is removed": {loop("", "h = model.register_forward_hook(look)\nh.remove()"), ""},
		"beside the loop":        {"seen = []\nseen.append(1.0)\n" + loop("", "pass"), ""},
		"in a function that is called": {
			"class Log:\n    def note(self, x):\n        self.rows.append(x)\n" + loop("", "log.note(loss)"), "3 self.rows 2",
		},
		"a loss that is handed over": {
			"class Log:\n    def note(self, loss):\n        self.rows.append(loss)\n" + loop("", "log.note(loss)"), "3 self.rows 0",
		},
		"its number handed over": {
			"class Log:\n    def note(self, x, loss):\n        self.rows.append((x, loss))\n" + loop("", "log.note(x, loss.item())"),
			"3 self.rows 2",
		},
		"in one that is not": {"class Log:\n    def note(self, x):\n        self.rows.append(x)\n" + loop("", "pass"), ""},
		"a cache": {
			"@functools.lru_cache(maxsize=None)\ndef mask(n):\n    return torch.ones(n, n)\n" + loop("", "mask(step)"), "1 mask 3",
		},
		"a cache whose function begins by giving a name": {
			"@functools.lru_cache(maxsize=None)\ndef mask(n):\n    at = torch.arange(n)\n    return at * at\n" + loop("", "mask(step)"),
			"1 mask 3",
		},
		"a list of lists of numbers": {loop("seen = []", "seen.append(out.flatten().tolist())"), "5 seen 2"},
		"a bounded cache": {
			"@functools.lru_cache(maxsize=8)\ndef mask(n):\n    return torch.ones(n, n)\n" + loop("", "mask(step)"), "",
		},
		"on one line": {
			"class Log:\n    def note(self, x): self.rows.append(x)\n" + loop("", "if step: log.note(loss)"), "2 self.rows 2",
		},
		"several on one line":    {loop("seen = []", "out = model(x); seen.append(out)"), "5 seen 2"},
		"emptied on one line":    {loop("seen = []", "seen.append(out)\nif step % 10 == 0: seen.clear()"), ""},
		"a comment and a string": {loop("losses = []", "# losses.append(loss)\nprint('losses.append(loss)')"), ""},
		"an epoch's loss": {
			"for epoch in range(3):\n    losses = []\n" + strings.ReplaceAll(loop("", "losses.append(loss)"), "\n", "\n    "), "7 losses 0",
		},
		"a local list of a called helper": {"def helper(x):\n    out = []\n    for v in x:\n        out.append(v)\n    return out\n" +
			loop("", "helper(x)"), ""},
	} {
		lines := strings.Split(c.source, "\n")
		var ran []Ran
		for i, line := range lines {
			if strings.Contains(line, "loss.backward()") {
				ran = append(ran, Ran{int32(i + 1), true})
			}
		}
		var got []string
		for _, k := range KeptIn(map[string][]string{"a.py": lines}, map[string][]Ran{"a.py": ran}) {
			got = append(got, fmt.Sprintf("%d %s %d", k.Line, k.Target, k.What))
		}
		if text := strings.Join(got, ", "); text != c.want {
			t.Errorf("%s: %q, want %q\n%s", name, text, c.want, c.source)
		}
	}
}

// Any text is read without harm.
func FuzzKeptIn(f *testing.F) {
	f.Add("for x in y:\n  a.append(x)\n", int32(2), true)
	f.Add("@cache\ndef f(:\n\tx[", int32(3), false)
	f.Fuzz(func(_ *testing.T, text string, line int32, drives bool) {
		KeptIn(map[string][]string{"a.py": strings.Split(text, "\n")}, map[string][]Ran{"a.py": {{line, drives}}})
	})
}

// A function in another file is found by its name.
func TestKeptInAnotherFile(t *testing.T) {
	got := KeptIn(map[string][]string{
		"train.py": {"for step in range(100):", "    loss = model(x)", "    loss.backward()", "    track(loss)"},
		"track.py": {"seen = []", "def track(value):", "    seen.append(value)", "def unused(value):", "    seen.append(value)"},
	}, map[string][]Ran{"train.py": {{3, true}}})
	if len(got) != 1 || got[0].File != "track.py" || got[0].Line != 3 || got[0].Target != "seen" {
		t.Errorf("%+v", got)
	}
}
