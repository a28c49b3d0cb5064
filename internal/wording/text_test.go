package wording

import (
	"regexp"
	"strings"
	"testing"
)

func TestFill(t *testing.T) {
	text := func(template string, facts ...Fact) string { return Text{Facts: facts}.fill(template) }
	for want, got := range map[string]string{
		"12 % of each step waits": text("{share} of {each} waits", Share("share", 0.123), Named("unit", "step")),
		"4.1 % of the run":        text("{share} of {each}", Share("share", 0.041), Named("unit", "run")),
		"1 worker and 3 batches":  text("{n worker} and {m batch|batches}", Count("n", 1), Count("m", 3)),
		"130 s, 2.5 cores, 1.00 KiB": text("{t}, {cores} cores, {b}", Time("t", 130e9),
			Value("cores", 2.5), Size("b", 1024)),
		"every 10th step (10 steps would be enough)": text("every {nth} step ({what})", Nth("nth", 10),
			With("what", Say("basis.few-steps"))),
		"{missing} stays, and {each}":      text("{missing} stays, and {each}"),
		"12,000 names of a.py:3, no place": text("{n name} of {at}, no place", Count("n", 12000), Named("at", "a.py:3")),
	} {
		want = strings.Replace(want, "130 s", "2.17 min", 1) // from two minutes on
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if main := Say("x", Named("a", "b"), With("c", Say("y", Count("n", 3)))).Main(); main == nil || main.Value != 3 {
		t.Errorf("the number that it is about: %+v", main)
	}
}

// An id is in one table: of two, one would be said silently in the other's place.
func TestIDsAreUnique(t *testing.T) {
	texts := 0
	for _, t := range tables {
		texts += len(t)
	}
	if texts != len(all) {
		t.Errorf("%d texts in the tables, %d ids", texts, len(all))
	}
}

// Templates end as their kind does, their places are well formed, and words that readers stumbled over stay out.
func TestTemplates(t *testing.T) {
	place := regexp.MustCompile(`\{[a-z0-9-]+( [a-z |-]+)?\}`)
	for id, template := range all {
		if rest := place.ReplaceAllString(template, ""); strings.ContainsAny(rest, "{}") && !strings.Contains(id, "code") {
			t.Errorf("%s: a place that is none: %s", id, template)
		}
		if strings.Contains(template, "  ") || strings.TrimSpace(template) != template {
			t.Errorf("%s: spaces: %q", id, template)
		}
		_, name, _ := strings.Cut(id, ".")
		if kind, _, _ := strings.Cut(name, "-"); (kind == "fix" || kind == "caveat") != strings.HasSuffix(template, ".") {
			t.Errorf("%s: fixes and caveats are sentences, other texts parts of one: %s", id, template)
		}
	}
}
