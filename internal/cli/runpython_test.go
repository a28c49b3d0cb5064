package cli

import (
	"os"
	"regexp"
	"slices"
	"strings"
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

// TestCallsLeaveTracersAlone compares what the program's own tracer sees beside --calls, where threads start too: the same events, and none
// of the agent's.
func TestCallsLeaveTracersAlone(t *testing.T) {
	b := newBench(t)
	b.file("s.py", `import sys, threading
seen = []
def tracer(frame, event, _):
    name = frame.f_code.co_filename
    seen.append((event, name, frame.f_code.co_name, frame.f_lineno))
    return tracer
def work():
    return [abs(i) for i in range(9)]
threading.settrace(tracer)
sys.settrace(tracer)
work()
print(len(seen))
t = threading.Thread(target=work)
t.start()
t.join()
sys.settrace(None)
print(sorted(seen, key=str))
`)
	plain := b.finish(b.exec(python, "s.py"))
	got := b.run("", "run", "--calls", "-o", "report.txt", "--", python, "s.py")
	if plain.code != 0 || got != plain || !strings.Contains(plain.stdout, "'work'") {
		t.Errorf("with bottleneck:\n%+v\nwithout:\n%+v", got, plain)
	}
}

func expectManual(t *testing.T, sentence string) {
	t.Helper()
	manual, err := os.ReadFile("../../docs/manual.md")
	if err != nil || !strings.Contains(strings.Join(strings.Fields(string(manual)), " "), sentence) {
		t.Errorf("the manual does not say %q (%v)", sentence, err)
	}
}

// TestImportFindersOfTheProgram compares what a program sees that lists its import finders: the agent's is the first, as the manual says,
// and all else is as without it.
func TestImportFindersOfTheProgram(t *testing.T) {
	b := newBench(t)
	b.file("s.py", "import sys\nprint([getattr(f, '__name__', type(f).__name__) for f in sys.meta_path], len(sys.path_hooks), sys.path)\n")
	plain := b.finish(b.exec(python, "s.py"))
	got := b.run("", "run", "-o", "report.txt", "--", python, "s.py")
	if !strings.HasPrefix(got.stdout, "['Finder', ") {
		t.Errorf("the agent's finder is not the first: %s", got.stdout)
	}
	if got.stdout = strings.Replace(got.stdout, "'Finder', ", "", 1); plain.code != 0 || got != plain {
		t.Errorf("with bottleneck:\n%+v\nwithout:\n%+v", got, plain)
	}
	expectManual(t, "a program that lists `sys.meta_path` sees its finder of modules first")
}
