package wording

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The reports that docs/causes shows are made by runs (make causes). Their sentences are those of today's tables: each title, piece of
// evidence, fix and caveat is one text after another.
func TestSamplesSpeakTodaysWords(t *testing.T) {
	pages, err := filepath.Glob("../../docs/causes/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatalf("no pages: %v", err)
	}
	today := anyTexts()
	for _, page := range pages {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for i, block := range strings.Split(string(text), "```text\n")[1:] {
			block, _, _ = strings.Cut(block, "```")
			for _, said := range saidIn(block) {
				if !today.MatchString(said) && !strings.Contains(said, "Error: ") { // what the program itself said
					t.Errorf("%s, report %d: %q is no text of the tables; make causes", filepath.Base(page), i+1, said)
				}
			}
		}
	}
}

// anyTexts matches texts of the tables, one or several after each other.
func anyTexts() *regexp.Regexp {
	fact := regexp.MustCompile(`\{[^}]*\}`)
	var forms []string
	for _, template := range all {
		if words := fact.ReplaceAllString(template, ""); len(strings.TrimSpace(words)) < 6 {
			continue // fits anything
		}
		parts := fact.Split(template, -1)
		for i := range parts {
			parts[i] = regexp.QuoteMeta(parts[i])
		}
		forms = append(forms, strings.Join(parts, ".+?"))
	}
	slices.Sort(forms)
	one := "(?:" + strings.Join(forms, "|") + ")"
	return regexp.MustCompile("(?is)^" + one + "(?:(?:; | |, )" + one + ")*$")
}

var (
	numbered = regexp.MustCompile(`^ *\d+\. `)
	labelled = regexp.MustCompile(`^ {6}([a-z]+)  +(.*)$`)
	tagged   = regexp.MustCompile(` \[[a-z/-]+\]$`)
)

// saidIn are the sentences of a finding's report: its title, and what stands behind evidence, fix and but.
func saidIn(block string) []string {
	var out []string
	label := ""
	for line := range strings.Lines(block) {
		line = strings.TrimRight(line, "\n")
		switch m := labelled.FindStringSubmatch(line); {
		case numbered.MatchString(line):
			label = "title"
			out = append(out, numbered.ReplaceAllString(line, ""))
		case m != nil:
			label = m[1]
			if label == "evidence" || label == "fix" || label == "but" {
				out = append(out, m[2])
			}
		case label == "title" || label == "evidence" || label == "fix" || label == "but":
			out[len(out)-1] += " " + strings.TrimSpace(line)
		}
	}
	for i := range out {
		out[i] = tagged.ReplaceAllString(out[i], "")
	}
	return out
}
