package cli

import (
	"regexp"
	"slices"
	"testing"
)

func TestInterpreterFlags(t *testing.T) {
	for _, c := range []struct{ argv, want []string }{
		{[]string{"python3", "-uX", "importtime", "-W", "error", "s.py", "-I"}, []string{"u", "Ximporttime", "Werror"}},
		{[]string{"/a/python3.11", "-Ximporttime", "-bIc", "x", "-E"}, []string{"Ximporttime", "b", "I", "cx"}},
		{[]string{"python", "-m", "pkg", "-S"}, []string{"mpkg"}},
		{[]string{"python", "-X"}, []string{"X"}},
		{[]string{"python", "-"}, []string{""}},
		{[]string{"sh", "-c", "python -I"}, nil},
	} {
		got := interpreterFlags(c.argv)
		if !slices.Equal(got, c.want) && len(got)+len(c.want) > 1 {
			t.Errorf("%q: %q, want %q", c.argv, got, c.want)
		}
	}
}

var importTimes = regexp.MustCompile(`(?m)^import time: +\d+ \| +\d+ \|`)

// Where Python prints every import with its time, the agent stays away: what is printed is the program's, and the report says why.
func TestImportTimesAreTheProgramsOwn(t *testing.T) {
	for name, args := range map[string][]string{
		"flag": {python, "-X", "importtime", "s.py"}, "variable": {python, "s.py"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.file("s.py", "import json, decimal\nprint(json.dumps(1))\n")
			if name == "variable" {
				b.env = append(b.env, "PYTHONPROFILEIMPORTTIME=1")
			}
			plain := b.finish(b.exec(args[0], args[1:]...))
			got := b.run("", append([]string{"run", "-o", "report.txt", "--"}, args...)...)
			for _, r := range []*result{&plain, &got} {
				r.stderr = importTimes.ReplaceAllString(r.stderr, "")
			}
			if got != plain {
				t.Errorf("with bottleneck:\n%+v\nwithout:\n%+v", got, plain)
			}
			expect(t, "the report", b.read("report.txt"), "-X importtime")
		})
	}
}
