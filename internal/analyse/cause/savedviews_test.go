package cause_test

import (
	"math"
	"testing"

	"bottleneck/internal/analyse/cause"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// files are calls of torch.save and torch.load of one line each, of a file each, as acts of a program.
type files struct {
	p    *testkit.Program
	rows bool // does the agent tell of what is saved?
}

const mebi = 1 << 20

// save saves so many MiB of 100 in a file, outside of steps or as an act of one.
func (f files) save(ms, used int, path string, do func(...testkit.Act)) {
	do(testkit.Native(ms, module, loop(70)).In(model.SpanIO))
	sp := &f.p.P.Spans[len(f.p.P.Spans)-1]
	sp.Detail = f.p.S.Strings.Intern(path)
	if f.rows && used <= 50 {
		f.p.P.Saved = append(f.p.P.Saved, model.Saved{Start: sp.Start, End: sp.End, Thread: sp.Thread, Used: int64(used) * mebi,
			Stored: 100 * mebi, File: sp.File, Line: sp.Line})
	}
}

func (f files) load(ms int, path string) {
	f.p.Do(testkit.Native(ms, module, loop(80)).In(model.SpanIO))
	sp := &f.p.P.Spans[len(f.p.P.Spans)-1]
	sp.Name, sp.Detail = f.p.S.Strings.Intern("torch.load"), f.p.S.Strings.Intern(path)
}

// views are the findings about parts of tensors.
func views(res cause.Result) (out []finding.Finding) {
	for _, f := range res.Findings {
		if f.Cause == finding.IO && f.Sub == "views" {
			out = append(out, f)
		}
	}
	return out
}

// Parts of tensors that are saved after the steps, before or between them cost the run what their excess takes; what loads the files again
// is not in the lower bound.
func TestPartsSavedWhole(t *testing.T) {
	for _, c := range []struct {
		name                 string
		before, within       bool
		used, loads          int
		rows                 bool
		saves, low, evidence float64 // ms; facts of the first evidence: bytes that were needed
	}{
		{name: "after the steps", used: 10, rows: true, saves: 20 * 99.6 * 0.9, evidence: 200},
		{name: "before the steps", before: true, used: 10, rows: true, saves: 20 * 99.6 * 0.9, evidence: 200},
		{name: "within steps", within: true, used: 10, rows: true, saves: 20 * 99.6 * 0.9, evidence: 200},
		{name: "read again", used: 10, loads: 50, rows: true, saves: 20*99.6*0.9 + 20*49.6*0.9, low: 20 * 99.6 * 0.9, evidence: 200},
		{name: "half is needed", used: 50, rows: true, saves: 20 * 99.6 * 0.5, evidence: 1000},
		{name: "all is needed", used: 100, rows: true},
		{name: "nothing is told", used: 10},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			f := files{p, c.rows}
			path := func(i int) string { return "/tmp/" + string(rune('a'+i)) }
			saveAll := func() {
				for i := range 20 {
					f.save(100, c.used, path(i), p.Do)
				}
			}
			if c.before {
				saveAll()
			}
			for i := range 40 {
				if c.within && i%2 == 1 {
					f.save(100, c.used, path(i/2), func(acts ...testkit.Act) {
						p.Steps(1, model.PhaseBaseline, append([]testkit.Act{forward}, acts...)...)
					})
				} else {
					p.Steps(1, model.PhaseBaseline, forward)
				}
			}
			if !c.before && !c.within {
				saveAll()
			}
			for i := range 20 {
				if c.loads > 0 {
					f.load(c.loads, path(i))
				}
			}
			p.Do(testkit.Native(500, module, loop(99)))
			res, _ := find(t, p)
			found := views(res)
			if c.saves == 0 {
				if len(found) > 0 {
					t.Errorf("%+v", found)
				}
				return
			}
			if len(found) != 1 {
				t.Fatalf("%d findings", len(found))
			}
			got := found[0]
			if c.low == 0 {
				c.low = c.saves
			}
			if !got.OfRun || got.Where.Line != 70 || math.Abs(got.Run.Mid/1e6-c.saves) > 1 || got.Run.Low >= c.low*1e6 ||
				got.Run.Low < 0.8*c.low*1e6 || got.Evidence[0].Facts[3].Value != c.evidence*mebi {
				t.Errorf("%s: line %d, %.0f ms (%.0f at least), %s; want %.0f", got.Title, got.Where.Line, got.Run.Mid/1e6, got.Run.Low/1e6,
					got.Evidence[0], c.saves)
			}
			whole := 20 * 100e6 * float64(finding.Btoi(c.within)) // that other findings may have of the steps
			for _, other := range res.Findings {
				if other.Cause == finding.IO && other.Sub != "views" && other.Run.Mid > 0.2*whole {
					t.Errorf("%s saves %.0f ms of the same calls", other.Title, other.Run.Mid/1e6)
				}
			}
		})
	}
}

// What the agent has no room for counts as what it saw; other lines, threads and files count by themselves.
func TestPartsBeyondThoseTold(t *testing.T) {
	p := testkit.NewProgram()
	p.Steps(40, model.PhaseBaseline, forward)
	f := files{p, true}
	for range 10 {
		f.save(100, 20, "/tmp/a", p.Do)
	}
	f.rows = false
	for range 10 {
		f.save(100, 20, "/tmp/b", p.Do)
	}
	f.load(200, "/tmp/c")
	for _, c := range []struct{ unseen, want float64 }{{0, 10 * 99.6 * 0.8}, {10, 20 * 99.6 * 0.8}} {
		p.P.Counters = map[string]float64{"saves_unseen": c.unseen}
		res, _ := find(t, p)
		if found := views(res); len(found) != 1 || math.Abs(found[0].Run.Mid/1e6-c.want) > 1 {
			t.Errorf("%.0f unseen: %+v, want %.0f ms", c.unseen, found, c.want)
		}
	}
	for i := range p.P.Spans {
		p.P.Spans[i].Thread = 7
	}
	for i := range p.P.Saved {
		p.P.Saved[i].Thread = 7
	}
	if res, _ := find(t, p); len(views(res)) > 0 {
		t.Error("another thread's calls")
	}
}

// The fix names the parts where the line does.
func TestPartsAreNamed(t *testing.T) {
	for line, want := range map[string]string{
		`torch.save({"ids": ids[a:b], "v": self.v[:, a : a + 5]}, path)`: "ids[a:b].clone(), self.v[:, a : a + 5].clone()",
		`torch.save(part, folder / names["a:b"])`:                        "",
		`torch.save(rows[a:b].half(), path)`:                             "",
		`torch.save(`:                                                    "",
	} {
		p := testkit.NewProgram()
		lines := make([]string, 99)
		lines[69] = line
		p.S.Sources = map[string]*model.Source{"/home/u/train.py": {Path: "/home/u/train.py", Lines: lines}}
		p.Steps(40, model.PhaseBaseline, forward)
		for range 10 {
			files{p, true}.save(100, 20, "/tmp/a", p.Do)
		}
		res, _ := find(t, p)
		found := views(res)
		if len(found) != 1 {
			t.Fatalf("%d findings", len(found))
		}
		advice := found[0].Fix.Advice[0]
		if named := advice.ID == "io.fix-views-here"; named != (want != "") || named && advice.Facts[0].Name != want {
			t.Errorf("%s: %s", line, advice)
		}
	}
}
