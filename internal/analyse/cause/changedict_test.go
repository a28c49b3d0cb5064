package cause

import (
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/input"
)

// Arguments that a call is given as a dictionary are set where the file's only dictionary names them.
func TestOptionsOfACall(t *testing.T) {
	args := []finding.Argument{{Name: input.NumWorkers, Value: "4"}, input.KeepWorkers}
	for name, c := range map[string]struct{ text, want string }{
		"beside what is right": {"o = {'num_workers': 1,\n 'persistent_workers': True}\nDataLoader(data, **o)", "0 o = {'num_workers': 4,"},
		"alone": {"o = {\"num_workers\": 1, 'pin_memory': True} if gpu else {}\nDataLoader(data,\n  **o)",
			"0 o = {\"num_workers\": 4, 'persistent_workers': True, 'pin_memory': True} if gpu else {}"},
		"a name":              {"o = dict()\no.update({'num_workers': args.workers})\nDataLoader(data, **o)", ""},
		"named twice":         {"o = {'num_workers': 1}\np = {'num_workers': 1}\nDataLoader(data, **o)", ""},
		"set elsewhere":       {"o = {'num_workers': 1}\no['num_workers'] = 2\nDataLoader(data, **o)", ""},
		"given in the call":   {"o = {'num_workers': 1}\nDataLoader(data, num_workers=n(\n), **o)", ""},
		"nothing passed on":   {"o = {'num_workers': 1}\nDataLoader(data)", ""},
		"the other way round": {"o = {'num_workers': 1, 'persistent_workers': False}\nDataLoader(data, **o)", ""},
		"as it should be":     {"o = {'num_workers': 4, 'persistent_workers': True}\nDataLoader(data, **o)", ""},
	} {
		lines := strings.Split(c.text, "\n")
		line := 0
		for i := range lines {
			if strings.HasPrefix(lines[i], "DataLoader") {
				line = i
			}
		}
		at, got, ok := withOptions(lines, line, "DataLoader", args)
		if c.want == "" && ok || c.want != "" && (!ok || got != c.want[2:] || at != int(c.want[0]-'0')) {
			t.Errorf("%s: line %d became %q (%v), want %q", name, at, got, ok, c.want)
		}
	}
}
