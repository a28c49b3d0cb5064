package replay_test

import (
	"bytes"
	"context"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/analyse/replay"
	"bottleneck/internal/ingest"
	"bottleneck/internal/model"
)

// tracesFolder holds real traces that other people recorded; it lies beside the checkout.
func tracesFolder() string {
	if dir := os.Getenv("BOTTLENECK_TRACES"); dir != "" {
		return dir
	}
	return filepath.Join("..", "..", "..", "..", "shared", "traces")
}

func readTrace(t testing.TB, path string) (*model.Trace, *model.Session) {
	t.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Skipf("no real traces here: %v", err)
	}
	s := &model.Session{Strings: &model.Strings{}}
	tr, err := ingest.ReadTrace(context.Background(), bytes.NewReader(raw), path, s)
	if err != nil {
		return nil, s
	}
	return tr, s
}

// limits of an unmodified replay, as shares of the step.
const (
	maxError = 0.02
	maxSlack = 0.02
	shortest = 100 * us // of a trace without steps, ns: what is shorter is no program
)

// TestUnmodifiedReplay prints, for every trace of the folder, the recorded and the replayed step and the slack, which must be
// within the limits.
func TestUnmodifiedReplay(t *testing.T) {
	folder := tracesFolder()
	if _, err := os.Stat(folder); err != nil {
		t.Skipf("no real traces here: %v", err)
	}
	var rows int
	t.Logf("%-70s %6s %12s %12s %8s %8s", "trace", "steps", "recorded ms", "replayed ms", "error", "slack")
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		name := filepath.Base(path)
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".json") && !strings.HasSuffix(name, ".json.gz") {
			return err
		}
		tr, s := readTrace(t, path)
		if tr == nil || tr.Events.Len() == 0 {
			return nil
		}
		g := replay.FromTrace(tr, s.Strings)
		if g == nil {
			return nil
		}
		times, err := g.Replay(replay.Change{})
		if err != nil {
			t.Fatal(err)
		}
		steps := g.Steps(times)
		g.Explain(steps)
		var recorded, replayed, slack model.Dur
		for _, st := range steps {
			recorded += st.Recorded
			replayed += st.Replayed
			slack += st.Slack
		}
		if recorded == 0 {
			return nil
		}
		n := model.Dur(len(steps))
		off := float64(replayed-recorded) / float64(recorded)
		part := float64(slack) / float64(recorded)
		rel, _ := filepath.Rel(folder, path)
		mark := ""
		switch {
		case g.Incomplete():
			mark = "  incomplete: parts of the trace are missing"
		case len(tr.Steps) > 0 || recorded >= shortest:
			rows += min(len(tr.Steps), 1)
			if math.Abs(off) > maxError || part > maxSlack {
				mark = "  OVER"
				t.Errorf("%s: error %.2f %%, slack %.2f %%", rel, 100*off, 100*part)
			}
		}
		if len(tr.Steps) == 0 {
			n = 0
		}
		t.Logf("%-70s %6d %12.3f %12.3f %7.2f%% %7.2f%%%s", rel, n, (recorded / max(n, 1)).Ms(), (replayed / max(n, 1)).Ms(),
			100*off, 100*part, mark)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if rows == 0 {
		t.Error("no trace with steps was replayed")
	}
}

func BenchmarkReplay54MB(b *testing.B) {
	tr, s := readTrace(b, filepath.Join(tracesFolder(), "hta-df-index-resolver-v100", "trace_8_rank_1.json.gz"))
	b.ReportAllocs()
	for b.Loop() {
		g := replay.FromTrace(tr, s.Strings)
		times, err := g.Replay(replay.Change{})
		if err != nil {
			b.Fatal(err)
		}
		g.Steps(times)
	}
}

// TestReplayOfRanks replays the ranks of a tensor-parallel job together: every rank's step stays what it was, and ranks that
// were equal would not be slower.
func TestReplayOfRanks(t *testing.T) {
	paths, _ := filepath.Glob(filepath.Join(tracesFolder(), "megatron-tp8-a100", "megatron_kineto_*.json.gz"))
	if len(paths) == 0 {
		t.Skip("no real traces here")
	}
	s := &model.Session{Strings: &model.Strings{}}
	var traces []*model.Trace
	for _, path := range paths {
		raw, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		tr, err := ingest.ReadTrace(context.Background(), bytes.NewReader(raw), path, s)
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, tr)
	}
	g := replay.FromTraces(traces, s.Strings)
	times, err := g.Replay(replay.Change{})
	if err != nil {
		t.Fatal(err)
	}
	equal, err := g.Replay(replay.Change{RanksEqual: true})
	if err != nil {
		t.Fatal(err)
	}
	after := g.Steps(equal)
	for i, st := range g.Steps(times) {
		off := float64(st.Replayed-st.Recorded) / float64(st.Recorded)
		t.Logf("rank %d: recorded %.3f ms, replayed %.3f ms (%+.2f %%), with equal ranks %.3f ms", traces[st.Trace].Rank, st.Recorded.Ms(),
			st.Replayed.Ms(), 100*off, after[i].Replayed.Ms())
		if math.Abs(off) > maxError {
			t.Errorf("rank %d: off by %.2f %%", traces[st.Trace].Rank, 100*off)
		}
		if after[i].Replayed > st.Replayed {
			t.Errorf("rank %d: slower with equal ranks", traces[st.Trace].Rank)
		}
	}
}
