package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"bottleneck/internal/model"
)

// maxFoldedLine bounds a line of folded stacks.
const maxFoldedLine = 8 << 20

// readFolded reads folded (collapsed) stacks: frames from the outside in, separated by semicolons, a blank and a count, as
// flamegraph.pl, py-spy --format raw, austin and `export --to folded` write them. austin's counts are microseconds, which
// its header says.
func readFolded(o *opening, src source, r io.Reader) (func() error, error) {
	p := &stackProfile{period: 1}
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 64<<10), maxFoldedLine)
	threads := map[string]*profileThread{}
	nsPerUnit, bad, firstBad, offset := 0.0, int64(0), int64(-1), int64(0)
	for in.Scan() {
		line := in.Bytes()
		at := offset
		offset += int64(len(line)) + 1
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			if bytes.HasPrefix(line, []byte("# austin:")) {
				p.period, nsPerUnit = 0, 1e3
			}
			continue
		}
		frames, count, ok := foldedLine(line)
		if !ok {
			if bad++; firstBad < 0 {
				firstBad = at
			}
			continue
		}
		if err := addFolded(p, threads, frames, count); err != nil {
			return nil, &UnusableError{Path: src.path, Reason: err.Error(), err: err}
		}
	}
	if err := in.Err(); err != nil && len(p.threads) == 0 {
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("a line longer than %d MiB at byte %d", maxFoldedLine>>20, offset)
		}
		return nil, &UnusableError{Path: src.path, Reason: "folded stacks that cannot be read: " + err.Error(), err: err}
	} else if err != nil {
		bad, firstBad = bad+1, max(firstBad, offset)
	}
	var damage []model.Diagnostic
	if bad > 0 {
		damage = append(damage, model.Diagnostic{Kind: "bad-line", Count: bad, FirstOffset: firstBad,
			Text: "lines that are not frames and a count are left out"})
	}
	return addProfile(o, src, "folded", p, nsPerUnit, damage...)
}

func addFolded(p *stackProfile, threads map[string]*profileThread, frames string, count float64) error {
	name := ""
	parts := strings.Split(frames, ";")
	for len(parts) > 1 && isThreadFrame(parts[0]) {
		if name != "" {
			name += ", "
		}
		name += parts[0]
		parts = parts[1:]
	}
	t := threads[name]
	if t == nil {
		t = p.thread(name)
		threads[name] = t
	}
	at := model.NoStack
	var err error
	for _, f := range parts[:min(len(parts), maxProfileDepth)] {
		if f == "" {
			continue
		}
		if at, err = p.push(at, p.locationFrame(f)); err != nil {
			return err
		}
	}
	p.add(t, at, count)
	return nil
}

// foldedLine cuts "a;b;c 12" into frames and count.
func foldedLine(line []byte) (frames string, count float64, ok bool) {
	blank := bytes.LastIndexByte(line, ' ')
	digits := line[blank+1:]
	if blank <= 0 || len(digits) == 0 || len(digits) > 15 {
		return "", 0, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return "", 0, false
		}
		count = 10*count + float64(c-'0')
	}
	return string(line[:blank]), count, true
}

// isThreadFrame recognises the outermost entries that name a process or thread: "P123", "T0:123" (austin), "process 123",
// "thread (…)" (py-spy), "tid:123" (CPython's profiling.sampling), "rank 0 (pid 12)", "MainThread (123)" (ours).
func isThreadFrame(f string) bool {
	if len(f) > 1 && (f[0] == 'P' || f[0] == 'T') && f[1] >= '0' && f[1] <= '9' {
		return true
	}
	lower := strings.ToLower(f)
	for _, prefix := range []string{"process ", "thread ", "mainthread (", "rank ", "pid ", "worker ", "tid:"} {
		if strings.HasPrefix(lower, prefix) && !strings.Contains(f, ".py:") {
			return true
		}
	}
	return false
}

// isFolded wants several complete lines of at least two frames (or one with a location) each: texts of other kinds hardly
// end every line with a number after a list with semicolons.
func isFolded(head []byte) bool {
	lines := bytes.Split(head, []byte("\n"))
	if len(head) >= headSize {
		lines = lines[:len(lines)-1] // may be cut
	}
	good, bad, stacked := 0, 0, 0
	for _, line := range lines[:min(len(lines), 50)] {
		if line = bytes.TrimSpace(line); len(line) == 0 || line[0] == '#' {
			continue
		}
		frames, _, ok := foldedLine(line)
		if bytes.ContainsAny(line[:1], "{[<") || bytes.IndexByte(line, 0) >= 0 {
			return false
		}
		if !ok {
			bad++
			continue
		}
		good++
		if strings.Contains(frames, ";") || strings.Contains(frames, ".py:") {
			stacked++
		}
	}
	return good > 0 && 3*bad <= good && 2*stacked >= good
}
