package agent

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Of what torch.save is given those calls are told that write twice the bytes of its tensors; the program goes on as without the agent, and
// none of its own code is asked.
func TestSavedPartsAreSeen(t *testing.T) {
	const part, table = 64 * 1024 * 4, 1024 * 1024 * 4
	for _, generation := range generations() {
		t.Run(generation, func(t *testing.T) {
			t.Parallel()
			interpreter := python(t, generation)
			plain := start(t, interpreter, environment(), "saved.py")
			got, dir := withAgent(t, interpreter, Config{}, nil, "saved.py")
			same(t, plain, got)
			if plain.status != 0 {
				t.Fatal(plain.stderr)
			}
			lines := strings.Split(content(t, "testdata/saved.py"), "\n")
			spans := map[string]bool{}
			w := only(t, dir, "main")
			for _, row := range w.of("span", "io") {
				spans[fmt.Sprint(row[2:5])] = row[5] == "torch.save"
			}
			var seen []string
			for _, row := range w.of("saved") {
				if !spans[fmt.Sprint(row[1:4])] {
					t.Errorf("no span of the same call: %v", row)
				}
				if filepath.Base(row[6].(string)) != "saved.py" {
					t.Errorf("file %v", row[6])
				}
				_, said, _ := strings.Cut(lines[int(row[7].(float64))-1], "  # ")
				seen = append(seen, fmt.Sprintf("%s %.0f of %.0f", said, row[4], row[5]))
			}
			want := []string{}
			for _, said := range []string{"256 KiB", "64 KiB", "deeper", "memory", "the old format", "by name", "mode"} {
				used := part
				if said == "64 KiB" {
					used = 1024 * 16 * 4
				}
				if said != "mode" || strings.Contains(plain.stdout, "[") && generation != "torch-1.13" && generation != "torch-debian" {
					want = append(want, fmt.Sprintf("%s %d of %d", said, used, table))
				}
			}
			if strings.Join(seen, ", ") != strings.Join(want, ", ") {
				t.Errorf("%q, want %q", seen, want)
			}
			noFailures(t, read(t, dir))
		})
	}
}
