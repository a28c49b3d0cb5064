package ui

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
)

// TestFresh asks that dist was made of the sources that are here.
func TestFresh(t *testing.T) {
	sum, err := Sum(os.DirFS("."))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(File(SumFile))); got != sum {
		t.Errorf("the sources or libraries of the page changed since dist was made: make ui")
	}
}

// TestSize bounds what a browser gets at first.
func TestSize(t *testing.T) {
	const most = 250 << 10
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for _, name := range []string{IndexFile, ScriptFile, StyleFile} {
		z.Write(File(name))
	}
	z.Close()
	if packed.Len() > most {
		t.Errorf("the page is %d bytes gzipped, at most %d", packed.Len(), most)
	}
	t.Logf("%d bytes gzipped", packed.Len())
}

// TestFilesFitIntoOne asks that the page can stand in one file: what is replaced is there once, and nothing ends an element early.
func TestFilesFitIntoOne(t *testing.T) {
	for _, mark := range []string{Head, StyleLink, ScriptLink} {
		if n := bytes.Count(File(IndexFile), []byte(mark)); n != 1 {
			t.Errorf("%s holds %q %d times", IndexFile, mark, n)
		}
	}
	for name, end := range map[string]string{ScriptFile: "</script", StyleFile: "</style"} {
		if bytes.Contains(bytes.ToLower(File(name)), []byte(end)) {
			t.Errorf("%s holds %q", name, end)
		}
	}
}

// TestLockNamesNoRegistry asks that libraries come from wherever the machine's npm gets them.
func TestLockNamesNoRegistry(t *testing.T) {
	lock, err := os.ReadFile("package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{`"resolved"`, "https://registry", "http://"} {
		if strings.Contains(string(lock), bad) {
			t.Errorf("package-lock.json holds %q", bad)
		}
	}
}
