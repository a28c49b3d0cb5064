package rerun

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"bottleneck/internal/model"
)

type opRows = []struct {
	name   string
	us     int64
	parent int
	shapes string
}

// TestChoose picks an operator by its name with the inputs that take most time, whatever it calls, and says what is wrong with others.
func TestChoose(t *testing.T) {
	s := recordedSession(opRows{
		{"aten::linear", 500, -1, `[[8, 8], [8, 8]]`}, // its time is that of mm
		{"aten::mm", 490, 0, `[[8, 8], [8, 8]]`},
		{"aten::relu", 5, -1, `[[8, 8]]`},
		{"aten::mm", 30, -1, `[[4, 4], [4, 4]]`},
		{"custom::op", 900, -1, `[[8, 8]]`},
	})
	for name, want := range map[string]float64{"aten::linear": 500, "aten::mm": 490, "aten::relu": 5} {
		got, err := Choose(s, Choice{Name: name, Limit: 1})
		if err != nil || len(got) != 1 || got[0].RecordedUs != want {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
	}
	if got, err := Choose(s, Choice{Limit: 10}); err != nil || len(got) != 2 || got[0].Name != "aten::mm" || got[1].RecordedUs != 30 {
		t.Errorf("the heaviest: %+v, %v", got, err)
	}
	third := func(*model.Trace) func(model.EventID) bool { return func(id model.EventID) bool { return id == 3 } }
	if got, err := Choose(s, Choice{Limit: 10, At: third}); err != nil || len(got) != 1 || got[0].RecordedUs != 30 {
		t.Errorf("of one place: %+v, %v", got, err)
	}
	var missing *NotFoundError
	if _, err := Choose(s, Choice{Name: "aten::addmm", Limit: 1}); !errors.As(err, &missing) || len(missing.Known) != 4 {
		t.Errorf("an operator that was not recorded: %v", err)
	}
	for name, want := range map[string]string{"custom::op": "not PyTorch's own", "c10d::allreduce_": "needs other ranks",
		"aten::x y": "no operator's name"} {
		if _, err := Choose(s, Choice{Name: name, Limit: 1}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", name, err, want)
		}
	}
	s.Traces[0].Features.Shapes = false
	if _, err := Choose(s, Choice{Limit: 1}); err == nil || !strings.Contains(err.Error(), "--record-shapes") {
		t.Errorf("without shapes: %v", err)
	}
}

// TestScriptsHoldData writes what a hostile recording says as plain data: Python reads each literal back as it was, and runs nothing.
func TestScriptsHoldData(t *testing.T) {
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3 here")
	}
	texts := []string{`"]}]; __import__('os').abort()`, "\"\"\"\nimport os\nos.abort()\n", `\`, "'\r\n# x",
		"\x00\x7f\u2028é\U0001f600", `${x}`, "{0}"}
	concrete, err := json.Marshal(texts)
	if err != nil {
		t.Fatal(err)
	}
	op := Alone{Op: Op{Name: "aten::add", Shapes: json.RawMessage(`[[1e400, -0, true, null, {"a": 1, "name": "x\ny"}]]`),
		Types: json.RawMessage(`["__import__('os')"]`), Concrete: concrete, RecordedUs: 1.5, Inside: []Inner{{Name: texts[0],
			Shapes: json.RawMessage(`[]`), Types: json.RawMessage(`[]`), Concrete: concrete}}}}
	text, err := Script([]Alone{op}, ScriptOptions{Torch: texts[1], Threads: 2})
	if err != nil {
		t.Fatal(err)
	}
	const read = `import ast, json, sys
tree = ast.parse(sys.stdin.read())
wanted = ("OPERATORS", "RECORDED_TORCH")
assigned = [n for n in tree.body if isinstance(n, ast.Assign) and n.targets[0].id in wanted]
found = {n.targets[0].id: ast.literal_eval(n.value) for n in assigned}
op = found["OPERATORS"][0]
print(json.dumps([op["concrete"], op["types"], op["inside"][0]["name"], found["RECORDED_TORCH"], len(found["OPERATORS"])]))`
	cmd := exec.Command(python, "-c", read)
	cmd.Stdin = strings.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	want, _ := json.Marshal([]any{texts, []string{"__import__('os')"}, texts[0], texts[1], 1})
	var a, b any
	if json.Unmarshal(out, &a) != nil || json.Unmarshal(want, &b) != nil {
		t.Fatalf("%s", out)
	}
	got, _ := json.Marshal(a)
	if again, _ := json.Marshal(b); string(got) != string(again) {
		t.Errorf("Python reads\n%s, want\n%s", got, again)
	}
	for _, name := range []string{"aten::add()", "aten::add\nimport os", "os.abort", "aten::é", `aten::"`} {
		if _, err := Script([]Alone{{Op: Op{Name: name}}}, ScriptOptions{}); err == nil {
			t.Errorf("a script for %q", name)
		}
	}
}

// isolated runs operators by their script with a real PyTorch.
func isolated(t *testing.T, python string, ops ...Op) []IsolatedRow {
	t.Helper()
	var alone []Alone
	for _, op := range ops {
		alone = append(alone, Alone{Op: op, Flops: 2 * 192 * 192 * 192})
	}
	text, err := Script(alone, ScriptOptions{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "alone.py")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(python, "-I", file, "--seconds", "0.3", "--json") // from a folder of its own, without bottleneck
	cmd.Dir = t.TempDir()
	out, err := cmd.Output()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	var rows []IsolatedRow
	for line := range strings.Lines(string(out)) {
		var row IsolatedRow
		if err := json.Unmarshal([]byte(line), &row); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		rows = append(rows, row)
	}
	if len(rows) != len(ops) {
		t.Fatalf("%d rows of %d: %s", len(rows), len(ops), out)
	}
	return rows
}

// TestIsolated runs scripts with a real PyTorch: times with their intervals, whether they are the recorded ones, and hostile records.
func TestIsolated(t *testing.T) {
	python := torchPython(t)
	mm := recorded("aten::mm", floats("[192, 192]"), floats("[192, 192]"))
	mm.RecordedUs = 1e6 // far from what it can be
	rows := isolated(t, python, mm)
	r := rows[0]
	if r.Error != "" || r.Reproduced || !(r.LowUs <= r.Us && r.Us <= r.HighUs) || r.Us <= 0 || len(r.Conditions) != 4 {
		t.Fatalf("%+v", r)
	}
	file := filepath.Join(t.TempDir(), "written")
	rows = isolated(t, python, mm,
		recorded("aten::from_file", text(file), scalar("True"), scalar("64")),
		recorded("aten::save", scalar("1"), text(file)),
		recorded("aten::__reduce__"),
		recorded("aten::add", floats("[1000000000000000]"), floats("[1000000000000000]")),
		recorded("aten::add", floats("[8]"), scalar("__import__('os').getpid()")),
		recorded("aten::add_", floats("[8]"), floats("[8]")).strided("[[0], [1]]"), // writes into a view whose elements are one
		recorded("aten::index", floats("[8]"), [3]string{"", "", ""}),
		recorded("aten::cat", [3]string{"[]", "TensorList", ""}, scalar("0")),
	)
	if rows[0].Error != "" {
		t.Errorf("what a program runs was not: %s", rows[0].Error)
	}
	for _, r := range rows[1:] {
		if r.Error == "" {
			t.Errorf("%s was run: %+v", r.Name, r)
		}
	}
	if _, err := os.Stat(file); err == nil {
		t.Error("a file was written")
	}
	for i, want := range map[int]string{4: "GB", 5: "of argument 1", 7: "indices", 8: "not recorded"} {
		if !strings.Contains(rows[i].Error, want) {
			t.Errorf("%s: %q does not say %q", rows[i].Name, rows[i].Error, want)
		}
	}
}

// TestScriptsRunApart: a script that is run for the user takes no module from the working directory.
func TestScriptsRunApart(t *testing.T) {
	python := torchPython(t)
	text, err := Script([]Alone{{Op: recorded("aten::relu", floats("[64]"))}}, ScriptOptions{})
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	for _, name := range []string{"json.py", "argparse.py", "torch.py"} {
		if err := os.WriteFile(name, []byte("raise SystemExit('not this one')"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	rows, err := Isolated(context.Background(), python, text, []string{"--seconds", "0.1"})
	if err != nil || len(rows) != 1 || rows[0].Us <= 0 {
		t.Errorf("%+v, %v", rows, err)
	}
	if _, err := Isolated(context.Background(), "/no/such/python", text, nil); err == nil {
		t.Error("no error without an interpreter")
	}
}

// TestInItsPlace runs an operator after those that ran before it: what they gave is what it takes, so that it has as little to do as there.
func TestInItsPlace(t *testing.T) {
	python := torchPython(t)
	const shape = "[1024, 1024]"
	call := func(op Op) Before {
		return Before{Call: Call{op.Name, op.Shapes, op.Strides, op.Types, op.Concrete, nil}}
	}
	target := recorded("aten::nonzero", floats(shape)).strided("[[1024, 1]]")
	zeros := recorded("aten::zeros", scalars(shape), scalar("6"), none, none, none)
	target.Place = &Place{Neighbours: []float64{0.5}, Before: []Before{call(recorded("aten::from_file", scalar("1"))), call(zeros),
		{Call: call(recorded("aten::relu", floats(shape)).strided("[[1024, 1]]")).Call, Gap: Gap{Busy: 2000}}}}
	target.Calls = 3
	r := isolated(t, python, target)[0]
	if r.Error != "" || r.Before != 3 || r.LeftOut != 1 || r.NoPlace != "" {
		t.Fatalf("%+v", r)
	}
	for _, state := range []string{"in its place", "in its place, beside 1 busy process"} {
		if place, alone := r.Conditions[state].Us, r.Conditions["warm"].Us; place <= 0 || 2*place > alone {
			t.Errorf("%s it takes %g us to find nothing in zeros, and alone %g us to find a million numbers", state, place, alone)
		}
	}
	if r.AsRecorded != "in its place, beside 1 busy process" {
		t.Errorf("the state that was recorded is %q", r.AsRecorded)
	}
	// What no memory holds is left out, too.
	target.Place.Before[1] = call(recorded("aten::zeros", scalars("[1000000000000000]"), scalar("6"), none, none, none))
	target.Place.Before[2] = call(recorded("aten::relu", floats("[1000000000000]")))
	if r := isolated(t, python, target)[0]; r.Error != "" || r.LeftOut != 3 || len(r.Conditions) != 8 {
		t.Errorf("%+v", r)
	}
}

// TestOthers: a script says that another program keeps a core busy, for then its times are not the operator's.
func TestOthers(t *testing.T) {
	python := torchPython(t)
	other := exec.Command(python, "-c", "while True: pass")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Process.Kill(); _ = other.Wait() }()
	r := isolated(t, python, recorded("aten::relu", floats("[64]")))[0]
	if r.Others == nil {
		t.Skip("this system does not tell what its cores do")
	}
	if *r.Others < 0.4 {
		t.Errorf("other programs keep %g cores busy, want about one", *r.Others)
	}
}

// TestPlaces finds where an operator ran: the call whose time is nearest to the median, what its thread ran and waited for until then, and
// which other processes computed meanwhile.
func TestPlaces(t *testing.T) {
	s := recordedSession(opRows{
		{"aten::relu", 900, -1, `[[8, 8]]`},
		{"aten::linear", 600, -1, `[[8, 8], [8, 8]]`},
		{"aten::t", 5, 1, `[[8, 8]]`},
		{"aten::mm", 500, 1, `[[8, 8], [8, 8]]`},
		{"aten::mm", 100, -1, `[[8, 8], [8, 8]]`},
		{"aten::mm", 510, -1, `[[8, 8], [8, 8]]`},
		{"custom::op", 50, -1, `[[8, 8]]`},
		{"aten::mm", 900, -1, `[[8, 8], [8, 8]]`},
	})
	tr := s.Traces[0]
	for i := range tr.Events.Len() {
		tr.Events.Start[i] = 200e6 + model.Time(i)*10e6
		tr.Events.Lane = append(tr.Events.Lane, 0)
	}
	tr.Events.Start[2], tr.Events.Start[3] = tr.Events.Start[1]+10e3, tr.Events.Start[1]+50e3
	tr.From, tr.Process = 100e6, 0
	tr.Lanes = []model.Lane{{Thread: 7, EndEvent: model.EventID(tr.Events.Len())}}
	main, worker, shell := &model.Process{}, &model.Process{Role: model.RoleWorker}, &model.Process{Role: model.RoleLauncher}
	look := func(p *model.Process, at model.Time, thread int32, state model.ThreadState) {
		sm := &p.Samples
		sm.Time, sm.Thread, sm.State = append(sm.Time, at), append(sm.Thread, thread), append(sm.State, state)
	}
	for at := model.Time(200e6); at < 300e6; at += 2e6 {
		state := model.StateCPU
		if at >= 240e6 && at < 250e6 {
			state = model.StateBlocked
		}
		look(main, at, 7, state)
		look(worker, at, 9, model.StateIdle)
		look(worker, at, 8, [...]model.ThreadState{model.StateCPU, model.StateBlocked}[int(at/2e6)%2])
		look(shell, at, 3, model.StateCPU)
	}
	s.Processes = []*model.Process{main, worker, shell}
	got, err := Choose(s, Choice{Name: "aten::mm", Limit: 1})
	if err != nil || len(got) != 1 || got[0].Place == nil {
		t.Fatalf("%+v, %v", got, err)
	}
	p := got[0].Place
	var before []string
	for _, b := range p.Before {
		before = append(before, b.Call.Name)
	}
	if want := []string{"aten::relu", "aten::linear", "aten::mm"}; got[0].RecordedUs != 510 || p.Us != 510 || p.Caller != "" ||
		!slices.Equal(before, want) {
		t.Errorf("%+v after %q, want after %q", p, before, want)
	}
	if len(p.Before) == 3 && (p.Before[1].Gap != Gap{Busy: 9100} || p.Before[2].Gap.Asleep != 0 || p.Gap != Gap{Asleep: 9900}) {
		t.Errorf("gaps %+v, %+v and %+v", p.Before[1].Gap, p.Before[2].Gap, p.Gap)
	}
	if !slices.Equal(p.Neighbours, []float64{0.5}) {
		t.Errorf("beside %v, want a worker that computes half of the time", p.Neighbours)
	}
	inner, err := Choose(s, Choice{Name: "aten::mm", Limit: 1, At: func(*model.Trace) func(model.EventID) bool {
		return func(id model.EventID) bool { return id == 3 }
	}})
	if err != nil || len(inner) != 1 || inner[0].Place == nil {
		t.Fatalf("what another calls: %+v, %v", inner, err)
	}
	if p := inner[0].Place; p.Caller != "aten::linear" || len(p.Before) != 2 || p.Before[1].Call.Name != "aten::t" {
		t.Errorf("what another calls: %+v", p)
	}
}
