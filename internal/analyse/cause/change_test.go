package cause

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/input"
	"testing"
)

func TestArgumentsAreSetInTheCall(t *testing.T) {
	args := []finding.Argument{{Name: input.NumWorkers, Value: "4"}, input.KeepWorkers}
	for _, c := range []struct{ line, want string }{
		{"loader = DataLoader(data, batch_size=8)", "loader = DataLoader(data, batch_size=8, num_workers=4, persistent_workers=True)"},
		{"loader = DataLoader(data, num_workers=0, shuffle=True)  # (x)",
			"loader = DataLoader(data, num_workers=4, shuffle=True, persistent_workers=True)  # (x)"},
		{"loader = DataLoader(Rows(path, ')'), num_workers=count)",
			"loader = DataLoader(Rows(path, ')'), num_workers=4, persistent_workers=True)"},
		{"loader = DataLoader()", "loader = DataLoader(num_workers=4, persistent_workers=True)"},
	} {
		if _, got, ok := withArguments([]string{c.line}, "DataLoader", args); !ok || got != c.want {
			t.Errorf("%s became %s, want %s", c.line, got, c.want)
		}
	}
	for _, line := range []string{"loader = DataLoader(", "loader = DataLoader(data, # )", "x = 1", "loader = DataLoader('data)"} {
		if _, got, ok := withArguments([]string{line}, "DataLoader", args); ok {
			t.Errorf("%q became %q, though its call does not end there", line, got)
		}
	}
}
