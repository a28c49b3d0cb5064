//go:build unix

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"bottleneck/bench/paired"
)

// small is a bench whose one program is a shell script in a git repository, and whose tool is one, too. Each run is a line of the log.
type small struct {
	t *testing.T
	bench
	p    program
	pins []pin
}

const script = "echo $1 >>$LOG\nmark=before\n"

func newSmall(t *testing.T) *small {
	t.Helper()
	dir := t.TempDir()
	t.Setenv("LOG", filepath.Join(dir, "log"))
	s := &small{t: t, bench: bench{
		python: "/bin/sh", binary: filepath.Join(dir, "tool"), maker: filepath.Join(dir, "make"), work: filepath.Join(dir, "work"),
		results: filepath.Join(dir, "results.json"), timed: filepath.Join(dir, "clock.json"), scouts: mostScouts, pairs: 2, limit: time.Minute,
		library: library{dir: filepath.Join(dir, "checkouts"), mirrors: filepath.Join(dir, "mirrors")}}}
	s.file("make", "echo $1 >$2")
	s.says(`{"cause": "input", "sub": "workers", "where": {"file": "/x/main.sh", "line": 2},
		"saving": {"run_s": {"low": 1, "mid": 2, "high": 3}}}`)
	repository := filepath.Join(dir, "mirrors", "owner+name", "repo")
	s.file("mirrors/owner+name/repo/src/main.sh", script)
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "m"}} {
		if out, err := exec.Command("git", append([]string{"-C", repository}, args...)...).CombinedOutput(); err != nil {
			t.Skipf("git %v: %v: %s", args, err, out)
		}
	}
	edits := []edit{{File: "src/main.sh", First: 2, Old: "before", New: "after"}}
	s.p = program{
		ID: "tiny", Repository: "owner/name", Folder: "src", Paths: []string{"src/main.sh"},
		Data: [][]string{{"kind", "data"}}, Command: []string{"main.sh", "plain"},
		Changes: []change{
			{Name: "fewer", For: []string{"input"}, Command: []string{"main.sh", "fewer"}, Edits: edits},
			{Name: "other", Candidate: true, Command: []string{"main.sh", "other"}, Edits: edits}}}
	text, err := s.library.pinAll(t.Context(), s.python, []program{s.p}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if s.pins, err = readPins(text); err != nil || len(s.pins) != 1 {
		t.Fatalf("pins %v, %v", s.pins, err)
	}
	return s
}

// says makes the tool report one finding, after it ran its program.
func (s *small) says(finding string) {
	s.file("tool", fmt.Sprintf(`#!/bin/sh
echo tool >>$LOG
json=$7
shift 8
"$@" || exit
echo '{"run": {"wall_s": 5}, "findings": [%s]}' >$json
`, finding))
}

func (s *small) file(name, text string) {
	s.t.Helper()
	path := filepath.Join(filepath.Dir(s.work), name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o755); err != nil {
		s.t.Fatal(err)
	}
}

func (s *small) text(name string) string {
	s.t.Helper()
	text, err := os.ReadFile(filepath.Join(filepath.Dir(s.work), name))
	if err != nil {
		s.t.Fatal(err)
	}
	return string(text)
}

// measured runs the program's rounds, on top of what was kept.
func (s *small) measured(ctx context.Context) *measured {
	s.t.Helper()
	kept, err := s.kept()
	if err != nil {
		s.t.Fatal(err)
	}
	m, err := s.measure(ctx, &s.p, s.bench.pairs, s.pins, kept)
	if err != nil {
		s.t.Fatal(err)
	}
	return m
}

func (s *small) logged() string {
	text, _ := os.ReadFile(os.Getenv("LOG"))
	_ = os.Remove(os.Getenv("LOG"))
	return strings.Join(strings.Fields(string(text)), " ")
}

// TestReportsOnly: without rounds each program runs once, under the tool, and its report is told; rounds that follow begin with it.
func TestReportsOnly(t *testing.T) {
	s := newSmall(t)
	s.pairs = 0
	m := s.measured(t.Context())
	j := judge(&s.p, m, paired.Spread{})
	var row strings.Builder
	j.write(&row)
	if text := row.String(); j.verdict != untimed || !strings.Contains(text, "2.00 [1.00, 3.00]") ||
		!strings.Contains(text, "input/workers at main.sh:2") {
		t.Errorf("judged %s of %+v: %s", j.verdict, m, row.String())
	}
	s.resume, s.pairs = true, 1
	if s.measured(t.Context()); s.logged() != "tool plain plain tool plain fewer other" {
		t.Errorf("ran %q", s.logged())
	}
}

// TestRoundsTakeTurns: a run under the tool chooses the change, then every round has each side once, in another order; the tool has one.
func TestRoundsTakeTurns(t *testing.T) {
	s := newSmall(t)
	m := s.measured(t.Context())
	if got, want := s.logged(), "tool plain plain tool plain fewer other other fewer plain"; got != want || m.Failed != "" {
		t.Errorf("ran %q (%s), want %q", got, m.Failed, want)
	}
	for side, want := range map[string]int{toolSide: 1, "fewer": 2} {
		if len(m.pairs(side)) != want {
			t.Errorf("%s has %d times, want %d", side, len(m.pairs(side)), want)
		}
	}
	first := m.Said[1]
	if first.Cause != "input" || first.Sub != "workers" || first.File != "main.sh" || first.Promised == nil || first.Promised.Mid != 2 {
		t.Errorf("said %+v", first)
	}
	text, err := os.ReadFile(filepath.Join(s.work, "tiny", "fewer", "src", "main.sh"))
	if want := strings.Replace(script, "before", "after", 1); err != nil || string(text) != want {
		t.Errorf("the changed copy is %q, %v; want %q", text, err, want)
	}
	if text, err := os.ReadFile(filepath.Join(s.work, "tiny", "original", "src", "main.sh")); err != nil || string(text) != script {
		t.Errorf("the original is %q, %v", text, err)
	}
}

// TestSidesShareTheirHashes: all sides of a round have one seed of Python's hashes, each round another one; other runs have none of ours.
func TestSidesShareTheirHashes(t *testing.T) {
	s := newSmall(t)
	t.Setenv("PYTHONHASHSEED", "9")
	s.file("python", "#!/bin/sh\necho seed$PYTHONHASHSEED >>$LOG\n")
	s.python = filepath.Join(filepath.Dir(s.work), "python")
	m := s.measured(t.Context())
	const want = "seed tool seed seed1 tool seed1 seed1 seed1 seed2 seed2 seed2"
	if got := s.logged(); got != want || m.Failed != "" {
		t.Errorf("ran %q (%s), want %q", got, m.Failed, want)
	}
}

// TestHealthyProgramTriesCandidates: where nothing is found, what no cause proposes is timed.
func TestHealthyProgramTriesCandidates(t *testing.T) {
	s := newSmall(t)
	s.says("")
	m := s.measured(t.Context())
	if len(m.pairs("other")) != 2 || len(m.pairs("fewer")) != 0 {
		t.Errorf("sides %v, want the candidate only", m.changed)
	}
}

// TestResumeGoesOn: rounds that are had are not run again; another recipe begins anew.
func TestResumeGoesOn(t *testing.T) {
	s := newSmall(t)
	s.measured(t.Context())
	s.logged()
	s.pairs = 3
	if m := s.measured(t.Context()); len(m.pairs("fewer")) != 3 {
		t.Errorf("%d rounds, want 3", len(m.pairs("fewer")))
	}
	if got, want := s.logged(), "fewer other plain"; got != want {
		t.Errorf("ran %q, want one round: %q", got, want)
	}
	s.pairs = 4
	if m := s.measured(t.Context()); len(m.pairs("fewer")) != 4 || len(m.pairs("other")) != mostScouts {
		t.Errorf("sides %v, want that the candidate ran in %d rounds", m.changed, mostScouts)
	}
	s.logged()
	s.pairs = 3
	s.p.Command = []string{"main.sh", "changed"}
	if m := s.measured(t.Context()); len(m.pairs("fewer")) != 3 || !strings.HasPrefix(s.logged(), "tool changed") {
		t.Error("another recipe was taken for the old one")
	}
}

// TestWhatWasTimedStands: another version of the tool that proposes the same is judged by what the clock has; another machine's runs, a
// change that does something else, and what is to be forgotten are timed anew.
func TestWhatWasTimedStands(t *testing.T) {
	s := newSmall(t)
	bench := func() (ran string) {
		if err := s.measureAll(t.Context(), []program{s.p}, s.pins); err != nil {
			t.Fatal(err)
		}
		return s.logged()
	}
	const whole = "tool plain plain tool plain fewer other other fewer plain"
	if ran := bench(); ran != whole {
		t.Errorf("ran %q, want %q", ran, whole)
	}
	s.file("tool", strings.Replace(s.text("tool"), "exit", "exit 3", 1))
	if ran := bench(); strings.Contains(ran, "fewer") || strings.Count(ran, "tool") != 2 {
		t.Errorf("another version of the tool ran %q, want two reports and no change", ran)
	}
	s.p.Changes[0].Name, s.p.Changes[1].Command = "less", []string{"main.sh", "another"}
	if ran := bench(); strings.Contains(ran, "fewer") || strings.Count(ran, "another") != 2 {
		t.Errorf("with another name, and another change, it ran %q, want what is another change only", ran)
	}
	s.machine = "larger"
	if ran := bench(); strings.Count(ran, "fewer") != 2 {
		t.Errorf("another machine ran %q, want the change twice", ran)
	}
	s.machine = ""
	if ran := bench(); strings.Contains(ran, "fewer") || strings.Contains(ran, "another") {
		t.Errorf("the first machine ran %q, and has both changes' runs", ran)
	}
	s.resume = true
	if ran := bench(); ran != "" {
		t.Errorf("it went on with %q, and has all", ran)
	}
	s.anew = true
	if ran := bench(); strings.Count(ran, "fewer") != 2 {
		t.Errorf("it ran %q, and was to forget what it had", ran)
	}
}

// TestRoundsGoToWhatIsOpen: all programs get a round before one gets more, and more get only those of which more can be learned.
func TestRoundsGoToWhatIsOpen(t *testing.T) {
	s := newSmall(t)
	s.pairs = 4
	s.p.Changes = s.p.Changes[:1]
	s.p.Changes[0].Command = []string{"-c", `echo fewer >>$LOG; if [ -e $LOG.other ]; then rm $LOG.other; else : >$LOG.other; sleep 0.1; fi`}
	plain := s.p
	plain.ID, plain.Command, plain.Changes = "other", []string{"main.sh", "other"}, nil
	if err := s.measureAll(t.Context(), []program{s.p, plain}, s.pins); err != nil {
		t.Fatal(err)
	}
	kept, err := s.kept()
	if err != nil {
		t.Fatal(err)
	}
	kept.Programs["tiny"].recall(&s.p, kept.clock["tiny"], kept.Machine)
	if open, done := len(kept.Programs["tiny"].pairs("fewer")), len(kept.Programs["other"].Tool); open != 4 || done != 1 {
		t.Errorf("%d rounds of what is undecided, %d of what has no change; want 4 and 1", open, done)
	}
	if ran := s.logged(); strings.LastIndex(ran, "other") > strings.LastIndex(ran, "fewer") || strings.Count(ran, "other") != 3 {
		t.Errorf("ran %q, want all of the second program's runs between the first one's", ran)
	}
}

// TestChangeIsMadeAnew: an interrupted first round leaves a copy of the proposed change, which is made again when the bench goes on.
func TestChangeIsMadeAnew(t *testing.T) {
	s := newSmall(t)
	s.measured(t.Context())
	if err := s.copiesOf(&s.p).change(&s.p.Changes[0]); err != nil {
		t.Error(err)
	}
}

// TestFailuresAreReported: a program that ends badly, and one whose file is another one than is pinned.
func TestFailuresAreReported(t *testing.T) {
	s := newSmall(t)
	s.p.Command = []string{"main.sh;", "x"}
	if m := s.measured(t.Context()); m.Failed == "" {
		t.Error("a program that cannot run did not fail")
	}
	s.p.Command = []string{"main.sh", "plain"}
	s.pins[0].hash = hashOf([]byte("something else"))
	if m := s.measured(t.Context()); !strings.Contains(m.Failed, "not the file that is pinned") {
		t.Errorf("failed %q, want that the file is another one", m.Failed)
	}
}

// TestEarlierResults: without -resume only the chosen programs begin anew; another binary's rounds are refused or left out.
func TestEarlierResults(t *testing.T) {
	s := newSmall(t)
	before := results{Binary: "one", Programs: map[string]*measured{"tiny": {}, "other": {}}}
	if err := writeWhole(s.results, before); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		binary string
		resume bool
		want   int // programs that are kept; -1: refused
	}{{"one", true, 2}, {"one", false, 1}, {"two", true, -1}, {"two", false, 0}} {
		s.resume = test.resume
		kept, err := s.earlier(test.binary, []program{s.p})
		got := -1
		if err == nil {
			got = len(kept.Programs)
		}
		if got != test.want {
			t.Errorf("binary %s, resume %v: %d programs kept (%v), want %d", test.binary, test.resume, got, err, test.want)
		}
	}
}

// TestWhatTheToolChangesItselfIsJudged: where the finding has a change that a program can make, that is the proposal, not the recorded one.
func TestWhatTheToolChangesItselfIsJudged(t *testing.T) {
	for _, c := range []struct{ name, action, was, text string }{
		{"a line", `{"kind": "edit-line", "line": "mark=after"}`, "mark=before", strings.Replace(script, "before", "after", 1)},
		{"a line before", `{"kind": "insert-line", "line": "export A=1", "before": "mark=before"}`, "",
			strings.Replace(script, "mark", "export A=1\nmark", 1)},
		{"a variable", `{"kind": "set-environment", "variable": "MODE", "value": "new"}`, "", script},
		{"advice", `{"kind": "set-argument"}`, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newSmall(t)
			file := filepath.Join(s.work, "tiny", original, "src", "main.sh")
			s.says(fmt.Sprintf(`{"cause": "input", "saving": {"run_s": {"low": 1, "mid": 2, "high": 3}},
				"fix": {"text": "", "was": %q, "where": {"file": %q, "line": 2}, "action": %s}}`, c.was, file, c.action))
			m := s.measured(t.Context())
			judged := judge(&s.p, m, paired.Spread{})
			if c.text == "" {
				if m.Proposed != nil || judged.change != "fewer" {
					t.Errorf("proposed %+v, judged %q", m.Proposed, judged.change)
				}
				return
			}
			if m.Failed != "" || judged.change != ofTool || len(m.pairs("fewer")) != 0 || len(m.pairs(ofTool)) != 2 {
				t.Fatalf("%s: judged %q of %v", m.Failed, judged.change, m.changed)
			}
			text, err := os.ReadFile(filepath.Join(s.work, "tiny", ofTool, "src", "main.sh"))
			if err != nil || string(text) != c.text || (m.Proposed.Environment["MODE"] == "new") != (c.name == "a variable") {
				t.Errorf("%v: %q, %v", err, text, m.Proposed)
			}
		})
	}
}
