package pysource

import (
	"fmt"
	"strings"
	"testing"
)

func TestItemsIn(t *testing.T) {
	dataset := func(made, item string) string {
		return "class Rows(Dataset):\n    def __init__(self, path):\n        " + made + "\n\n    def __getitem__(self, i):\n        " +
			item + "\n"
	}
	for name, c := range map[string]struct{ source, want string }{
		"a list":                        {dataset("self.rows = [int(x) for x in open(path)]", "return self.rows[i]"), "3 self.rows"},
		"lines of a file":               {dataset("self.rows = open(path).readlines()", "return parse(self.rows[i])"), "3 self.rows"},
		"an array":                      {dataset("self.rows = np.load(path)", "return self.rows[i]"), ""},
		"an array of a list":            {dataset("self.rows = torch.tensor([1, 2])", "return self.rows[i]"), ""},
		"what is not indexed for items": {dataset("self.names = ['a', 'b']", "return read(i)"), ""},
		"no dataset": {"class Rows:\n    def __init__(self):\n        self.rows = [1]\n    def get(self, i):\n" +
			"        return self.rows[i]\n", ""},
	} {
		got := ""
		for _, k := range ItemsIn(map[string][]string{"data.py": strings.Split(c.source, "\n")}) {
			got += fmt.Sprintf("%d %s", k.Line, k.Target)
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// Functions that draw random numbers, by their text, give something else each time; so may the body of a file.
func TestDraws(t *testing.T) {
	source := strings.Split("import torch\nx = 1\ndef make(self, i):\n    w = self.rows[i]\n    return torch.stft(w, 512)\n"+
		"def crop(x):\n    i = random.randint(0, 9)\n    return x[i:]\n", "\n")
	var r Reader
	for line, want := range map[int32]bool{2: true, 3: false, 4: false, 5: false, 6: true, 8: true, 99: true} {
		if got := r.Draws(source, line); got != want {
			t.Errorf("line %d: %v", line, got)
		}
	}
}
