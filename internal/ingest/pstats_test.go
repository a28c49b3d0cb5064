package ingest

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// A program whose call counts can be counted by hand: fib(8) makes 67 calls, three times.
const fibProgram = `
import cProfile, sys
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
def work(): return sorted(str(fib(8)) for _ in range(3))
p = cProfile.Profile(); p.enable(); work(); p.disable(); p.dump_stats(sys.argv[1])
`

// pythons lists the interpreters of this machine that can record a profile.
func pythons(t *testing.T) []string {
	t.Helper()
	home, _ := os.UserHomeDir()
	found, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/*/bin/python"))
	if p, err := exec.LookPath("python3"); err == nil {
		found = append(found, p)
	}
	if len(found) == 0 {
		t.Skip("no Python interpreter on this machine")
	}
	return found
}

func TestReadPstatsOfEveryPython(t *testing.T) {
	for _, python := range pythons(t) {
		name := filepath.Join(t.TempDir(), "fib.prof")
		if out, err := exec.Command(python, "-c", fibProgram, name).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", python, err, out)
		}
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		calls, err := ReadPstats(bytes.NewReader(data))
		if err != nil {
			t.Fatalf("%s: %v", python, err)
		}
		found := false
		for _, f := range calls.Functions {
			if f.Name != "fib" {
				continue
			}
			found = true
			if f.Calls != 201 || f.Primitive != 3 || f.Line != 3 || f.File != "<string>" {
				t.Errorf("%s: fib is %+v, want 201 calls, 3 primitive, line 3", python, f)
			}
			for _, e := range f.Callers {
				if calls.Functions[e.Caller].Name == "fib" && e.Calls != 198 {
					t.Errorf("%s: fib calls itself %d times, want 198", python, e.Calls)
				}
			}
			if len(f.Callers) != 2 {
				t.Errorf("%s: fib has %d callers, want itself and the generator", python, len(f.Callers))
			}
		}
		if !found {
			t.Errorf("%s: no function fib among %d", python, len(calls.Functions))
		}
	}
}

// TestReadPstatsEqualsPython compares every number with what Python's own pstats reads from files that others recorded.
func TestReadPstatsEqualsPython(t *testing.T) {
	files, _ := filepath.Glob("../../../shared/traces/pstats/*.prof")
	if len(files) == 0 {
		t.Skip("../../../shared/traces is not beside this checkout")
	}
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 on this machine")
	}
	const dump = `
import pstats, sys
st = pstats.Stats(sys.argv[1]).stats
edges = [e for v in st.values() for e in v[4].values()]
print(len(st), sum(v[0] for v in st.values()), sum(v[1] for v in st.values()), round(sum(v[2] for v in st.values()) * 1e6),
      len(edges), sum(e[0] for e in edges), sum(e[1] for e in edges), round(sum(e[3] for e in edges) * 1e6))`
	for _, file := range files {
		out, err := exec.Command(python, "-c", dump, file).Output()
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		calls, err := ReadPstats(f)
		f.Close()
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var n [8]int64
		for _, fn := range calls.Functions {
			n[1] += fn.Primitive
			n[2] += fn.Calls
			n[3] += int64(fn.Own)
			for _, e := range fn.Callers {
				n[4]++
				n[5] += e.Calls
				n[6] += e.Primitive
				n[7] += int64(e.Cumulative)
			}
		}
		n[0] = int64(len(calls.Functions))
		n[3], n[7] = (n[3]+500)/1000, (n[7]+500)/1000
		for i, want := range strings.Fields(string(out)) {
			w, _ := strconv.ParseInt(want, 10, 64)
			if diff := n[i] - w; diff > 1 || diff < -1 || (diff != 0 && i != 3 && i != 7) {
				t.Errorf("%s: figure %d is %d, Python says %d", filepath.Base(file), i, n[i], w)
			}
		}
	}
}

func TestReadPstatsRefuses(t *testing.T) {
	deep := "{" + strings.Repeat(")\x01", 100)
	for name, data := range map[string]string{
		"empty":           "",
		"JSON":            `{"traceEvents": []}`,
		"code object":     "{)\x03c",
		"huge tuple":      "{(\xff\xff\xff\x7f",
		"negative tuple":  "{(\xff\xff\xff\xff",
		"huge text":       "{)\x03u\xff\xff\xff\x7f",
		"bad reference":   "{)\x03r\x05\x00\x00\x00",
		"deep":            deep,
		"number as name":  "{)\x03i\x00\x00\x00\x00i\x00\x00\x00\x00i\x00\x00\x00\x000",
		"short record":    "{)\x03z\x01ai\x01\x00\x00\x00z\x01b)\x00" + "0",
		"self reference":  "\xfb)\x03r\x00\x00\x00\x00",
		"long that lies":  "{)\x03l\xff\xff\xff\x7f",
		"smallest length": "{)\x03l\x00\x00\x00\x80",
	} {
		calls, err := ReadPstats(strings.NewReader(data))
		if err == nil {
			t.Errorf("%s: read without an error: %+v", name, calls)
		}
		if notMine := errors.Is(err, errNotPstats); notMine != (name == "empty" || name == "JSON") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestReadPstatsTruncated cuts a real file everywhere: what came before the cut is kept, and nothing panics.
func TestReadPstatsTruncated(t *testing.T) {
	data := recordFib(t)
	whole, err := ReadPstats(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	for n := 2; n < len(data); n++ {
		part, err := ReadPstats(bytes.NewReader(data[:n]))
		if err == nil {
			t.Fatalf("%d of %d bytes were read without an error", n, len(data))
		}
		if len(part.Functions) > len(whole.Functions) {
			t.Fatalf("%d of %d bytes give %d functions", n, len(data), len(part.Functions))
		}
	}
}

func recordFib(tb testing.TB) []byte {
	tb.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		tb.Skip("no python3 on this machine")
	}
	name := filepath.Join(tb.TempDir(), "fib.prof")
	if out, err := exec.Command(python, "-c", fibProgram, name).CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func FuzzReadPstats(f *testing.F) {
	f.Add(recordFib(f))
	f.Add([]byte("\xfb)\x03r\x00\x00\x00\x00"))
	f.Add([]byte("{(\x03\x00\x00\x00t\x01\x00\x00\x00aI\x01\x00\x00\x00\x00\x00\x00\x00R\x00\x00\x00\x00(\x05\x00\x00\x00i\x01\x00\x00\x00i\x01\x00\x00\x00f\x030.5g\x00\x00\x00\x00\x00\x00\x00\x00{00"))
	f.Fuzz(func(t *testing.T, data []byte) {
		calls, _ := ReadPstats(bytes.NewReader(data))
		if calls == nil {
			return
		}
		for _, fn := range calls.Functions {
			for _, e := range fn.Callers {
				if e.Caller < 0 || int(e.Caller) >= len(calls.Functions) {
					t.Fatalf("caller %d of %d functions", e.Caller, len(calls.Functions))
				}
			}
		}
	})
}
