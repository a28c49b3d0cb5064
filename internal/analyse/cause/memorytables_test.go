package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"fmt"
	"strings"
	"testing"
)

// tables is a program with a step of 100 ms: 20 forwards, 30 backwards, of which 24 make the gradient of a table of 40,000 rows by 16, and
// 50 in the optimizer, of which 40 go over tensors of the table's shape. A step looks up so many rows; forwards multiplies tensors of these
// shapes.
func tables(lookups int, forward string) *testkit.Program {
	p := testkit.NewProgram()
	acts := []testkit.Act{
		testkit.Native(20, module, loop(40), torchFrame("nn/modules/linear.py", "forward")),
		testkit.Native(30, module, loop(41), torchFrame("autograd/graph.py", "_engine_run_backward")),
		testkit.Native(50, module, loop(42), torchFrame("optim/adagrad.py", "step")),
	}
	p.Steps(20, model.PhaseBaseline, acts...)
	t := &model.Trace{Process: 0, Window: -1, Rank: model.NoRank, From: p.T, Features: model.Features{Shapes: true}}
	ev, now := &t.Events, p.T
	add := func(ms int, name string, kind model.Kind, parent model.EventID, shapes, concrete string) model.EventID {
		p.Event(ev, now, model.Dur(ms)*1e6, name, kind, parent, int32(len(ev.OpDetails)))
		ev.OpDetails = append(ev.OpDetails, model.OpDetail{Sequence: -1, Args: uint32(len(ev.OpArgs))})
		ev.OpArgs = append(ev.OpArgs, model.OpArgs{Shapes: p.S.Strings.Intern(shapes), Concrete: p.S.Strings.Intern(concrete)})
		if kind == model.KindOp {
			now += model.Time(ms) * 1e6
		}
		return model.EventID(ev.Len() - 1)
	}
	p.Steps(1, model.PhaseDetail, acts...)
	add(20, "aten::mm", model.KindOp, model.NoEvent, forward, "[]")
	add(24, "aten::embedding_dense_backward", model.KindOp, model.NoEvent, fmt.Sprintf("[[%d, 16], [%d], [], [], []]", lookups, lookups),
		`["", "", "40000", "-1", "False"]`)
	add(6, "aten::mm", model.KindOp, model.NoEvent, "[[64, 16], [16, 64]]", "[]")
	step := add(50, "Optimizer.step#Adagrad.step", model.KindAnnotation, model.NoEvent, "", "")
	add(20, "aten::sqrt", model.KindOp, step, "[[40000, 16]]", "[]")
	add(20, "aten::addcmul_", model.KindOp, step, "[[40000, 16], [40000, 16], [40000, 16], []]", "[]")
	add(10, "aten::addcmul_", model.KindOp, step, "[[64, 16], [64, 16], [64, 16], []]", "[]")
	t.To = p.T
	t.Lanes = []model.Lane{{Kind: model.LaneThread, Thread: int64(p.P.PID), FirstEvent: 0, EndEvent: model.EventID(ev.Len())}}
	p.S.Traces = append(p.S.Traces, t)
	p.S.Sources["/home/u/train.py"] = &model.Source{Path: "/home/u/train.py",
		Lines: []string{"class Embedding(nn.Module):", "    rows = nn.Embedding(40000, 16)"}}
	return p
}

const small = "[[64, 16], [16, 64]]"

func TestTablesWithDenseGradients(t *testing.T) {
	res, _ := find(t, tables(200, small))
	f := want(t, res, finding.MemoryBound, "tables", 42, 64)
	if f.Step.High > 80e6 || f.Step.Low < 40e6 || !strings.Contains(f.Title.String(), "64 %") {
		t.Errorf("%s saves %+v", f.Title, f.Step)
	}
	if f.Fix.Action.Change() != "nn.Embedding(..., sparse=True)" || f.Fix.Action.Line != 2 || f.Fix.Action.Old != "" {
		t.Errorf("fix %+v", f.Fix)
	}
	for _, f := range res.Findings[1:] {
		if f.Cause == finding.MemoryBound {
			t.Errorf("the optimizer's time is claimed twice: %s", f.Title)
		}
	}
	bags := tables(200, small)
	bags.S.Sources["/home/u/train.py"].Lines[1] = "    rows = nn.EmbeddingBag(40000, 16)"
	res, _ = find(t, bags)
	if f := want(t, res, finding.MemoryBound, "tables", 42, 64); f.Fix.Action.Change() != "nn.EmbeddingBag(..., sparse=True)" {
		t.Errorf("fix %+v", f.Fix)
	}
	// The more rows a step uses, the less a sparse gradient saves.
	more, _ := find(t, tables(4000, small))
	if g := want(t, more, finding.MemoryBound, "tables", 42, 0); g.Step.Mid >= f.Step.Mid || g.Step.Low >= f.Step.Low {
		t.Errorf("saves %+v with twenty times the rows in use, %+v before", g.Step, f.Step)
	}
	for name, p := range map[string]*testkit.Program{
		"most rows are used": tables(30000, small),
		"tied":               tables(200, "[[200, 16], [16, 40000]]"),
	} {
		if res, _ := find(t, p); len(res.Findings) > 0 && res.Findings[0].Sub == "tables" {
			t.Errorf("%s: %s", name, res.Findings[0].Title)
		}
	}
}

// TestTablesBeforeTheAllocator: gradients of whole tables are taken anew from the kernel in each step; who makes them smaller ends that.
func TestTablesBeforeTheAllocator(t *testing.T) {
	alone, _ := find(t, tables(200, small))
	plain := want(t, alone, finding.MemoryBound, "tables", 42, 64)
	p := tables(200, small)
	paged := paging(20000, 200)
	p.P.Allocator, p.P.Usage = "glibc", paged.P.Usage
	res, _ := find(t, p)
	if f := want(t, res, finding.MemoryBound, "tables", 42, 64); f.Step != plain.Step {
		t.Errorf("saves %+v beside memory that is given back, and %+v without", f.Step, plain.Step)
	}
}
