package view

import (
	"bottleneck/internal/model"
	"bottleneck/internal/report"
	"bottleneck/internal/testkit"
	"strings"
	"testing"
)

// TestMemoryOfForks: a fork has its last PSS beside what it held; a process that is none has no such column of its own.
func TestMemoryOfForks(t *testing.T) {
	p := testkit.NewProgram()
	p.P.Usage = []model.Usage{{At: testkit.Epoch, Anonymous: 3 << 20}, {At: testkit.Epoch + 1e9, Anonymous: 5 << 20}}
	show := func() string {
		var out strings.Builder
		if err := WriteText(&out, report.Build(p.S, report.Options{}), TextOptions{Sections: []string{"memory"}}); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	if text := show(); !strings.Contains(text, "5.00 MiB") || strings.Contains(text, "PSS ") {
		t.Errorf("without forks:\n%s", text)
	}
	w := p.Add(model.RoleWorker, 101)
	w.P.Usage = p.P.Usage
	w.P.Owned = []model.Owned{{At: testkit.Epoch, Proportional: 1 << 20}, {At: testkit.Epoch + 1e9, Proportional: 2 << 20}}
	if text := show(); !strings.Contains(text, "PSS\n") || !strings.Contains(text, "2.00 MiB") {
		t.Errorf("with a fork:\n%s", text)
	}
}
