package main

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// attackLimits runs a small program alone and under run within the same tight limit, and reads a session within it.
func attackLimits(t *try) {
	limits := []struct {
		flag          string
		least, beyond int
	}{{"v", 60_000, 1_500_000}, {"n", 4, 80}, {"f", 0, 400}, {"s", 64, 4096}, {"d", 8_000, 600_000}}
	l := limits[t.number%len(limits)]
	value := l.least + t.rng.IntN(l.beyond-l.least)
	t.say("ulimit -%s %d", l.flag, value)
	limited := func(args ...string) []string {
		return append([]string{"/bin/sh", "-c", fmt.Sprintf(`ulimit -%s %d && exec "$@"`, l.flag, value), "sh"}, args...)
	}
	script := t.file("in/p.py", "import sys\nprint('ran', sum(range(1000)))\nsys.stdout.flush()\nsys.exit(6)\n")
	alone := t.plain(limited(t.python, script))
	if alone.code != 6 {
		t.skip("the program itself cannot run within it")
		return
	}
	if !t.runtimeStarts(t.binary, limited) {
		t.skip("the Go runtime does not start within it, for --version neither")
		return
	}
	under := t.plain(limited(t.binary, "run", "--out", t.out(), "-o", t.out(), "--", t.python, script))
	if t.runtimeGaveUp(under, t.binary, limited) {
		t.skip("the Go runtime does not always start within it, for --version neither")
		return
	}
	t.compare(alone, under, "run under "+t.what)
	if len(t.sessions) == 0 {
		return
	}
	e := t.plain(limited(t.binary, "report", t.sessions[0]))
	t.commands++
	if e.hung != "" {
		t.bad("hang", "report under "+t.what, "%s", e.hung)
	}
	// The Go runtime itself gives up where it gets no memory, thread or descriptor; that is not a panic of the tool's.
	if crashed.Match(e.stderr) && !bytes.Contains(e.stderr, []byte("fatal error: runtime: ")) &&
		!bytes.Contains(e.stderr, []byte("out of memory")) && !bytes.Contains(e.stderr, []byte("cannot allocate")) &&
		!bytes.Contains(e.stderr, []byte("failed to ")) && !strings.Contains(string(e.stderr), "limit") {
		t.bad("panic", "report under "+t.what, "%s", head(e.stderr, 8))
	}
}

// plain runs a command that is not judged by itself.
func (t *try) plain(args []string, env ...string) ended {
	return t.start(execution{dir: t.path("cwd"), env: t.environment(env...), args: args})
}

// compare asks that a program under the tool printed and ended as alone.
func (t *try) compare(alone, under ended, command string) {
	t.commands++
	switch {
	case t.ctx.Err() != nil:
		return
	case under.hung != "":
		t.bad("hang", command, "%s", under.hung)
		t.dirty = true
		return
	case crashed.Match(under.stderr):
		t.bad("panic", command, "%s", head(under.stderr, 8))
	}
	if alone.code != under.code || alone.signal != under.signal {
		t.bad("other status", command, "alone %d (signal %v), under run %d (signal %v)\n%s", alone.code, alone.signal, under.code,
			under.signal, head(under.stderr, 4))
	}
	if !bytes.Equal(alone.stdout, under.stdout) {
		t.bad("other output", command, "alone %q, under run %q", head(alone.stdout, 4), head(under.stdout, 4))
	}
	if rest := programLines(under.stderr); rest != programLines(alone.stderr) {
		t.bad("other output", command, "on standard error alone %q, under run %q", clip(programLines(alone.stderr)), clip(rest))
	}
}

// addresses differ between two runs.
var addresses = regexp.MustCompile(`0x[0-9a-f]+`)

// programLines are the lines of standard error that are not the tool's own, without addresses.
func programLines(stderr []byte) string {
	var out strings.Builder
	for line := range strings.Lines(string(stderr)) {
		if !strings.HasPrefix(line, "bottleneck: ") {
			out.WriteString(line)
		}
	}
	return addresses.ReplaceAllString(out.String(), "0x")
}
