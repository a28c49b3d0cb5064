package agent

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestExtractWritesWhatPythonNeeds(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "agent")
	for range 2 { // launchers of one job do it side by side
		if err := Extract(dir); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sitecustomize.py", "_bneck_agent/__init__.py", "_bneck_agent/windows.py"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %v", name, info.Mode())
		}
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*", ".agent-*"))
	if len(left) > 0 {
		t.Errorf("temporary files left: %v", left)
	}
	if err := Extract("/proc/nothing/here"); err == nil || !strings.Contains(err.Error(), "/proc/nothing/here") {
		t.Errorf("impossible directory: %v", err)
	}
}

func TestEnviron(t *testing.T) {
	base := []string{"A=1", "PYTHONPATH=/mine:/too", "TORCH_CPP_LOG_LEVEL=INFO", "BNECK_AGENT_CONFIG=old", "BNECK_PARENT_ROLE=main:1"}
	got := Environ(base, "/s/agent", Config{Session: "/s", ProfileMemory: true, Metadata: map[string]string{"a": "b"}})
	want := []string{"A=1", "PYTHONPATH=/s/agent:/mine:/too", "TORCH_CPP_LOG_LEVEL=INFO"}
	for _, entry := range want {
		if !slices.Contains(got, entry) {
			t.Errorf("%q is missing in %q", entry, got)
		}
	}
	var config Config
	for _, entry := range got {
		name, value, _ := strings.Cut(entry, "=")
		switch name {
		case ConfigVariable:
			if err := json.Unmarshal([]byte(value), &config); err != nil {
				t.Error(err)
			}
		case "BNECK_PARENT_ROLE":
			t.Error("the role of an outer run's process was passed on")
		}
	}
	if config.Session != "/s" || !config.ProfileMemory || config.Metadata["a"] != "b" {
		t.Errorf("configuration %+v", config)
	}
	// An empty entry of PYTHONPATH would put the working directory on sys.path.
	for _, base := range [][]string{nil, {"PYTHONPATH="}} {
		if got := Environ(base, "/s/agent", Config{}); !slices.Contains(got, "PYTHONPATH=/s/agent") {
			t.Errorf("from %q: %q", base, got)
		}
	}
	if base[1] != "PYTHONPATH=/mine:/too" {
		t.Error("the base was changed")
	}
}
