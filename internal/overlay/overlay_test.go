package overlay

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

func TestEdit(t *testing.T) {
	text := "def f():\r\n\tx = 1\r\n\treturn x"
	for _, c := range []struct {
		edit Edit
		want string
	}{
		{Edit{Line: 2, Old: "x = 1", New: "x = 2"}, "def f():\r\n\tx = 2\r\n\treturn x"},
		{Edit{Line: 3, Old: "return x", New: "return 2"}, "def f():\r\n\tx = 1\r\n\treturn 2"},
		{Edit{Line: 2, Old: "x = 1", New: "y = 0", Insert: true}, "def f():\r\n\ty = 0\r\n\tx = 1\r\n\treturn x"},
	} {
		if got, err := c.edit.Apply(text); err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c.edit, got, err)
		}
	}
	for _, e := range []Edit{{Line: 0}, {Line: 9, Old: "x"}, {Line: 2, Old: "x = 3", New: "x = 2"}} {
		if got, err := e.Apply(text); err == nil {
			t.Errorf("%+v gave %q", e, got)
		}
	}
}

// TestPatchIsWhatGitApplies gives patches to git apply, and asks for the changed text.
func TestPatchIsWhatGitApplies(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	long := strings.Repeat("line\n", 40)
	for _, c := range []struct{ name, before, after string }{
		{"train.py", "a\nb\nc\nd\ne\nf\ng\nh\n", "a\nb\nc\nd\nE\nf\ng\nh\n"},
		{"first.py", "a\nb\n", "A\nb\n"},
		{"pkg/last.py", "a\nb", "a\nB"},
		{"ends.py", "a\nb", "a\nb\n"},
		{"added.py", long, long + "more\n"},
		{"crlf.py", "a\r\nb\r\nc\r\n", "a\r\nB\r\nc\r\n"},
		{"with space \"ä.py", "a\n", "b\n"},
		{"middle.py", long + "x\n" + long, long + "z\ny\n" + long},
	} {
		dir := t.TempDir()
		path := filepath.Join(dir, filepath.FromSlash(c.name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(c.before), 0o600); err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command("git", "apply", "-")
		cmd.Dir, cmd.Stdin = dir, strings.NewReader(Patch(c.name, c.before, c.after))
		cmd.Env = append(os.Environ(), "GIT_CEILING_DIRECTORIES="+filepath.Dir(dir))
		out, err := cmd.CombinedOutput()
		if got, _ := os.ReadFile(path); err != nil || string(got) != c.after {
			t.Errorf("%s: %v %s: %q\n%s", c.name, err, out, got, Patch(c.name, c.before, c.after))
		}
	}
	if p := Patch("a", "x\n", "x\n"); p != "" {
		t.Errorf("a patch of nothing: %q", p)
	}
}

func TestCopy(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{"train.py": "old", "pkg/model.py": "model", "pkg/other.py": "other", "data/in": "data",
		"pkg/__pycache__/model.pyc": "stale"} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Make(root, filepath.Join(t.TempDir(), "copy"), filepath.Join(root, "pkg", "model.py"), "changed")
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{"train.py": "old", "pkg/model.py": "changed", "pkg/other.py": "other", "data/in": "data"} {
		path, ok := c.Of(filepath.Join(root, filepath.FromSlash(name)))
		if got, err := os.ReadFile(path); err != nil || !ok || string(got) != want {
			t.Errorf("%s is %q: %v", name, got, err)
		}
	}
	if _, err := os.Stat(filepath.Join(c.Path, "pkg", "__pycache__")); err == nil {
		t.Error("what Python made of the sources is linked, and would be written")
	}
	if got, _ := os.ReadFile(filepath.Join(root, "pkg", "model.py")); string(got) != "model" {
		t.Errorf("the original is %q", got)
	}
	if _, err := Make(root, filepath.Join(t.TempDir(), "c"), "/elsewhere/x.py", ""); err == nil {
		t.Error("a file that is not below the folder was taken")
	}
}
