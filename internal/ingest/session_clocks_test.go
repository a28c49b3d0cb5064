package ingest

import (
	"fmt"
	"strings"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// said are the diagnostics of a session as "kind: text".
func said(s *model.Session) string {
	var out []string
	for _, in := range s.Inputs {
		for _, d := range in.Diagnostics {
			out = append(out, d.Kind+": "+d.Text)
		}
	}
	return strings.Join(out, "\n")
}

// The agent's clock is an hour ahead of the launcher's, or on another host, or right.
func TestSessionClocksDisagree(t *testing.T) {
	const second, hour = int64(1e9), int64(3600e9)
	for _, c := range []struct {
		ahead int64
		host  string
		says  bool
	}{{hour, "far", true}, {-hour, "far", true}, {hour, "near", false}, {0, "far", false}} {
		d := newSessionDir(t)
		d.launcher(record.Launcher{Host: c.host, ChildPID: 500, StartUnixNS: 2 * hour, Exit: &record.Exit{UnixNS: 2*hour + 60*second}})
		d.process("far-500-1", facts)
		d.write("far-500-1/events.jsonl.gz",
			string(gzipMember(fmt.Sprintf(`["clock",1000,%d]`, 2*hour+c.ahead+second),
				`["step",0,"train","optimizer",1000,2000,"baseline",16,500]`)))
		if text := said(d.open()); strings.Contains(text, "clock: its steps lie") != c.says ||
			c.ahead == hour && c.says && !strings.Contains(text, "59m1s outside of the run") {
			t.Errorf("%d s ahead on %s: %q", c.ahead/second, c.host, text)
		}
	}
}

// A process that imported torch and left no events lost them; one that did not has none.
func TestSessionLostEvents(t *testing.T) {
	for with, says := range map[string]bool{facts: true, strings.Replace(facts, `"torch": {`, `"other": {`, 1): false} {
		d := newSessionDir(t)
		d.process("far-500-1", with)
		if text := said(d.open()); strings.Contains(text, "missing: what the agent saw") != says {
			t.Errorf("%q, want it said: %v", text, says)
		}
	}
}
