package export

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// sampled (a sample stands for 10 ms) is a session of steps that take so many ms in two functions; lines moves them.
func sampled(steps, load, compute, lines int) *model.Session {
	p := testkit.NewProgram()
	main := testkit.Frame{File: "/home/u/train.py", Function: "main", First: 1 + lines, Line: 9 + lines}
	p.Steps(steps, model.PhaseBaseline, testkit.Python(load, main, testkit.Frame{File: "/home/u/train.py", Function: "load",
		First: 20 + lines, Line: 21 + lines}),
		testkit.Native(compute, main))
	return p.S
}

// TestStackDiff compares sessions of another number of steps, with the same functions in other lines.
func TestStackDiff(t *testing.T) {
	before, after := sampled(10, 6, 4, 0), sampled(20, 2, 5, 3)
	write := func(name string) []byte {
		format, err := Find(name)
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := format.WriteDiff(context.Background(), before, after, &out, Options{Rank: model.NoRank}); err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	if got, want := string(write("folded")),
		"main;main (train.py) 40000 50000\nmain;main (train.py);load (train.py) 60000 20000\n"; got != want {
		t.Errorf("folded:\n%swant:\n%s", got, want)
	}
	p, err := profile.ParseData(write("pprof"))
	if err != nil {
		t.Fatal(err)
	}
	sums := map[string]int64{}
	for _, s := range p.Sample {
		sums[s.Location[0].Line[0].Function.Name] += s.Value[0]
	}
	if sums["load"] != -40_000_000 || sums["main"] != 10_000_000 {
		t.Errorf("pprof: %v", sums)
	}
	var file speedscopeFile
	if err := json.Unmarshal(write("speedscope"), &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Profiles) != 2 || file.Profiles[0].End != 10 || file.Profiles[1].End != 40 ||
		!strings.Contains(file.Profiles[1].Name, "less of a step") {
		t.Errorf("speedscope: %+v", file.Profiles)
	}
	format, _ := Find("folded")
	var nothing *UnavailableError
	if err := format.WriteDiff(context.Background(), before, &model.Session{Strings: &model.Strings{}}, &bytes.Buffer{},
		Options{Rank: model.NoRank}); !errors.As(err, &nothing) {
		t.Errorf("a side without samples: %v", err)
	}
}
