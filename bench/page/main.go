//go:build linux

package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/klauspost/compress/gzip"

	"bottleneck/internal/ui"
)

// row is one line of the table.
type row struct{ what, ours, goal, note string }

type bench struct {
	binary, traces, peers, dir string
	middle                     int64 // MB of the trace that speedscope can still open
	rows                       []row
}

func main() {
	large := flag.Int64("large", 1000, "size of the large trace in MB; 0 leaves it out")
	middle := flag.Int64("middle", 375, "size in MB of the trace that is opened beside speedscope; 0 leaves it out")
	tableRows := flag.Int("rows", 100_000, "rows of the long table")
	flag.Parse()
	b := bench{binary: flag.Arg(0), traces: flag.Arg(1), peers: flag.Arg(2), middle: *middle}
	if err := b.run(*large, *tableRows); err != nil {
		fmt.Fprintln(os.Stderr, "bench-page:", err)
		os.Exit(1)
	}
}

func (b *bench) run(large int64, tableRows int) (err error) {
	if b.dir, err = os.MkdirTemp("", "bench-page"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	b.bundle()
	trace := filepath.Join(b.traces, smallTrace)
	for _, part := range []func() error{
		func() error { return b.trace("81 MB trace", trace) },
		func() error { return b.large(large, trace) },
		func() error { return b.longTable(tableRows) },
		b.snakeviz, b.speedscope, b.tensorboard,
	} {
		if err := part(); errors.Is(err, errAbsent) {
			b.add("left out", "", "", err.Error())
		} else if err != nil {
			return err
		}
	}
	b.print()
	return nil
}

// smallTrace is a real trace of 81 MB.
const smallTrace = "segment-anything-fast/eager_False.json.gz"

// errAbsent says that something to measure is not on this machine.
var errAbsent = errors.New("not there")

func (b *bench) add(what, ours, goal, note string) {
	b.rows = append(b.rows, row{what, ours, goal, note})
}

func (b *bench) print() {
	load, _ := os.ReadFile("/proc/loadavg")
	fmt.Printf("load of the machine at the end: %s\n", load)
	fmt.Printf("%-58s %14s  %-12s %s\n", "", "measured", "goal", "")
	for _, r := range b.rows {
		fmt.Printf("%-58s %14s  %-12s %s\n", r.what, r.ours, r.goal, r.note)
	}
}

// bundle weighs what a browser gets first.
func (b *bench) bundle() {
	var packed counter
	z := gzip.NewWriter(&packed)
	for _, name := range []string{ui.IndexFile, ui.ScriptFile, ui.StyleFile} {
		z.Write(ui.File(name))
	}
	z.Close()
	b.add("page, script and style, gzipped", fmt.Sprintf("%.1f KiB", float64(packed)/1024), "≤ 250 KiB", "")
}

type counter int

func (c *counter) Write(p []byte) (int, error) { *c += counter(len(p)); return len(p), nil }

// timelineDrawn is true once the timeline shows all that it asked for.
const timelineDrawn = `document.querySelector("canvas")?.dataset.waiting === "false" && document.querySelector("canvas").dataset.boxes > 0`

// trace measures one trace: its page, its timeline, and the memory of browser and server.
func (b *bench) trace(name, path string) error {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("%w: %s", errAbsent, path)
	}
	report := exec.Command(b.binary, "report", "-o", os.DevNull, path)
	if err := report.Run(); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	s, err := b.serve(path)
	if err != nil {
		return err
	}
	defer s.end()
	b.add(name+": read and served after", seconds(s.ready), "", "")
	verdict, err := measure(s.address+"#/verdict", `document.querySelector("main h1") && document.querySelectorAll("nav a").length > 3`, "")
	if err != nil {
		return err
	}
	b.add(name+": first useful paint", ms(verdict.drawn), "≤ 500 ms", "the verdict")
	b.add(name+": interactive", ms(verdict.idle), "≤ 1000 ms", "the browser has nothing left to do")
	timeline, err := measure(s.address+"#/timeline", timelineDrawn, framesScript)
	if err != nil {
		return err
	}
	b.add(name+": timeline drawn", ms(timeline.drawn), "≤ 1000 ms", "")
	b.frames(name, timeline.result)
	b.add(name+": browser", bytes(timeline.memory), "≤ 300 MiB", "resident, shared pages by part, of the tab's process")
	peak := memoryOf(s.command.Process.Pid, "VmHWM")
	reported := report.ProcessState.SysUsage()
	most := maxRSS(reported)
	b.add(name+": server ÷ report", fmt.Sprintf("%.2f", float64(peak)/float64(max(most, 1))), "≤ 1.5",
		fmt.Sprintf("peaks: %s, %s", bytes(peak), bytes(most)))
	return nil
}

func (b *bench) frames(name string, result json.RawMessage) {
	var f struct{ Zoom, Pan, Worst float64 }
	if err := json.Unmarshal(result, &f); err != nil {
		b.add(name+": frames", "failed", "", err.Error())
		return
	}
	b.add(name+": zoom", fmt.Sprintf("%.1f frames/s", f.Zoom), "≥ 55", fmt.Sprintf("longest frame %.0f ms", f.Worst))
	b.add(name+": pan", fmt.Sprintf("%.1f frames/s", f.Pan), "≥ 55", "")
}

// large makes a trace of so many megabytes out of a real one and measures it.
func (b *bench) large(mb int64, from string) error {
	if mb == 0 {
		return fmt.Errorf("%w: the large trace was not asked for", errAbsent)
	}
	path := filepath.Join(b.dir, "large.json")
	if err := generate(path, mb, from); err != nil {
		return err
	}
	defer os.Remove(path)
	return b.trace(fmt.Sprintf("%d MB trace", mb), path)
}

// generate makes a trace of so many megabytes out of a real one.
func generate(path string, mb int64, from string) error {
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	defer out.Close()
	made := exec.Command("go", "run", "./bench/gentrace", "-size", fmt.Sprint(mb), from)
	made.Stdout, made.Stderr = out, os.Stderr
	if err := made.Run(); err != nil {
		return fmt.Errorf("gentrace: %w", err)
	}
	return nil
}

// longTable scrolls through a table of so many rows: operators of a trace that is made for it.
func (b *bench) longTable(rows int) error {
	path := filepath.Join(b.dir, "rows.json")
	out, err := os.Create(path)
	if err != nil {
		return err
	}
	fmt.Fprint(out, `{"schemaVersion": 1, "traceEvents": [`)
	for i := range rows {
		if i > 0 {
			fmt.Fprint(out, ",\n")
		}
		fmt.Fprintf(out, `{"ph": "X", "cat": "cpu_op", "name": "made::operator_%d", "pid": 1, "tid": 1, "ts": %d, "dur": %d}`,
			i, i*50, 1+i%40)
	}
	fmt.Fprint(out, "]}")
	if err := out.Close(); err != nil {
		return err
	}
	s, err := b.serve(path)
	if err != nil {
		return err
	}
	defer s.end()
	m, err := measure(s.address+"#/operators", `document.querySelectorAll(".row").length > 10`, scrollScript)
	if err != nil {
		return err
	}
	var got struct{ Blank, Frames int }
	if err := json.Unmarshal(m.result, &got); err != nil {
		return err
	}
	b.add(fmt.Sprintf("table of %d rows: drawn", rows), ms(m.drawn), "", bytes(m.sent)+" sent")
	b.add(fmt.Sprintf("table of %d rows: blank frames", rows), fmt.Sprintf("%d of %d", got.Blank, got.Frames), "0",
		bytes(m.memory)+" in the tab")
	return nil
}

// served is a program that serves a page.
type served struct {
	command *exec.Cmd
	address string
	ready   time.Duration
}

// serve starts our server and waits until it prints its address.
func (b *bench) serve(path string) (*served, error) {
	begin := time.Now()
	s := &served{command: exec.Command(b.binary, "view", "--no-open", "--port", "0", path)}
	s.command.Stderr = os.Stderr
	out, err := s.command.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.command.Start(); err != nil {
		return nil, err
	}
	if s.address, err = firstLine(out); err != nil {
		s.end()
		return nil, fmt.Errorf("view %s: %w", path, err)
	}
	s.ready = time.Since(begin)
	go io.Copy(io.Discard, out)
	return s, nil
}

func (s *served) end() {
	_ = s.command.Process.Kill()
	_ = s.command.Wait()
}

func ms(v float64) string            { return fmt.Sprintf("%.0f ms", v) }
func seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
func bytes(n int64) string           { return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20)) }
func timeout() (context.Context, func()) {
	return context.WithTimeout(context.Background(), 2*time.Minute)
}
