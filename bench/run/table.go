package main

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"text/tabwriter"
)

// row is one number beside its goal.
type row struct {
	what, plain, profiled, ratio string
	value, goal                  float64 // missed where value > goal, or < goal for atLeast; NaN always misses
	goalText                     string  // "" where the number is for information
	atLeast                      bool
}

func (r row) missed() bool {
	if r.goalText == "" {
		return false
	}
	if r.atLeast {
		return !(r.value >= r.goal)
	}
	return !(r.value <= r.goal)
}

func ms(s float64) string      { return fmt.Sprintf("%.1f ms", s*1e3) }
func number(n float64) string  { return fmt.Sprintf("%.0f", n) }
func seconds(s float64) string { return fmt.Sprintf("%.2f s", s) }
func mb(b float64) string      { return fmt.Sprintf("%.0f MB", b/1e6) }

func countMissed(rows []row) (n int) {
	for _, r := range rows {
		if r.missed() {
			n++
		}
	}
	return n
}

// printRows writes a table, under a title where there is one.
func printRows(w io.Writer, rows []row, title string) {
	if title != "" {
		fmt.Fprintf(w, "\n%s\n", title)
	}
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "what\tplain\tprofiled\tratio (95 %)\tgoal\t")
	for _, r := range rows {
		verdict := "pass"
		switch {
		case r.goalText == "":
			verdict = ""
		case r.missed():
			verdict = "MISS"
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\n", r.what, r.plain, r.profiled, r.ratio, r.goalText, verdict)
	}
	t.Flush()
}

// machine says in one line what the numbers were taken on.
func machine(python string) string {
	text := fmt.Sprintf("%s, %d cores of %s, %s, %s, load %s", kernel(), runtime.NumCPU(), fileField("/proc/cpuinfo", "model name"),
		fileField("/proc/meminfo", "MemTotal"), runtime.Version(), loadAverage())
	if threads := os.Getenv("OMP_NUM_THREADS"); threads != "" {
		text += ", OMP_NUM_THREADS=" + threads
	}
	if python == "" {
		return text
	}
	const versions = "import sys, torch; print('Python %d.%d.%d, PyTorch %s' % (*sys.version_info[:3], torch.__version__))"
	out, err := exec.Command(python, "-c", versions).Output()
	if err != nil {
		return text + ", no PyTorch"
	}
	return text + ", " + string(bytes.TrimSpace(out))
}

// kernel is the system's name and version.
func kernel() string {
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return runtime.GOOS + "/" + runtime.GOARCH
	}
	return "Linux " + string(bytes.TrimSpace(release)) + " " + runtime.GOARCH
}

// fileField is the value of the first line `name: value` of a file; "unknown name" where there is none.
func fileField(path, name string) string {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		key, value, found := strings.Cut(line, ":")
		if found && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return "unknown " + name
}

// loadAverage is the number of runnable threads over the last minute, 5 and 15 minutes.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if fields := strings.Fields(string(text)); err == nil && len(fields) > 3 {
		return strings.Join(fields[:3], " ")
	}
	return "unknown"
}
