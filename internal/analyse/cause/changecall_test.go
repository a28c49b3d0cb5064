package cause

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/input"
	"strings"
	"testing"
)

// A call is changed where one line of it says how; its arguments may be calls, strings and comments themselves.
func TestArgumentsOfACallInItsLine(t *testing.T) {
	args := []finding.Argument{{Name: input.NumWorkers, Value: "4"}, input.KeepWorkers}
	for _, c := range []struct{ name, text, want string }{
		{"a call as value", "DataLoader(data, num_workers=min(2, os.cpu_count()))",
			"0 DataLoader(data, num_workers=4, persistent_workers=True)"},
		{"an inner call's argument", "DataLoader(Rows(num_workers=2), 8)",
			"0 DataLoader(Rows(num_workers=2), 8, num_workers=4, persistent_workers=True)"},
		{"by position", "DataLoader(data, 8, True, None, None, 2)", "0 DataLoader(data, 8, True, None, None, 4, persistent_workers=True)"},
		{"trailing comma", "DataLoader(data, batch_size=8,)", "0 DataLoader(data, batch_size=8, num_workers=4, persistent_workers=True,)"},
		{"of a module", "x = torch.utils.data.DataLoader (data)",
			"0 x = torch.utils.data.DataLoader (data, num_workers=4, persistent_workers=True)"},
		{"several lines", "loader = DataLoader(\n    data,  # all, of it)\n    batch_size=8,\n)",
			"2     batch_size=8, num_workers=4, persistent_workers=True,"},
		{"in a later line", "loader = DataLoader(data,\n    num_workers=0,  # none\n    collate_fn=lambda rows: pack(rows, 1),\n)",
			"1     num_workers=4, persistent_workers=True,  # none"},
		{"one of them is right", "loader = DataLoader(data,\n    num_workers=2,\n    persistent_workers=True)", "1     num_workers=4,"},
		{"a text of several lines", "DataLoader(Query(\"\"\"select )\n  from x\"\"\"),\n  8)",
			"2   8, num_workers=4, persistent_workers=True)"},
		{"given beside what is passed on", "DataLoader(data, num_workers=0, persistent_workers=False, **options)",
			"0 DataLoader(data, num_workers=4, persistent_workers=True, **options)"},
	} {
		at, got, ok := withArguments(strings.Split(c.text, "\n"), "DataLoader", args)
		if want := c.want[2:]; !ok || got != want || at != int(c.want[0]-'0') {
			t.Errorf("%s: line %d became %q (%v), want %q", c.name, at, got, ok, c.want)
		}
	}
}

// What a line does not tell for certain stays as it is.
func TestCallsThatStayAsTheyAre(t *testing.T) {
	args := []finding.Argument{{Name: input.NumWorkers, Value: "4"}, input.KeepWorkers}
	for name, text := range map[string]string{
		"passed on":             "DataLoader(data, **options)",
		"positions passed on":   "DataLoader(*arguments)",
		"another class":         "loader = PairDataLoader(data)",
		"another class, longer": "loader = DataLoaderOfPairs(data)",
		"two calls":             "train, test = DataLoader(a), DataLoader(b)",
		"a text":                "print('DataLoader(data)')",
		"a comment":             "x = build(data)  # DataLoader(data)",
		"a definition":          "class DataLoader(Base):",
		"no call":               "trainer.fit(model, loader)",
		"two lines change":      "DataLoader(data,\n    persistent_workers=False,\n    num_workers=0)",
		"a value of two lines":  "DataLoader(data, persistent_workers=True, num_workers=min(2,\n    cores))",
		"as it should be":       "DataLoader(data, num_workers=4, persistent_workers=True)",
		"no end":                "DataLoader(data,\n    8,",
		"a text without end":    "DataLoader('data)",
		"rows without brackets": "DataLoader(row for row in rows)",
	} {
		if at, got, ok := withArguments(strings.Split(text, "\n"), "DataLoader", args); ok {
			t.Errorf("%s: line %d became %q", name, at, got)
		}
	}
}
