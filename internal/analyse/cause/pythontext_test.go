package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"testing"
)

// Writing tensors as text calls many small operators and keeps the interpreter busy; it is one finding, at the line that asks for it.
func TestTensorsAsText(t *testing.T) {
	p := testkit.NewProgram()
	note := user("note", 10, 12)
	format := torchFrame("_tensor_str.py", "_tensor_str")
	p.Steps(30, model.PhaseBaseline, forward,
		testkit.Python(12, module, loop(44), note, torchFrame("_tensor.py", "Tensor.__repr__"), format),
		testkit.Native(8, module, loop(44), note, torchFrame("_tensor.py", "Tensor.__repr__"), format))
	res, _ := find(t, p)
	f := want(t, res, finding.Python, "", 12, 20)
	if f.Title.ID != "python.title-text" {
		t.Errorf("title %q", f.Title)
	}
	for _, other := range res.Findings[1:] {
		if !other.Healthy {
			t.Errorf("claims the same again: %s: %s", other.Cause, other.Title)
		}
	}
}

// A user's function that is called while text is made, such as a hook, is no part of it.
func TestUserCodeBelowTextIsItsOwn(t *testing.T) {
	p := testkit.NewProgram()
	p.Steps(30, model.PhaseBaseline, forward,
		testkit.Python(20, module, loop(44), torchFrame("_tensor_str.py", "_str"), user("count", 20, 22)))
	res, _ := find(t, p)
	if f := want(t, res, finding.Python, "", 22, 20); f.Title.ID == "python.title-text" {
		t.Errorf("title %q", f.Title)
	}
}

// A deep copy of a model is Python and operators; all of it goes when the copy does.
func TestDeepCopies(t *testing.T) {
	p := testkit.NewProgram()
	renew := user("renew", 10, 12)
	deep := testkit.Frame{File: "/usr/lib/python3.13/copy.py", Function: "deepcopy", First: 1, Line: 5}
	p.Steps(30, model.PhaseBaseline, forward,
		testkit.Python(14, module, loop(44), renew, deep, deep, torchFrame("_tensor.py", "Tensor.__deepcopy__")),
		testkit.Native(10, module, loop(44), renew, deep, deep, torchFrame("_tensor.py", "Tensor.__deepcopy__")),
		testkit.Native(6, module, loop(44), user("renew", 10, 13)))
	res, _ := find(t, p)
	if f := want(t, res, finding.Python, "", 12, 24); f.Title.ID != "python.title-copies" {
		t.Errorf("title %q", f.Title)
	}
	own := testkit.NewProgram()
	mine := testkit.Frame{File: "/home/u/copy.py", Function: "copy", First: 1, Line: 5}
	own.Steps(30, model.PhaseBaseline, forward, testkit.Python(24, module, loop(44), mine))
	res, _ = find(t, own)
	if f := want(t, res, finding.Python, "", 5, 24); f.Title.ID == "python.title-copies" {
		t.Errorf("the user's own copy.py: %q", f.Title)
	}
}
