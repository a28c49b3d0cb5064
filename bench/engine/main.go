//go:build linux

// Command engine measures the trace engine beside Holistic Trace Analysis: whole reports from the compressed files, raw text
// into columns beside a loop that looks at every byte, a trace of gigabytes, and a job of 1,000 ranks. Sides alternate, and
// medians are printed with the goals; run it on an idle machine. It does not compare results: bench/parity does.
//
//	go run ./bench/engine [-runs 5] [-work DIR] [-large MB] [-ranks N] TRACES PYTHON
package main

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// cost is what one run of a program took.
type cost struct {
	wall, cpu time.Duration
	rss       int64 // bytes, peak
}

// row is one line of the table.
type row struct{ what, theirs, ours, ratio, goal string }

type measurement struct {
	runs                 int
	traces, python, work string
	bin, maker, columns  string // built programs
	rows                 []row
}

func main() {
	m := measurement{}
	flag.IntVar(&m.runs, "runs", 5, "runs of each side")
	flag.StringVar(&m.work, "work", "", "folder for generated traces (5 GB); none: leave the large ones out")
	large := flag.Int64("large", 4000, "size of the largest trace in MB")
	ranks := flag.Int("ranks", 1000, "ranks of the largest job")
	flag.Parse()
	m.traces, m.python = flag.Arg(0), flag.Arg(1)
	if err := m.run(*large, *ranks); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func (m *measurement) run(large int64, ranks int) error {
	dir, err := os.MkdirTemp("", "engine")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	m.bin, m.maker, m.columns = filepath.Join(dir, "bottleneck"), filepath.Join(dir, "gentrace"), filepath.Join(dir, "ingest.test")
	for _, args := range [][]string{{"build", "-trimpath", "-ldflags", "-s -w", "-o", m.bin, "./cmd/bottleneck"},
		{"build", "-o", m.maker, "./bench/gentrace"},
		{"test", "-c", "-pgo", "cmd/bottleneck/default.pgo", "-o", m.columns, "./internal/ingest"}} {
		if out, err := exec.Command("go", args...).CombinedOutput(); err != nil {
			return fmt.Errorf("go %v: %w\n%s", args, err, out)
		}
	}
	for _, f := range []func() error{m.againstHTA, m.rates} {
		if err := f(); err != nil {
			return err
		}
	}
	if m.work != "" {
		if err := m.large(large); err != nil {
			return err
		}
		if err := m.manyRanks(ranks); err != nil {
			return err
		}
	}
	m.print()
	return nil
}

// againstHTA compares whole reports.
func (m *measurement) againstHTA() error {
	ranks, err := filepath.Glob(filepath.Join(m.traces, "megatron-tp8-a100", "megatron_kineto_*.json.gz"))
	if err != nil || len(ranks) == 0 {
		return fmt.Errorf("%s holds no traces of Megatron: %v", m.traces, err)
	}
	for _, c := range []struct {
		name  string
		files []string
		wall  float64
		rss   float64
	}{
		{"eager_False.json.gz (81 MB)", []string{"segment-anything-fast/eager_False.json.gz"}, 30, 8},
		{"mi300_owlv2-large.json.gz (61 MB)", []string{"tracelens-big-mi300/mi300_owlv2-large.json.gz"}, 30, 8},
		{"trace_8_rank_1.json.gz (54 MB)", []string{"hta-df-index-resolver-v100/trace_8_rank_1.json.gz"}, 30, 8},
		{"Megatron, 8 ranks", ranks, 20, 3},
	} {
		for i, f := range c.files {
			if !filepath.IsAbs(f) && !strings.HasPrefix(f, m.traces) {
				c.files[i] = filepath.Join(m.traces, f)
			}
		}
		var theirs, ours []cost
		for range m.runs {
			t, err := m.hta(c.files)
			if err != nil {
				return err
			}
			o, err := m.report(c.files)
			if err != nil {
				return err
			}
			theirs, ours = append(theirs, t), append(ours, o)
		}
		t, o := median(theirs), median(ours)
		m.add(c.name+", wall", seconds(t.wall), seconds(o.wall), t.wall.Seconds()/o.wall.Seconds(), c.wall, "x faster")
		m.add(c.name+", peak RSS", megabytes(t.rss), megabytes(o.rss), float64(t.rss)/float64(o.rss), c.rss, "x smaller")
	}
	return nil
}

var htaLine = regexp.MustCompile(`HTA: ([0-9.]+) s wall, ([0-9.]+) s user after import, ([0-9]+) MB peak`)

// hta runs Holistic Trace Analysis; its import does not count.
func (m *measurement) hta(files []string) (cost, error) {
	out, err := exec.Command(m.python, append([]string{"bench/engine/load_hta.py"}, files...)...).Output()
	found := htaLine.FindSubmatch(out)
	if err != nil || found == nil {
		return cost{}, fmt.Errorf("running HTA on %v: %w\n%s", files, err, out)
	}
	number := func(i int) float64 { v, _ := strconv.ParseFloat(string(found[i]), 64); return v }
	return cost{time.Duration(number(1) * 1e9), time.Duration(number(2) * 1e9), int64(number(3)) << 20}, nil
}

// report runs the whole program with the default sections.
func (m *measurement) report(paths []string) (cost, error) {
	command := exec.Command(m.bin, append([]string{"report"}, paths...)...)
	begin := time.Now()
	if err := command.Run(); err != nil {
		return cost{}, fmt.Errorf("report %v: %w", paths, err)
	}
	wall := time.Since(begin)
	use, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		return cost{}, fmt.Errorf("report %v: no resource usage", paths)
	}
	return cost{wall, command.ProcessState.UserTime() + command.ProcessState.SystemTime(), use.Maxrss << 10}, nil
}

// rateLine holds a file's name, none for the loop, the rate by the clock and the rate by CPU time.
var rateLine = regexp.MustCompile(`(?m)^Benchmark(?:Columns(?:OfTwo)?/(\S+?)\.json\.gz|ByteLoop)\S*\s.*?([0-9.]+) MB/s\s+([0-9.]+) cpuMB/s`)

// rates compares reading from memory with the loop over every byte: on one core by CPU time, which other programs do not
// disturb as much, on two by the clock.
func (m *measurement) rates() error {
	one, two := map[string][]float64{}, map[string][]float64{}
	for range m.runs {
		if err := m.rate(one, 3, "Columns$|ByteLoop", "1"); err != nil {
			return err
		}
		if err := m.rate(two, 2, "ColumnsOfTwo$", "2"); err != nil {
			return err
		}
	}
	loop := middle(one[""])
	delete(one, "")
	for _, name := range slices.Sorted(maps.Keys(one)) {
		for _, r := range []struct {
			cores string
			rate  float64
			goal  float64
		}{{"one core", middle(one[name]), 1.2}, {"two cores", middle(two[name]), 2}} {
			m.add(fmt.Sprintf("raw JSON into columns, %s: %s", r.cores, name), fmt.Sprintf("loop %.0f MB/s", loop),
				fmt.Sprintf("%.0f MB/s", r.rate), r.rate/loop, r.goal, "x the loop")
		}
	}
	return nil
}

// rate adds the rates of one run of benchmarks, in the given column of their lines.
func (m *measurement) rate(to map[string][]float64, column int, benchmarks, cores string) error {
	command := exec.Command(m.columns, "-test.run", "^$", "-test.bench", benchmarks, "-test.cpu", cores, "-test.benchtime", "5x")
	command.Dir = "internal/ingest"
	out, err := command.Output()
	if err != nil {
		return fmt.Errorf("benchmark of columns: %w\n%s", err, out)
	}
	for _, found := range rateLine.FindAllSubmatch(out, -1) {
		rate, err := strconv.ParseFloat(string(found[column]), 64)
		if err != nil {
			return fmt.Errorf("benchmark of columns: %w", err)
		}
		to[string(found[1])] = append(to[string(found[1])], rate)
	}
	return nil
}

// large reports on traces of growing size: memory, and time by size.
func (m *measurement) large(size int64) error {
	path := filepath.Join(m.work, "large.json")
	defer os.Remove(path)
	source := filepath.Join(m.traces, "segment-anything-fast/eager_False.json.gz")
	var first float64 // seconds by MB
	for _, mb := range []int64{size / 4, size / 2, size} {
		if err := m.generate(path, "-size", fmt.Sprint(mb), source); err != nil {
			return err
		}
		c, err := m.report([]string{path})
		if err != nil {
			return err
		}
		perMB := c.wall.Seconds() / float64(mb)
		first = cmp.Or(first, perMB)
		m.rows = append(m.rows, row{fmt.Sprintf("a trace of %d MB, wall", mb), "", seconds(c.wall),
			fmt.Sprintf("%.2f of the smallest's time a byte", perMB/first), "1 (linear)"})
		m.rows = append(m.rows, row{fmt.Sprintf("a trace of %d MB, peak RSS", mb), "", megabytes(c.rss), "",
			map[bool]string{true: "1,200 MB"}[mb == size]})
	}
	return nil
}

func (m *measurement) manyRanks(ranks int) error {
	dir := filepath.Join(m.work, "ranks")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := m.generate("", "-ranks", fmt.Sprint(ranks), "-out", dir,
		filepath.Join(m.traces, "megatron-tp8-a100/megatron_kineto_0.json.gz")); err != nil {
		return err
	}
	c, err := m.report([]string{dir})
	if err != nil {
		return err
	}
	m.rows = append(m.rows, row{fmt.Sprintf("%d ranks, wall (CPU)", ranks), "", fmt.Sprintf("%s (%s)", seconds(c.wall), seconds(c.cpu)),
		"", ""})
	m.rows = append(m.rows, row{fmt.Sprintf("%d ranks, peak RSS", ranks), "", megabytes(c.rss), "", "512 MB"})
	return nil
}

// generate runs gentrace; its output goes to a file where it has one.
func (m *measurement) generate(to string, args ...string) error {
	command := exec.Command(m.maker, args...)
	command.Stderr = os.Stderr
	if to != "" {
		f, err := os.Create(to)
		if err != nil {
			return err
		}
		defer f.Close()
		command.Stdout = f
	}
	if err := command.Run(); err != nil {
		return fmt.Errorf("gentrace %v: %w", args, err)
	}
	return nil
}

func (m *measurement) add(what, theirs, ours string, ratio, goal float64, unit string) {
	r := row{what, theirs, ours, fmt.Sprintf("%.3g %s", ratio, unit), fmt.Sprintf("%g", goal)}
	if ratio < goal {
		r.goal += "  missed"
	}
	m.rows = append(m.rows, r)
}

func (m *measurement) print() {
	fmt.Printf("medians of %d runs\n", m.runs)
	fmt.Printf("%-64s %18s %18s %34s  %s\n", "", "HTA", "bottleneck", "", "goal")
	for _, r := range m.rows {
		fmt.Printf("%-64s %18s %18s %34s  %s\n", r.what, r.theirs, r.ours, r.ratio, r.goal)
	}
}

func seconds(d time.Duration) string { return fmt.Sprintf("%.3f s", d.Seconds()) }
func megabytes(n int64) string       { return fmt.Sprintf("%d MB", n>>20) }

// median takes each column by itself.
func median(list []cost) cost {
	by := func(value func(cost) float64) float64 {
		var values []float64
		for _, c := range list {
			values = append(values, value(c))
		}
		return middle(values)
	}
	return cost{time.Duration(by(func(c cost) float64 { return float64(c.wall) })),
		time.Duration(by(func(c cost) float64 { return float64(c.cpu) })), int64(by(func(c cost) float64 { return float64(c.rss) }))}
}

func middle(values []float64) float64 {
	if len(values) == 0 {
		return 0
	}
	values = slices.Sorted(slices.Values(values))
	return values[len(values)/2]
}
