package collect

import (
	"bufio"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"bottleneck/internal/model"
	"bottleneck/internal/record"
)

// pythons are the CPythons of this machine from 3.8 on, by version; a "t" behind it says free-threaded, "-musl" with that C library.
func pythons(t testing.TB) map[string]string {
	t.Helper()
	home, _ := os.UserHomeDir()
	found := map[string]string{}
	paths, _ := filepath.Glob(filepath.Join(home, ".pyenv/versions/3.*/bin/python3"))
	cache := os.Getenv("BOTTLENECK_CACHE") // where scripts/env.sh puts Debian sid
	if cache == "" {
		cache = filepath.Join(home, ".cache/bottleneck-dev")
	}
	sid, _ := filepath.Glob(filepath.Join(cache, "envs/torch-sid/bin/python3.*"))
	built, _ := filepath.Glob(filepath.Join(cache, "envs/python-*/bin/python3.*")) // free-threaded, with musl
	for _, p := range slices.Concat([]string{"/usr/bin/python3"}, paths, sid, built) {
		out, err := exec.Command(p, "-c", "import sys; print('%d.%d' % sys.version_info[:2], int(sys.version_info >= (3, 8)))").Output()
		if f := strings.Fields(string(out)); err == nil && len(f) == 2 && f[1] == "1" {
			name := f[0]
			if kind, ok := strings.CutPrefix(filepath.Base(filepath.Dir(filepath.Dir(p))), "python-"); ok {
				name = kind // such as 3.13t
			}
			found[name] = p
		}
	}
	if len(found) == 0 || runtime.GOOS != "linux" {
		t.Skip("no CPython 3.8 or later that can be read from outside on this machine")
	}
	return found
}

// newestPython is one interpreter, of the usual build, for tests that do not depend on the version.
func newestPython(t testing.TB) string {
	t.Helper()
	best, path := "", ""
	for v, p := range pythons(t) {
		if strings.Trim(v, "0123456789.") != "" {
			continue
		}
		if len(v) > len(best) || len(v) == len(best) && v > best {
			best, path = v, p
		}
	}
	return path
}

// program is a running Python program whose output is read line by line.
type program struct {
	cmd *exec.Cmd
	out *bufio.Scanner
}

func startProgram(t testing.TB, python string, args ...string) *program {
	t.Helper()
	return startCommand(t, exec.Command(python, args...))
}

func startCommand(t testing.TB, cmd *exec.Cmd) *program {
	t.Helper()
	cmd.Stderr = os.Stderr
	pipe, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &program{cmd, bufio.NewScanner(pipe)}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	return p
}

// line waits for the program's next line.
func (p *program) line(t testing.TB) string {
	t.Helper()
	if !p.out.Scan() {
		t.Fatalf("the program ended without its line: %v", p.out.Err())
	}
	return p.out.Text()
}

// sampled is all that a test asks of a sample file.
type sampled struct {
	process map[int]record.SampleProcess
	byLeaf  map[int]map[string]int64 // samples by pid and innermost function
	states  map[int]map[string]map[model.ThreadState]int64
	flags   map[int]map[string]map[uint8]int64
}

func readSampled(t testing.TB, dir string) *sampled {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, record.SamplesName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s := &sampled{map[int]record.SampleProcess{}, map[int]map[string]int64{}, map[int]map[string]map[model.ThreadState]int64{},
		map[int]map[string]map[uint8]int64{}}
	err = record.ReadSamples(f, func(b *record.SampleBatch) error {
		pid := b.Process.PID
		s.process[pid] = b.Process
		if s.byLeaf[pid] == nil {
			s.byLeaf[pid], s.states[pid] = map[string]int64{}, map[string]map[model.ThreadState]int64{}
			s.flags[pid] = map[string]map[uint8]int64{}
		}
		for i := range b.Samples {
			st := &b.Samples[i]
			leaf := ""
			if locs := b.Stacks[st.Stack]; len(locs) > 0 {
				leaf = b.Locations[locs[0]].Function
			}
			if s.states[pid][leaf] == nil {
				s.states[pid][leaf], s.flags[pid][leaf] = map[model.ThreadState]int64{}, map[uint8]int64{}
			}
			st.EachTime(func(int64) {
				s.byLeaf[pid][leaf]++
				s.states[pid][leaf][st.State]++
				s.flags[pid][leaf][st.Flags]++
			})
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestSamplerTree samples a program with forked, spawned and exec'ed children and finds all of them.
func TestSamplerTree(t *testing.T) {
	dir := t.TempDir()
	p := startProgram(t, newestPython(t), "testdata/family.py")
	s, err := StartSampler(context.Background(), SamplerOptions{PID: p.cmd.Process.Pid, Hz: 200, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	for p.line(t) != "done" {
	}
	_ = p.cmd.Wait()
	select {
	case <-s.Done():
	case <-time.After(time.Minute):
		t.Error("the sampler did not notice that the tree is gone")
	}
	st := s.Stop()
	got := readSampled(t, dir)
	want := map[string]bool{"in_parent": false, "in_fork": false, "in_spawn": false, "in_exec": false}
	for pid, leaves := range got.byLeaf {
		for name := range want {
			if leaves[name] > 20 {
				want[name] = true
				if name != "in_parent" && pid == p.cmd.Process.Pid {
					t.Errorf("%s was found in the parent", name)
				}
			}
		}
	}
	for name, seen := range want {
		if !seen {
			t.Errorf("%s was not sampled: %v", name, got.byLeaf)
		}
	}
	if st.Failed*50 > st.Samples || st.FirstSample == 0 || st.CPU == 0 || st.AchievedHz < 50 {
		t.Errorf("account %+v", st)
	}
	if info, err := os.Stat(filepath.Join(dir, record.TreeName)); err != nil || info.Size() == 0 || info.Mode().Perm() != 0o600 {
		t.Errorf("process log: %v, %v", info, err)
	}
}
