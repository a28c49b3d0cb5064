package kineto

import (
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"testing"
)

// traces is the folder of real traces; tests that need it say so when it is missing.
const traces = "../../../shared/traces"

func realText(tb testing.TB, name string) []byte {
	tb.Helper()
	f, err := os.Open(filepath.Join(traces, name))
	if err != nil {
		tb.Skipf("no real traces here: %v", err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		tb.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		tb.Fatal(err)
	}
	return text
}

var big = []string{
	"segment-anything-fast/eager_False.json.gz", "tracelens-big-mi300/mi300_owlv2-large.json.gz",
	"hta-df-index-resolver-v100/trace_8_rank_1.json.gz",
}

func BenchmarkScan(b *testing.B) {
	for _, name := range big {
		b.Run(filepath.Base(name), func(b *testing.B) {
			text := realText(b, name)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s := NewBytesScanner(text)
				var e Event
				n := 0
				for s.Next(&e) {
					n++
				}
				if n < 1000 || s.Damage != (Damages{}) {
					b.Fatal(n, s.Damage)
				}
			}
		})
	}
}

// BenchmarkByteLoop is the yardstick: a plain loop over every byte.
func BenchmarkByteLoop(b *testing.B) {
	text := realText(b, big[0])
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		quotes := 0
		for _, c := range text {
			if c == '"' {
				quotes++
			}
		}
		if quotes == 0 {
			b.Fatal("no text")
		}
	}
}

func TestDigits(t *testing.T) {
	for _, c := range []struct {
		text string
		v    int64
		n    int
	}{{"", 0, 0}, {"7,", 7, 1}, {"1697770410661103, ", 1697770410661103, 16}, {"12345678", 12345678, 8}, {"1234567:12345678", 1234567, 7},
		{"123456789/", 123456789, 9}, {"00000001 ", 1, 8}, {"1234567/90", 1234567, 7}, {"12, \"ab\": 3", 12, 2}, {"7 23456789", 7, 1},
		{"1:2345678", 1, 1}, {"1234567", 1234567, 7}, {"\xB1\xB2\xB3\xB4\xB5\xB6\xB7\xB8", 0, 0}} {
		if v, n := digits([]byte(c.text), 0); v != c.v || n != c.n {
			t.Errorf("digits(%q) = %d, %d; want %d, %d", c.text, v, n, c.v, c.n)
		}
	}
}

// TestShortFloat: what the short way reads is what strconv reads, and it reads what traces hold.
func TestShortFloat(t *testing.T) {
	short := 0
	for _, text := range []string{"0", "0.30555555", "190.47619047619048", "1.2222222", "1.", "16777217", "16777217.0", "33554433",
		"0.000000000000001", "7.038531e-26", "123456789012345", "1234567.12345678", "1234567.123456789", "2049.0001", "8388608.5",
		"8388609.5", "0.1", "99.99999"} {
		want, err := strconv.ParseFloat(text, 32)
		if err != nil {
			t.Fatal(err)
		}
		for _, tail := range []string{",", ", \"b\": 1", "}                "} {
			got, q := shortFloat([]byte(text+tail), 0)
			if q > 0 && (got != float32(want) || q != len(text)) {
				t.Errorf("%s: %v, %d; want %v, %d", text, got, q, float32(want), len(text))
			}
			short += min(q, 1)
		}
	}
	if short < 30 {
		t.Errorf("only %d were read the short way", short)
	}
}

func TestPlainTriple(t *testing.T) {
	for text, want := range map[string][3]int32{"[11, 3, 1],": {11, 3, 1}, "[ 2,\n 1 , 4 ]": {}, "[2,\n1,4 ]  ": {2, 1, 4}, "[1, 2]": {},
		"[1, -2, 3]": {}, "[1, 2, 3, 4]": {}, "[9999999999, 1, 1]": {}, "[1, 2, 3": {}} {
		var got [3]int32
		q := plainTriple([]byte(text), 0, &got)
		if q == 0 {
			got = [3]int32{}
		} else if text[q-1] != ']' {
			t.Errorf("%q ends at %d", text, q)
		}
		if got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}
