package cli

import (
	"os"
	"path/filepath"
	"testing"

	"bottleneck/internal/record"
)

// Operators run again under the Python that ran them, though the command named a launcher or another program.
func TestInterpreterThatRan(t *testing.T) {
	for _, c := range []struct {
		name      string
		processes map[string]string // by folder
		want      string
	}{
		{"nothing known", nil, ""},
		{"main process", map[string]string{"box-7-1700000000000": `{"role":"main","executable":"/envs/a/bin/python","torch":{}}`}, "/envs/a/bin/python"},
		{"without torch", map[string]string{"box-7-1700000000000": `{"role":"main","executable":"/usr/bin/python3"}`}, ""},
		{"ranks of a launcher", map[string]string{
			"box-7-1700000000000": `{"role":"main","executable":"/usr/bin/python3","torch":{}}`,
			"box-8-1700000000001": `{"role":"rank","executable":"/envs/b/bin/python","torch":{}}`}, "/envs/b/bin/python"},
		{"another host", map[string]string{"far-7-1700000000000": `{"role":"rank","executable":"/envs/a/bin/python","torch":{}}`}, ""},
		{"no path", map[string]string{"box-7-1700000000000": `{"role":"main","executable":"python","torch":{}}`}, ""},
		{"damaged", map[string]string{"box-7-1700000000000": `{"role":"main"`}, ""},
	} {
		dir := t.TempDir()
		for folder, text := range c.processes {
			if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, folder, record.ProcessName), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if got := interpreterThatRan(dir, "box"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
