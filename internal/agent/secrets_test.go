package agent

import (
	"encoding/json"
	"os/exec"
	"slices"
	"testing"
)

// TestSecrets has the agent's rule for secrets follow the table that the launcher's follows, too.
func TestSecrets(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	text := content(t, "../record/testdata/secrets.json")
	var table []struct{ Argv, Shown []string }
	if err := json.Unmarshal([]byte(text), &table); err != nil || len(table) < 10 {
		t.Fatal(err, len(table))
	}
	command := exec.Command(python, "-c", `import json
from _bneck_agent import secrets
print(json.dumps([secrets.arguments(row["argv"]) for row in json.load(open("../record/testdata/secrets.json", encoding="utf-8"))]))`)
	command.Env = environment("PYTHONPATH=" + here(t) + "/py")
	output, err := command.Output()
	if err != nil {
		t.Fatal(err)
	}
	var got [][]string
	if err := json.Unmarshal(output, &got); err != nil {
		t.Fatal(err)
	}
	for i, row := range table {
		if !slices.Equal(got[i], row.Shown) {
			t.Errorf("%q became %q, want %q", row.Argv, got[i], row.Shown)
		}
	}
}
