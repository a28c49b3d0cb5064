package cli

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"time"

	"bottleneck/internal/record"
	"bottleneck/internal/rerun"
)

const (
	readyEvery = 200 * time.Millisecond // between two looks for finished traces
	// readyLimit is how long one --on-trace-ready command may take, and all that is left of them after the program's end.
	readyLimit  = 60 * time.Second
	readyOutput = 4 << 10 // bytes kept of what a failing command printed
)

// readyTrace is what the agent says of a finished trace.
type readyTrace struct {
	File      string `json:"file"`
	FirstStep int64  `json:"first_step"`
	Step      int64  `json:"step"` // the one after the last traced step; -1 where there are no steps
	Cycle     int64  `json:"cycle"`
	Rank      *int   `json:"rank"`
}

// readyRunner runs a command for each finished trace of this host's processes, one after the other, while the program goes
// on. It is not the program's child, and whatever it does the program does not notice. A nil runner does nothing.
type readyRunner struct {
	dir, prefix, command string
	limit                time.Duration
	stdout               *os.File
	seen                 map[string]bool
	quit                 chan struct{}
	done                 sync.WaitGroup
	failures             []string
	failed, ran, left    int
}

// startReady begins to look; an empty command is none.
func startReady(dir, host, command string) *readyRunner {
	if command == "" {
		return nil
	}
	r := &readyRunner{dir: dir, prefix: record.HostPrefix(host), command: command, limit: readyLimit, stdout: os.Stderr,
		seen: map[string]bool{}, quit: make(chan struct{})}
	r.done.Add(1)
	go func() {
		defer r.done.Done()
		tick := time.NewTicker(readyEvery)
		defer tick.Stop()
		for {
			select {
			case <-r.quit:
				return
			case <-tick.C:
				r.look(context.Background(), false)
			}
		}
	}()
	return r
}

// stop runs what is left after the program's end, within the limit, and notes the failures.
func (r *readyRunner) stop(l *record.Launcher) {
	if r == nil {
		return
	}
	close(r.quit) // a command that runs has its limit
	r.done.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), r.limit)
	defer cancel()
	r.look(ctx, true)
	if r.failed > 0 {
		l.AddNote("on-trace-ready", fmt.Sprintf("--on-trace-ready failed for %d of %d traces: %s", r.failed, r.ran,
			strings.Join(r.failures, "; ")))
	}
	if r.left > 0 {
		l.AddNote("on-trace-ready", fmt.Sprintf("--on-trace-ready did not get to %d traces before %v were over", r.left, r.limit))
	}
	if r.ran == 0 {
		l.AddNote("on-trace-ready", "--on-trace-ready never ran: no trace was finished")
	}
}

// look runs the command for every announced trace that was not seen yet and has its final name; last: for the others too.
func (r *readyRunner) look(ctx context.Context, last bool) {
	paths, err := filepath.Glob(filepath.Join(escapeGlob(r.dir), r.prefix+"*", "trace-*.ready"))
	if err != nil {
		return
	}
	for _, path := range paths {
		var trace readyTrace
		if r.seen[path] || record.ReadJSONIn(filepath.Dir(path), filepath.Base(path), &trace) != nil {
			continue
		}
		file := filepath.Join(filepath.Dir(path), filepath.Base(trace.File))
		if ctx.Err() != nil {
			r.left++
			continue
		}
		if last {
			_ = record.Compress(ctx, file) // a full disk leaves the plain file
		}
		if _, err := os.Stat(file + ".gz"); err == nil {
			file += ".gz"
		} else if _, err := os.Stat(file); err != nil || !last {
			continue // not compressed yet, or dropped to keep the session small
		}
		r.seen[path] = true
		if err := r.run(ctx, file, &trace); err != nil {
			r.failed++
			if len(r.failures) < 3 {
				r.failures = append(r.failures, filepath.Base(file)+": "+err.Error())
			}
		}
	}
}

// run runs the command once.
func (r *readyRunner) run(ctx context.Context, file string, trace *readyTrace) error {
	r.ran++
	ctx, cancel := context.WithTimeout(ctx, r.limit)
	defer cancel()
	rank := ""
	if trace.Rank != nil {
		rank = strconv.Itoa(*trace.Rank)
	}
	values := map[string]string{"path": file, "step": strconv.FormatInt(trace.Step, 10),
		"cycle": strconv.FormatInt(trace.Cycle, 10), "rank": rank}
	command, environ := r.command, os.Environ()
	for _, name := range []string{"path", "step", "cycle", "rank"} {
		command = strings.ReplaceAll(command, "{"+name+"}", shellQuote(values[name]))
		environ = append(environ, "BNECK_TRACE_"+strings.ToUpper(name)+"="+values[name])
	}
	shell, flag := "sh", "-c"
	if runtime.GOOS == "windows" {
		shell, flag = "cmd", "/C"
	}
	var output limited
	c := exec.CommandContext(ctx, shell, flag, command)
	c.Env, c.Stdout, c.Stderr, c.WaitDelay = environ, r.stdout, &output, time.Second
	rerun.EndWhole(c)
	err := c.Run()
	switch text := strings.TrimSpace(output.String()); {
	case ctx.Err() == context.DeadlineExceeded:
		return fmt.Errorf("ended after %v", r.limit)
	case err != nil && text != "":
		lines := strings.Split(text, "\n")
		return fmt.Errorf("%w (%s)", err, lines[len(lines)-1])
	default:
		return err
	}
}

// plainWord is what no shell takes apart.
var plainWord = regexp.MustCompile(`^[\w./:@%+=,-]+$`)

// shellQuote makes text one word of the shell.
func shellQuote(text string) string {
	if plainWord.MatchString(text) {
		return text
	}
	if runtime.GOOS == "windows" {
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// escapeGlob takes the special meaning from a directory's name.
func escapeGlob(dir string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(dir)
}

// limited keeps the end of what is written to it.
type limited struct{ bytes.Buffer }

// Write never fails.
func (l *limited) Write(text []byte) (int, error) {
	n := len(text)
	if l.Len()+n > 2*readyOutput {
		l.Next(max(0, l.Len()-readyOutput))
	}
	if n > readyOutput {
		text = text[n-readyOutput:]
	}
	l.Buffer.Write(text)
	return n, nil
}
