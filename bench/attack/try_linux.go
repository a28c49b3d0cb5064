package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"time"
)

// try is one case: files in a folder of its own, commands about them, and what did not hold.
type try struct {
	*attack
	family   string
	number   int
	rng      *rand.Rand
	dir      string
	what     string
	unpacked int64 // bytes of the input, unpacked; above maxInput memory is not judged
	commands int
	outs     int // names given to outputs
	skipped  string
	flaws    []flaw
	dirty    bool // a command was killed or a process lives on: what is left goes with the next run, see nextRun
}

// canary is in a file outside of everything that commands are asked about.
const canary = "canary-4f1d7c-outside"

func (a *attack) try(family string, number int) *try {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %d", family, number)
	t := &try{attack: a, family: family, number: number, rng: rand.New(rand.NewPCG(a.seed, h.Sum64())),
		dir: filepath.Join(a.work, fmt.Sprintf("%s-%d", family, number))}
	for _, name := range []string{"in", "cwd", "tmp", "home", "out", "outside"} {
		t.must(os.MkdirAll(filepath.Join(t.dir, name), 0o755))
	}
	t.file("outside/secret.py", "# "+canary+"\n")
	return t
}

// must stops the harness where it cannot work itself.
func (t *try) must(err error) {
	if err != nil {
		panic(fmt.Sprintf("bench/attack, %s %d: %v", t.family, t.number, err))
	}
}

func (t *try) path(name string) string { return filepath.Join(t.dir, filepath.FromSlash(name)) }

// file writes a file of the case and gives its path.
func (t *try) file(name, text string) string {
	t.must(os.MkdirAll(filepath.Dir(t.path(name)), 0o755))
	t.must(os.WriteFile(t.path(name), []byte(text), 0o644))
	return t.path(name)
}

// say adds to the words of the case.
func (t *try) say(format string, args ...any) {
	if t.what != "" {
		t.what += ", "
	}
	t.what += fmt.Sprintf(format, args...)
}

func (t *try) skip(format string, args ...any) { t.skipped = fmt.Sprintf(format, args...) }

func (t *try) bad(verdict, command, format string, args ...any) {
	t.flaws = append(t.flaws, flaw{t.number, verdict, t.what, command, fmt.Sprintf(format, args...)})
}

// finish looks for what was written where nobody asked for it, and removes the case's files.
func (t *try) finish() {
	if t.dirty {
		t.nextRun()
	}
	if t.ctx.Err() == nil {
		t.foreign()
	}
	if t.keep != "" && len(t.flaws) > 0 {
		kept := filepath.Join(t.keep, filepath.Base(t.dir))
		t.must(os.MkdirAll(t.keep, 0o755))
		t.must(os.RemoveAll(kept))
		if os.Rename(t.dir, kept) != nil {
			t.must(copyTree(t.dir, kept))
		}
	}
	t.must(os.RemoveAll(t.dir))
}

// nextRun does what takes away the leavings of launchers and readers that were killed: the next run, and the next report of a packed
// session. Both are asked again while a process of the case may still live.
func (t *try) nextRun() {
	for i := range 20 {
		t.plain([]string{t.binary, "run", "--out", t.path(fmt.Sprintf("out/next%d", i)), "-o", os.DevNull, "--", "/bin/true"})
		if t.packed != "" {
			t.plain([]string{t.binary, "report", t.packed})
		}
		if len(t.left("home")) == 0 && len(t.left("tmp")) == 0 || t.ctx.Err() != nil {
			return
		}
		time.Sleep(500 * time.Millisecond)
	}
}

// compiled are the files that runs share on purpose (docs/session.md): the agent's compiled code, among the user's caches.
var compiled = regexp.MustCompile(`^home/\.cache/bottleneck/compiled-[0-9a-f]+/\w+\.[\w-]+\.code$`)

// left lists the files of a folder of the case that were not there before.
func (t *try) left(folder string) (found []string) {
	t.must(filepath.WalkDir(t.path(folder), func(path string, d fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(t.dir, path); err == nil && !d.IsDir() && rel != "outside/secret.py" && !compiled.MatchString(rel) {
			found = append(found, rel)
		}
		return nil
	}))
	return found
}

// foreign lists what lies in folders that commands must leave as they were.
func (t *try) foreign() {
	for _, name := range []string{"cwd", "home", "tmp", "outside"} {
		if found := t.left(name); len(found) > 0 {
			t.bad("foreign file", "", "written, and nobody asked for it: %s", strings.Join(found[:min(5, len(found))], ", "))
		}
	}
	if text, err := os.ReadFile(t.path("outside/secret.py")); err != nil || string(text) != "# "+canary+"\n" {
		t.bad("foreign file", "", "a file outside of the input was changed")
	}
}

// environment is the case's own, without anything of the harness's.
func (t *try) environment(more ...string) []string {
	env := []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.path("home"), "TMPDIR=" + t.path("tmp"), "LANG=C.UTF-8", "OMP_NUM_THREADS=1",
		"PYTHONDONTWRITEBYTECODE=1"}
	return append(env, more...)
}

// ask is a command line of the binary about the case's input.
type ask struct {
	args []string
	text bool // for people: nothing may steer a terminal
	json bool // one JSON document
}

func text(args ...string) ask { return ask{args: args, text: true} }
func data(args ...string) ask { return ask{args: args} }

// asks are the command lines that every reader of in can be given; directories can be packed, too.
func (t *try) asks(in ...string) []ask {
	list := []ask{
		text(append([]string{"report"}, in...)...),
		{args: append([]string{"report", "--json", "-"}, in...), json: true},
		text(append([]string{"report", "--style", "torch"}, in...)...),
		text(append([]string{"report", "--style", "classic"}, in...)...),
		text(append([]string{"report", "--style", "lightning"}, in...)...),
		text(append([]string{"report", "-v", "--all"}, in...)...),
		data(append([]string{"report", "--events", "--json", "-"}, in...)...),
		text(append([]string{"what-if", "--remove", pick(t.rng, "sync", "input", "python", "launch")}, in...)...),
		text(append([]string{"what-if", "--ranks-equal", "--scale", "matmul=0.5"}, in...)...),
	}
	for _, format := range t.formats {
		list = append(list, data(append([]string{"export", "--to", format, "-o", t.out()}, in...)...))
	}
	return list
}

// out is a name that nothing has yet.
func (t *try) out() string {
	t.outs++
	return t.path(fmt.Sprintf("out/%d", t.outs))
}

// hung says that a command of this case has not ended by itself.
func (t *try) hung() bool {
	return slices.ContainsFunc(t.flaws, func(f flaw) bool { return f.verdict == "hang" })
}

func pick[T any](rng *rand.Rand, of ...T) T { return of[rng.IntN(len(of))] }

// drive asks for the report and n other command lines about the input.
func (t *try) drive(n int, in ...string) {
	list := t.asks(in...)
	t.bottleneck(list[0])
	rest := list[1:]
	t.rng.Shuffle(len(rest), func(i, k int) { rest[i], rest[k] = rest[k], rest[i] })
	for _, a := range rest[:min(n, len(rest))] {
		if t.hung() {
			return // the same again would only take time
		}
		t.bottleneck(a)
	}
}

// pack makes an archive of a session and asks for its report.
func (t *try) pack(dir string, redact bool) string {
	out := t.path(fmt.Sprintf("out/%v.tar.zst", redact))
	_ = os.Remove(out)
	if t.hung() {
		return ""
	}
	args := []string{"pack", "-o", out}
	if redact {
		args = append(args, "--redact")
	}
	e := t.bottleneck(data(append(args, dir)...))
	if e.code != 0 {
		return ""
	}
	t.bottleneck(text("report", out))
	return out
}

// bottleneck runs the binary and judges how it went.
func (t *try) bottleneck(a ask) ended {
	e := t.start(execution{dir: t.path("cwd"), env: t.environment(), args: append([]string{t.binary}, a.args...)})
	t.judge(a, e)
	return e
}

var crashed = regexp.MustCompile(`(?m)^(panic: |fatal error: |runtime: |goroutine \d+ \[|SIG[A-Z]+: )`)

// steers are the characters that terminals act on, but for line ends and tabs: controls, and what turns text around.
var steers = regexp.MustCompile("[\x00-\x08\x0b-\x1f\x7f\u0080-\u009f\u202a-\u202e\u2066-\u2069\u200e\u200f]")

// statuses are what commands that read promise.
var statuses = []int{0, 1, 2, 3}

func (t *try) judge(a ask, e ended) {
	t.commands++
	command := t.commandLine(a.args)
	said := append(slices.Clone(e.stderr), e.stdout...)
	if e.hung != "" && t.ctx.Err() == nil {
		t.bad("hang", command, "%s", e.hung)
		t.dirty = true
		return
	}
	if t.ctx.Err() != nil {
		return
	}
	if crashed.Match(e.stderr) || e.signal != 0 && e.signal != syscall.SIGINT && e.signal != syscall.SIGTERM {
		t.bad("panic", command, "status %d, signal %v\n%s", e.code, e.signal, head(e.stderr, 12))
		return
	}
	if !slices.Contains(statuses, e.code) {
		t.bad("status", command, "%d, not one of %v\n%s", e.code, statuses, head(e.stderr, 5))
	}
	if e.rss > maxRSS && t.unpacked <= maxInput && !bytes.Contains(said, []byte("memory")) && !bytes.Contains(said, []byte("bomb")) {
		t.bad("memory", command, "%d MB for an input of %d MB", e.rss>>20, t.unpacked>>20)
	}
	if bytes.Contains(said, []byte(canary)) {
		t.bad("foreign file", command, "the text of a file outside of the input is shown")
	}
	if a.text {
		if at := steers.FindIndex(said); at != nil {
			t.bad("terminal", command, "a control character goes to the terminal: %q", said[max(0, at[0]-30):min(len(said), at[1]+30)])
		}
	}
	if a.json && e.code == 0 && len(e.stdout) < maxOutput && !json.Valid(e.stdout) {
		t.bad("no JSON", command, "%s", head(e.stdout, 2))
	}
}

// commandLine is what somebody would type to run it again.
func (t *try) commandLine(args []string) string {
	words := []string{"bottleneck"}
	for _, arg := range args {
		if strings.ContainsAny(arg, " \t\n\"'$&|;<>()*?[]#~=%\\`") || arg == "" {
			arg = fmt.Sprintf("%q", arg)
		}
		words = append(words, arg)
	}
	return strings.Join(words, " ")
}

// head is the first lines of a text.
func head(text []byte, lines int) string {
	list := strings.SplitN(string(text), "\n", lines+1)
	return strings.ToValidUTF8(strings.Join(list[:min(lines, len(list))], "\n"), "?")
}
