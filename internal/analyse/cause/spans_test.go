package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"math"
	"testing"
)

// A checkpoint of several files is written by several lines of one function; it is one thing to do less often, with the time of all.
func TestFilesOfOneCheckpointAreOneFinding(t *testing.T) {
	p := testkit.NewProgram()
	save := func(ms, line int) testkit.Act {
		return testkit.Native(ms, module, loop(47), user("save_checkpoint", 60, line)).In(model.SpanIO)
	}
	p.Steps(30, model.PhaseBaseline, forward, save(20, 67), save(10, 66), save(8, 120))
	res, _ := find(t, p)
	f := want(t, res, finding.IO, "checkpoint", 67, 29)
	if math.Abs(f.Share-30.0/98) > 0.02 {
		t.Errorf("share %.2f, want 0.31", f.Share)
	}
	at := []int{}
	for _, other := range res.Findings[1:] {
		if !other.Healthy {
			at = append(at, other.Where.Line)
		}
	}
	if len(at) != 1 || at[0] != 120 {
		t.Errorf("other findings at lines %v, want one at 120, which is far from the first", at)
	}
}

// A line that only waits for what was written is left out; one that writes as well stays a description.
func TestALineThatFlushesIsLeftOut(t *testing.T) {
	for line, becomes := range map[string]string{
		"os.fsync(self.file.fileno())  # safe": "pass", "self.file.flush()": "pass", "os.fdatasync(fd)": "pass",
		"file.write(text); file.flush()": "", "save(os.fsync(fd))": "",
	} {
		p := testkit.NewProgram()
		lines := make([]string, 90)
		lines[66] = "            " + line
		p.S.Sources = map[string]*model.Source{"/home/u/lib.py": {Path: "/home/u/lib.py", Lines: lines}}
		p.Steps(30, model.PhaseBaseline, forward, testkit.Native(20, module, loop(47), user("write_log", 60, 67)).In(model.SpanIO))
		for i := range p.P.Spans {
			p.P.Spans[i].Name = p.S.Strings.Intern("os.fsync")
		}
		res, _ := find(t, p)
		f := want(t, res, finding.IO, "logging", 67, 0)
		if f.Fix.Action.New != becomes || (textOf(f.Fix.Advice, "io.fix-flush") != "") != (becomes != "") {
			t.Errorf("%s becomes %q: %+v", line, f.Fix.Action.New, f.Fix.Advice)
		}
	}
}
