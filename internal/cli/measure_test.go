package cli

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bottleneck/internal/model"
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
		{"main process", map[string]string{"box-7-1700000000000": `{"role":"main","executable":"/envs/a/bin/python","torch":{}}`},
			"/envs/a/bin/python"},
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

// TestMeasureElsewhere refuses to time another machine's operators here.
func TestMeasureElsewhere(t *testing.T) {
	s := &model.Session{Strings: &model.Strings{}, Environment: model.Environment{Host: "node17.example"}}
	if _, err := measure(context.Background(), s, "/no/such/python", time.Second); err == nil ||
		!strings.Contains(err.Error(), "recorded on node17.example") {
		t.Errorf("%v", err)
	}
}

func TestUsableCores(t *testing.T) {
	quota := func(cores float64) *float64 { return &cores }
	for _, c := range []struct {
		name       string
		e          model.Environment
		cores, all int
	}{
		{"all", model.Environment{CPUs: 8}, 8, 0},
		{"bound", model.Environment{CPUs: 8, Affinity: []int{0, 1}}, 2, 8},
		{"a quota of two", model.Environment{CPUs: 64, Affinity: make([]int, 64), CPUQuota: quota(2)}, 2, 0},
		{"bound below its quota", model.Environment{CPUs: 64, Affinity: []int{5}, CPUQuota: quota(4.5)}, 1, 4},
		{"a quota of half a core", model.Environment{CPUs: 4, CPUQuota: quota(0.5)}, 1, 0},
	} {
		if cores, all := usableCores(&c.e); cores != c.cores || all != c.all {
			t.Errorf("%s: %d, %d, want %d, %d", c.name, cores, all, c.cores, c.all)
		}
	}
}
