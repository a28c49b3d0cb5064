package cli

import (
	"context"
	"strings"
	"testing"
	"time"

	"bottleneck/internal/model"
)

// TestMeasureElsewhere refuses to time another machine's operators here.
func TestMeasureElsewhere(t *testing.T) {
	s := &model.Session{Strings: &model.Strings{}, Environment: model.Environment{Host: "node17.example"}}
	if _, err := measure(context.Background(), s, "/no/such/python", time.Second); err == nil || !strings.Contains(err.Error(), "recorded on node17.example") {
		t.Errorf("%v", err)
	}
}

func TestUsableCores(t *testing.T) {
	quota := func(cores float64) *float64 { return &cores }
	for _, c := range []struct {
		name       string
		e          model.Environment
		cores, all int
	}{
		{"all", model.Environment{CPUs: 8}, 8, 0},
		{"bound", model.Environment{CPUs: 8, Affinity: []int{0, 1}}, 2, 8},
		{"a quota of two", model.Environment{CPUs: 64, Affinity: make([]int, 64), CPUQuota: quota(2)}, 2, 0},
		{"bound below its quota", model.Environment{CPUs: 64, Affinity: []int{5}, CPUQuota: quota(4.5)}, 1, 4},
		{"a quota of half a core", model.Environment{CPUs: 4, CPUQuota: quota(0.5)}, 1, 0},
	} {
		if cores, all := usableCores(&c.e); cores != c.cores || all != c.all {
			t.Errorf("%s: %d, %d, want %d, %d", c.name, cores, all, c.cores, c.all)
		}
	}
}
