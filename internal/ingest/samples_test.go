package ingest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

const sampleEpoch = 1_700_000_000_000_000_000

// writeSampleFile writes three chunks of a second each: a rank with two threads, and a worker that shows what it is
// only in the last chunk.
func writeSampleFile(t *testing.T, dir string) {
	t.Helper()
	w := record.NewSampleWriter(sampleEpoch, 0)
	f, err := record.CreateSampleFile(filepath.Join(dir, record.SamplesName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rank := w.Process(record.SampleProcess{Host: "h", PID: 10, PPID: 9, StartTicks: 5, Role: model.RoleRank, Rank: 1, WorldSize: 2,
		WorkerIndex: -1, Python: "3.12.1"}, 100)
	worker := w.Process(record.SampleProcess{Host: "h", PID: 11, PPID: 10, StartTicks: 6, Role: model.RoleOther, Rank: 1, WorkerIndex: -1},
		100)
	rank.NameThread(10, "MainThread")
	main := w.Stacks.Push(-1, w.Stacks.Frame(record.SampleFrame{Function: "main", File: "/t.py", First: 1, Line: 4}))
	leaf := w.Stacks.Push(main, w.Stacks.Frame(record.SampleFrame{Function: "step", File: "/t.py", First: 7, Line: 8}))
	for chunk := range int64(3) {
		for i := range int64(100) {
			at := chunk*1e9 + i*10_000_000
			rank.Add(at, 10, leaf, model.StateCPU, model.SampleHoldsGIL)
			rank.Add(at, 12, main, model.StateIdle, 0)
			worker.Add(at, 11, main, model.StateBlocked, 0)
		}
		rank.Counts.Snapshots, worker.Counts.Snapshots, rank.Counts.Failed = 100, 100, 1
		if chunk == 2 {
			worker.Process.Role, worker.Process.WorkerIndex = model.RoleWorker, 3
		}
		if err := f.Write(w.Cut((chunk + 1) * 1e9)); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReadSamples joins samples with a process that the agent saw only seconds later, and adds the one it did not see.
func TestReadSamples(t *testing.T) {
	dir := t.TempDir()
	writeSampleFile(t, dir)
	seen := &model.Process{PID: 10, Host: "h", Rank: 1, Role: model.RoleRank, WorkerIndex: -1, Agent: true,
		Start: sampleEpoch + 9e9, End: sampleEpoch + 20e9}
	seen.Samples.Time = []model.Time{1, 2, 3} // the agent's own fallback
	earlier := &model.Process{PID: 10, Host: "h", Start: sampleEpoch - 100e9, End: sampleEpoch - 50e9}
	s := &model.Session{Strings: &model.Strings{}, Processes: []*model.Process{earlier, seen}}
	if err := readSamples(dir, s); err != nil {
		t.Fatal(err)
	}
	if len(s.Processes) != 3 || earlier.Samples.Len() != 0 {
		t.Fatalf("%d processes, %d samples in one that had ended", len(s.Processes), earlier.Samples.Len())
	}
	sm := &seen.Samples
	if sm.Len() != 600 || sm.AskedHz != 100 || sm.AchievedHz != 100 || sm.Failed != 3 {
		t.Errorf("%d samples, asked %v, achieved %v, failed %d", sm.Len(), sm.AskedHz, sm.AchievedHz, sm.Failed)
	}
	for i := 1; i < sm.Len(); i++ {
		if sm.Time[i] < sm.Time[i-1] {
			t.Fatalf("sample %d goes back in time", i)
		}
	}
	st := sm.Stacks
	if len(st.Frame) != 2 || len(st.Frames) != 2 || len(st.Parent) != 2 {
		t.Fatalf("stacks %+v", st)
	}
	for i, id := range sm.Stack {
		f := st.Frames[st.Frame[id]]
		want := map[int32]string{10: "step", 12: "main"}[sm.Thread[i]]
		if s.Strings.Text(f.Function) != want || want == "step" && st.Parent[id] == model.NoStack {
			t.Fatalf("sample %d of thread %d is in %s", i, sm.Thread[i], s.Strings.Text(f.Function))
		}
	}
	if s.Strings.Text(sm.Threads[10]) != "MainThread" {
		t.Error("thread 10 has no name")
	}
	if w := s.Processes[2]; w.PID != 11 || w.Role != model.RoleWorker || w.WorkerIndex != 3 || w.Samples.Len() != 300 || w.Agent {
		t.Errorf("worker %+v", w)
	}
}

// TestSamplesAfterTheAgentsLastWord: a process whose agent falls silent ends with its last sample, unless the agent has told of its end.
func TestSamplesAfterTheAgentsLastWord(t *testing.T) {
	dir := t.TempDir()
	writeSampleFile(t, dir)
	for exit, want := range map[string]model.Time{"": sampleEpoch + 2e9 + 99*10_000_000, "exit": sampleEpoch + 1e9} {
		p := &model.Process{PID: 10, Host: "h", Agent: true, Start: sampleEpoch, End: sampleEpoch + 1e9, Exit: exit}
		if err := readSamples(dir, &model.Session{Strings: &model.Strings{}, Processes: []*model.Process{p}}); err != nil {
			t.Fatal(err)
		}
		if p.End != want {
			t.Errorf("exit %q: ends %d ns after the start, want %d", exit, p.End-sampleEpoch, want-sampleEpoch)
		}
	}
}

// TestReadSamplesDamaged cuts the file: what came before the damage is used, and the damage is named.
func TestReadSamplesDamaged(t *testing.T) {
	dir := t.TempDir()
	writeSampleFile(t, dir)
	whole, err := os.ReadFile(filepath.Join(dir, record.SamplesName))
	if err != nil {
		t.Fatal(err)
	}
	s := &model.Session{Strings: &model.Strings{}}
	err = readSampleStream(bytes.NewReader(whole[:len(whole)-1]), s)
	if !errors.Is(err, record.ErrSamplesDamaged) || len(s.Processes) != 2 || s.Processes[0].Samples.Len() != 400 {
		t.Errorf("%v, %d processes", err, len(s.Processes))
	}
}
