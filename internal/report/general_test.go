package report

import (
	"strings"
	"testing"
)

// A JSON value is one line and not longer than can be read; a text has no quotes.
func TestJSONLine(t *testing.T) {
	long := strings.Repeat("ä", 400)
	for raw, want := range map[string]string{
		`"night\n 7"`:                         "night 7",
		"{\"lr\": 0.1,\n \"layers\": [1, 2]}": `{"lr": 0.1, "layers": [1, 2]}`,
		`"` + long + `"`:                      long[:maxJSONLine] + "…",
		`{"a":`:                               `{"a":`,
		"7":                                   "7",
	} {
		if got := jsonLine(raw); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
	}
}
