package cli

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Secrets in a program's arguments, its children's and bottleneck's own reach no file of the session.
func TestSecretsStayOutOfTheSession(t *testing.T) {
	b := newBench(t)
	// The report shows lines of the program's as they are, such as one that waits: the secret stands in another.
	b.file("s.py", `import subprocess, sys, time
code = "import time\npassword = 'planted-in-code'\nend = time.monotonic() + 0.3\nwhile time.monotonic() < end: pass"
if len(sys.argv) > 1:
    subprocess.call([sys.executable, "s.py"])
    subprocess.call([sys.executable, "-c", code])
end = time.monotonic() + 0.3
while time.monotonic() < end: sum(range(999))
`)
	got := b.run("", "run", "--on-trace-ready", "true Authorization: Bearer planted-in-flag", "s.py", "--password", "planted-as-value",
		"--api-key=planted-with-equals", "hf_plantedplantedplanted", "postgres://u:planted-in-url@h/db",
		"https://h/?token=planted-in-query")
	if got.code != 0 {
		t.Fatalf("%+v", got)
	}
	seen := 0
	err := filepath.WalkDir(b.session(), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Base(filepath.Dir(path)) == "source" {
			return err // the program's own text is kept as it is
		}
		text, err := os.ReadFile(path)
		if strings.HasSuffix(path, ".gz") {
			zip, zerr := gzip.NewReader(bytes.NewReader(text))
			if zerr != nil {
				return zerr
			}
			text, err = io.ReadAll(zip)
		}
		seen++
		if at := bytes.Index(text, []byte("planted")); at >= 0 {
			t.Errorf("%s: %s", path, text[max(0, at-40):min(len(text), at+40)])
		}
		return err
	})
	if err != nil || seen < 8 {
		t.Errorf("%d files were looked at: %v", seen, err)
	}
	if strings.Contains(got.stderr, "planted") {
		t.Errorf("the report shows a secret:\n%s", got.stderr)
	}
}
