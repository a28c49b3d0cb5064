package analyse

import (
	"path/filepath"
	"testing"

	"bottleneck/internal/analyse/collectives"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit/slowtrace"
)

// TestEightRanks: on a real job of eight ranks clocks align, no rank waits longer than its collectives last, in every
// matched call the last rank waits for nobody, and bandwidths stay below what the links carry.
func TestEightRanks(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(slowtrace.Folder(), "megatron-tp8-a100", "megatron_kineto_*.json.gz"))
	if len(paths) < 2 {
		t.Skip("no traces of several ranks")
	}
	var s model.Strings
	var traces []*model.Trace
	for _, path := range paths {
		traces = append(traces, slowtrace.Read(t, path, &s))
	}
	for _, c := range collectives.Clocks(traces, &s) {
		if c.Matched == 0 || c.Error < 0 || c.Error > slowtrace.Micros(100000) {
			t.Errorf("clock %+v", c)
		}
		t.Logf("rank %d: offset %v ± %v from %d", c.Rank, c.Offset.Std(), c.Error.Std(), c.Matched)
	}
	var dur, wait model.Dur
	for _, c := range collectives.Communications(traces, &s) {
		if c.Wait < 0 || c.Transfer < 0 || c.Matched > c.Count || c.Matched == c.Count && c.Wait+c.Transfer != c.Dur {
			t.Errorf("%+v", c)
		}
		if c.BusBW > 600 {
			t.Errorf("%.0f GB/s on the bus: %+v", c.BusBW, c)
		}
		dur += c.Dur
		wait += c.Wait
		if c.Rank == 0 {
			t.Logf("%s %s: %d calls, %v, wait %v, exposed %v, %.1f GB/s, late %d (%s)", c.Op, c.DType, c.Count, c.Dur.Std(), c.Wait.Std(),
				c.Exposed.Std(), c.BusBW, c.LateRank, c.LateDid)
		}
	}
	t.Logf("waiting is %v of %v", wait.Std(), dur.Std())
}
