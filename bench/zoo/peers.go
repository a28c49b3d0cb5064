package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// peer is what another profiler's hottest line of the user's says.
type peer struct {
	name, said string
	placed     bool
}

// askPeers runs the slow program under py-spy and cProfile. A program of several ranks is left out: each tool sees the launcher.
func (r *runner) askPeers(ctx context.Context) []peer {
	if r.c.expect.Ranks > 1 {
		return nil
	}
	return []peer{r.pySpy(ctx), r.cProfile(ctx)}
}

// judge fills in whether a place is an expected one; cProfile knows functions only, so first is where the function begins.
func (r *runner) judge(p *peer, file string, first, last int) {
	o := outcome{expect: &r.c.expect, file: func(f string) string { return r.draw.expected(f, &r.c.expect) }}
	for _, want := range append([]Place{r.c.expect.Place}, r.c.expect.Also...) {
		if want.Line > 0 && filepath.Base(file) == filepath.Base(o.file(want.File)) && want.Line >= first-nearLines &&
			want.Line <= last+nearLines {
			p.placed = true
		}
	}
	if p.placed {
		p.said += " (the place)"
	}
}

var foldedFrame = regexp.MustCompile(`\(([^()]*\.py):(\d+)\)`)

// pySpy takes the line of the program's own files that is innermost in most samples.
func (r *runner) pySpy(ctx context.Context) peer {
	p := peer{name: "py-spy"}
	tool, err := interpreter(ctx, r.root, "peers")
	if err != nil {
		p.said = err.Error()
		return p
	}
	out := filepath.Join(r.dir, "pyspy.folded")
	args := append([]string{filepath.Join(filepath.Dir(tool), "py-spy"), "record", "--subprocesses", "-r", "100", "-f", "raw", "-o", out,
		"--"}, r.command("slow")...)
	if _, _, err := r.start(ctx, "slow", args); err != nil {
		p.said = err.Error()
		return p
	}
	text, err := os.Open(out)
	if err != nil {
		p.said = err.Error()
		return p
	}
	defer text.Close()
	counts := map[string]int{}
	for lines := bufio.NewScanner(text); lines.Scan(); {
		stack, n, _ := cutLast(lines.Text(), " ")
		samples, _ := strconv.Atoi(n)
		frames := foldedFrame.FindAllStringSubmatch(stack, -1)
		for i := len(frames) - 1; i >= 0; i-- {
			if file := filepath.Base(frames[i][1]); r.own(file) {
				counts[file+":"+frames[i][2]] += samples
				break
			}
		}
	}
	most := ""
	for _, place := range sortedKeys(counts) {
		if most == "" || counts[place] > counts[most] {
			most = place
		}
	}
	file, line, _ := cutLast(most, ":")
	n, _ := strconv.Atoi(line)
	p.said = "hottest line " + most
	r.judge(&p, file, n, n)
	return p
}

func cutLast(s, sep string) (before, after string, ok bool) {
	i := strings.LastIndex(s, sep)
	if i < 0 {
		return s, "", false
	}
	return s[:i], s[i+len(sep):], true
}

// own says that a file belongs to the program.
func (r *runner) own(base string) bool {
	found := false
	filepath.WalkDir(filepath.Join(r.dir, "slow"), func(path string, _ os.DirEntry, err error) error {
		found = found || err == nil && filepath.Base(path) == base
		return nil
	})
	return found
}

// hottest prints the program's own function with most time of its own, and the last line of its code.
const hottest = `
import os, pstats, sys
stats = pstats.Stats(sys.argv[1]).stats
own = [(v[2], k) for k, v in stats.items() if os.path.dirname(os.path.abspath(k[0])).startswith(sys.argv[2]) and k[2] != "<module>"]
t, (file, line, name) = max(own)
after = [k[1] for _, k in own if k[0] == file and k[1] > line]
print(os.path.basename(file), line, min(after) - 1 if after else line + 40, name)
`

// cProfile takes the program's function with most time of its own.
func (r *runner) cProfile(ctx context.Context) peer {
	p := peer{name: "cProfile"}
	out := filepath.Join(r.dir, "profile")
	if _, _, err := r.start(ctx, "slow", []string{r.python, "-m", "cProfile", "-o", out, r.script["slow"]}); err != nil {
		p.said = err.Error()
		return p
	}
	text, err := exec.CommandContext(ctx, r.python, "-c", hottest, out, filepath.Join(r.dir, "slow")).Output()
	var file, name string
	var first, last int
	if _, scanErr := fmt.Sscan(string(text), &file, &first, &last, &name); err != nil || scanErr != nil {
		p.said = "no function of the program"
		return p
	}
	p.said = fmt.Sprintf("hottest function %s at %s:%d", name, file, first)
	r.judge(&p, file, first, last)
	return p
}

// peerTotals prints how often each peer's hottest place was the right one.
func peerTotals(w io.Writer, all []outcome) {
	right, asked := map[string]int{}, map[string]int{}
	for i := range all {
		for _, p := range all[i].peers {
			if all[i].expect.Line > 0 {
				asked[p.name]++
				right[p.name] += count(p.placed)
			}
		}
	}
	for _, name := range sortedKeys(asked) {
		fmt.Fprintf(w, "%s's hottest place was the right one in %s\n", name, of([2]int{right[name], asked[name]}))
	}
}
