package view

import (
	"bottleneck/internal/units"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Bench is runs as benchmarks of Go's format, which benchstat reads: one line a run.
type Bench struct {
	Name   string      // of the program
	Per    string      // what times and counts are of
	Config [][2]string // keys and values that hold for all runs
	Runs   []BenchRun
}

// BenchRun is one run: how many steps, the median in milliseconds, and counts by unit, in their order.
type BenchRun struct {
	Count int
	Ms    float64
	Units []BenchUnit
}

// BenchUnit is a count; Exact says that benchstat should not expect it to vary.
type BenchUnit struct {
	Unit  string
	Value float64
	Exact bool
}

// WriteBenchfmt writes runs in the Go benchmark data format (golang.org/design/14313-benchmark-format).
func WriteBenchfmt(w io.Writer, b *Bench) error {
	var out strings.Builder
	for _, c := range b.Config {
		if key := benchKey(c[0]); key != "" {
			fmt.Fprintf(&out, "%s: %s\n", key, strings.Join(strings.Fields(units.Printable(c[1])), " "))
		}
	}
	seen := map[string]bool{}
	for _, r := range b.Runs {
		for _, u := range r.Units {
			if u.Exact && !seen[u.Unit] {
				seen[u.Unit] = true
				fmt.Fprintf(&out, "Unit %s assume=exact better=lower\n", u.Unit)
			}
		}
	}
	for _, r := range b.Runs {
		fmt.Fprintf(&out, "Benchmark%s %d %s ns/%s", benchName(b.Name), max(r.Count, 1), benchNumber(r.Ms*1e6), b.Per)
		for _, u := range r.Units {
			fmt.Fprintf(&out, " %s %s", benchNumber(u.Value), u.Unit)
		}
		out.WriteByte('\n')
	}
	_, err := io.WriteString(w, out.String())
	return err
}

func benchNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }

// benchKey is a configuration key: it begins with a lower-case letter and holds neither spaces nor capitals.
func benchKey(s string) string {
	s = strings.ToLower(strings.ReplaceAll(s, " ", "-"))
	if s == "" || s[0] < 'a' || s[0] > 'z' || strings.ContainsAny(s, ":\t\n") {
		return ""
	}
	return s
}

// benchName is a program's name after "Benchmark": without what would end it.
func benchName(s string) string {
	s = strings.TrimSuffix(s, ".py")
	s = strings.Map(func(r rune) rune {
		if r <= ' ' || r == '"' {
			return '_'
		}
		return r
	}, units.Printable(s))
	if s == "" {
		s = "Program"
	}
	return capital(s)
}
