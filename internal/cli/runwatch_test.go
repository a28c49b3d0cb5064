package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// TestMeasured holds when sampling may end: ranks decide where there are any, else main processes that run torch.
func TestMeasured(t *testing.T) {
	const torch, over, ended = `,"torch":{"version":"2.15"}`, `,"measuring_over":true`, `,"exit":{"reason":"end"}`
	for name, c := range map[string]struct {
		processes [][2]string // role, more fields
		want      bool
	}{
		"nothing yet":                     {nil, false},
		"before the end":                  {[][2]string{{"main", torch}}, false},
		"over":                            {[][2]string{{"main", torch + over}}, true},
		"without torch, named by hand":    {[][2]string{{"main", over}}, true},
		"a worker does not count":         {[][2]string{{"main", torch + over}, {"worker", torch}}, true},
		"one rank goes on":                {[][2]string{{"rank", torch + over}, {"rank", torch}}, false},
		"ranks started by a main process": {[][2]string{{"main", torch}, {"rank", torch + over}, {"rank", torch + over}}, true},
		"one of two programs ended":       {[][2]string{{"main", torch + ended}, {"main", torch + over}}, true},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for i, p := range c.processes {
				folder := filepath.Join(dir, fmt.Sprintf("host-%d-1", i+1))
				if err := os.Mkdir(folder, 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(folder, "process.json"), fmt.Appendf(nil, `{"role":%q%s}`, p[0], p[1]),
					0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := measured(dir); got != c.want {
				t.Errorf("measured = %v, want %v", got, c.want)
			}
		})
	}
}
