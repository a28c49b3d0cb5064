package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"strings"
	"testing"
)

// growing is a program of 300 steps of 100 ms that computes, holds so many MiB more after each, and has the given statement in its loop.
// The machine has so many GiB.
func growing(perStep float64, statement string, limit int64) *testkit.Program {
	p := testkit.NewProgram()
	p.Steps(300, model.PhaseBaseline, testkit.Native(60, module, loop(40), torchFrame("nn/modules/linear.py", "forward")),
		testkit.Native(40, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")))
	for at := testkit.Epoch; at < p.T; at += 250e6 {
		p.P.Usage = append(p.P.Usage, model.Usage{At: at, Anonymous: 400<<20 + int64(perStep*float64(at-testkit.Epoch)/100e6*(1<<20))})
	}
	lines := make([]string, 50)
	lines[29], lines[30], lines[37] = "def train(model, data):", "    total, kept = 0, []", "    for x in data:"
	lines[39], lines[40], lines[41] = "        loss = model(x).sum()", "        loss.backward()", "        "+statement
	p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py", Lines: lines}
	limit <<= 30
	p.S.Environment.MemoryBytes = &limit
	return p
}

func growth(t *testing.T, p *testkit.Program) (*finding.Finding, int) {
	t.Helper()
	res, _ := find(t, p)
	for i := range res.Findings {
		if f := &res.Findings[i]; f.Cause == finding.MemoryGrowth {
			return f, i
		}
	}
	return nil, -1
}

func TestMemoryGrowth(t *testing.T) {
	for name, c := range map[string]struct {
		perStep   float64
		statement string
		limit     int64
		sub       string // "" for no finding
		says      string
	}{
		"a loss with its graph":              {0.2, "total += loss", 24, "graph", "205 KiB"},
		"a list":                             {0.2, "kept.append(x)", 24, "objects", "kept"},
		"nothing grows":                      {0, "kept.append(x)", 24, "", ""},
		"grows, and no statement keeps it":   {0.2, "print(loss.item())", 24, "", ""},
		"numbers cannot be so much":          {0.2, "kept.append(loss.item())", 24, "", ""},
		"memory that lasts for months":       {0.1, "kept.append(x)", 1 << 20, "", ""},
		"where the machine's is not known":   {0.2, "kept.append(x)", 0, "objects", "kept"},
		"a hook":                             {0.2, "model.register_forward_hook(print)", 24, "hook", "register_forward_hook"},
		"what is kept elsewhere in the file": {0.2, "pass", 24, "", ""},
	} {
		p := growing(c.perStep, c.statement, c.limit)
		f, _ := growth(t, p)
		if (f != nil) != (c.sub != "") {
			t.Errorf("%s: %+v", name, f)
		}
		if f == nil || c.sub == "" {
			continue
		}
		said := f.Title.String() + f.Fix.Advice[0].String()
		if f.Sub != c.sub || f.Where.Line != 42 || !strings.Contains(said, c.says) || f.Confidence.Level != finding.Medium {
			t.Errorf("%s: %s at %d: %s; %s", name, f.Sub, f.Where.Line, said, f.Confidence.Level)
		}
	}
}

// A loss that a name stands for is cut off by an edit of its line.
func TestMemoryGrowthEditsTheLine(t *testing.T) {
	f, _ := growth(t, growing(0.2, "total += loss", 24))
	if f == nil || f.Fix.Action.Kind != finding.EditLine || strings.TrimSpace(f.Fix.Action.New) != "total += loss.detach()" {
		t.Errorf("%+v", f)
	}
}

// What ends the program within the hour comes first, what ends it later stands behind what saves time.
func TestMemoryGrowthRanks(t *testing.T) {
	slow := func(perStep float64) *testkit.Program {
		p := growing(perStep, "total += loss", 24)
		other := testkit.NewProgram()
		other.Steps(300, model.PhaseBaseline, testkit.Native(40, module, loop(41), torchFrame("nn/modules/linear.py", "forward")),
			testkit.Python(60, module, loop(40), user("slow", 3, 4)))
		other.P.Usage, other.S.Sources, other.S.Environment.MemoryBytes = p.P.Usage, p.S.Sources, p.S.Environment.MemoryBytes
		return other
	}
	if f, at := growth(t, slow(0.2)); f == nil || at == 0 {
		t.Errorf("memory for hours: at %d, %+v", at, f)
	}
	if f, at := growth(t, slow(20)); f == nil || at != 0 {
		t.Errorf("memory for minutes: at %d, %+v", at, f)
	}
}

// What fills room that was free in the allocators is seen from inside, and the basis says so.
func TestMemoryGrowthInside(t *testing.T) {
	p := growing(0, "total += loss", 24)
	p.P.Allocator = "glibc"
	for i := range p.P.Steps {
		p.P.InUse = append(p.P.InUse, model.InUse{At: p.P.Steps[i].End, Bytes: 100<<20 + int64(i)<<18, Blocks: 1e6})
	}
	f, _ := growth(t, p)
	if f == nil || f.Where.Line != 42 || !strings.Contains(f.Title.String(), "256 KiB") ||
		!strings.Contains(f.Confidence.Why[0].String(), "from inside") {
		t.Errorf("%+v", f)
	}
}

// Another statement that keeps something makes the place less sure, and is named.
func TestMemoryGrowthWithSeveralPlaces(t *testing.T) {
	p := growing(0.2, "total += loss", 24)
	p.S.Sources["/home/u/train.py"].Lines[42] = "        kept.append(loss)"
	f, _ := growth(t, p)
	if f == nil || f.Confidence.Level != finding.Low || !strings.Contains(f.Evidence[len(f.Evidence)-1].String(), "train.py:43") {
		t.Errorf("%+v", f)
	}
}

// Workers that copy what a dataset holds as Python's objects are named with the line that makes them, behind what saves time; with arrays
// nothing is said, since nothing that the program could change is seen.
func TestWorkersCopyPythonsObjects(t *testing.T) {
	for made, line := range map[string]int{"self.rows = [int(x) for x in names]": 12, "self.rows = np.array(names)": 0} {
		p := growing(0, "pass", 24)
		text := p.S.Sources["/home/u/train.py"].Lines
		text[9], text[10], text[11] = "class Rows(Dataset):", "    def __init__(self, names):", "        "+made
		text[13], text[14] = "    def __getitem__(self, i):", "        return self.rows[i]"
		for i := range 2 {
			w := p.Add(model.RoleWorker, 200+i)
			w.P.WorkerIndex = i
			for at, private := range []int64{20, 150} {
				seen := testkit.Epoch + model.Time(at)*2e9
				w.P.Owned = append(w.P.Owned, model.Owned{At: seen, Private: private << 20})
				w.P.Usage = append(w.P.Usage, model.Usage{At: seen, Anonymous: 500 << 20})
			}
		}
		f, _ := growth(t, p)
		if (f != nil) != (line > 0) {
			t.Errorf("%s: %+v", made, f)
		}
		if f == nil {
			continue
		}
		if f.Sub != "workers" || f.Where.Line != line || !f.Later || !strings.Contains(f.Title.String(), "2 workers of a DataLoader copied 260 MiB") {
			t.Errorf("%s: %s at %d, later %v: %s", made, f.Sub, f.Where.Line, f.Later, f.Title)
		}
	}
}
