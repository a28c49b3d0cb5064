package collect

import (
	"context"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"bottleneck/internal/record"
)

// squeezing calls a function of a C library all the time, under a Python function of its own, and computes in Python.
const squeezing = `
import sys, zlib
data = bytes(range(256)) * 4000
def squeeze():
    return len(zlib.compress(data, 9))
def count():
    n = 0
    for i in range(20000):
        n += i * i
    return n
print("ready", flush=True)
total = 0
while not (total and sys.argv[1:] and total > int(sys.argv[1])):
    total += squeeze() + count() // count()
print("done", total > 0, flush=True)
`

// nativeSeen collects the innermost frames of samples, until enough of those with native frames are there.
type nativeSeen struct {
	sync.Mutex
	native map[string]int // library's function over a Python function
	python map[string]int // innermost is Python
	enough chan struct{}
	n      int
}

func (n *nativeSeen) add(l LiveSample) {
	n.Lock()
	defer n.Unlock()
	f := l.Frames
	switch {
	case len(f) == 0:
		return
	case !f[0].Native:
		n.python[f[0].Function]++
	default:
		n.native[libraryOf(f)+" "+firstPython(f)]++
		if n.n++; n.n == 60 {
			close(n.enough)
		}
	}
}

// libraryOf is the library of the native frame next to the innermost Python frame.
func libraryOf(frames []record.SampleFrame) string {
	file := ""
	for _, f := range frames {
		if !f.Native {
			break
		}
		file = f.File[strings.LastIndexByte(f.File, '/')+1:]
	}
	return file
}

func firstPython(frames []record.SampleFrame) string {
	for _, f := range frames {
		if !f.Native {
			return f.Function
		}
	}
	return ""
}

func watchNative(t *testing.T, pid int, mode NativeMode) (*nativeSeen, SamplerStats) {
	t.Helper()
	seen := &nativeSeen{native: map[string]int{}, python: map[string]int{}, enough: make(chan struct{})}
	s, err := StartSampler(context.Background(), SamplerOptions{PID: pid, Hz: 200, Dir: t.TempDir(), Native: mode, Live: seen.add})
	if err != nil {
		t.Fatal(err)
	}
	deadline := time.NewTimer(30 * time.Second)
	defer deadline.Stop()
	select {
	case <-seen.enough:
	case <-s.Done():
	case <-deadline.C:
	}
	stats := s.Stop()
	if _, reason := stats.NativeOf(); strings.Contains(reason, "not permitted") {
		t.Skip(reason)
	}
	return seen, stats
}

// TestSampleNative samples running threads by the kernel's records and by stopping them. The library's functions stand
// over the function that calls it and over no other, and the program comes to its end.
func TestSampleNative(t *testing.T) {
	for _, mode := range []NativeMode{NativeWatch, NativeStop} {
		t.Run(string(mode), func(t *testing.T) {
			p := startProgram(t, newestPython(t), "-c", squeezing, "2000000")
			p.line(t)
			seen, stats := watchNative(t, p.cmd.Process.Pid, mode)
			sum, reason := stats.NativeOf()
			t.Logf("%v %v; %+v %s", seen.native, seen.python, sum, reason)
			zlib, moved := 0, 0 // samples in zlib; those of them whose Python stack was read after the call had returned
			for key, n := range seen.native {
				library, function, _ := strings.Cut(key, " ")
				if strings.Contains(library, "libz") || strings.HasPrefix(library, "zlib") {
					zlib += n
					if function != "squeeze" {
						moved += n
					}
				}
			}
			if all := sum.Whole + sum.Partial + sum.Missing; zlib == 0 || sum.Whole < all/2 {
				t.Errorf("%d samples in zlib, %+v", zlib, sum)
			}
			if moved > 0 && mode == NativeStop || moved > zlib/10 {
				t.Errorf("%d of %d samples in zlib over another function", moved, zlib)
			}
			if got := p.line(t); got != "done True" {
				t.Errorf("the program said %q", got)
			}
		})
	}
}

// TestSampleBLAS shows the library that multiplies matrices for NumPy or PyTorch.
func TestSampleBLAS(t *testing.T) {
	out, err := exec.Command("../../scripts/env.sh", "newest").Output()
	python := strings.TrimSpace(string(out))
	if err != nil || exec.Command(python, "-c", "import torch").Run() != nil {
		t.Skip("no PyTorch on this machine")
	}
	cmd := exec.Command(python, "-c",
		"import torch\na = torch.randn(400, 400)\ndef multiply():\n    return a @ a\nprint('ready', flush=True)\nwhile True: multiply()")
	cmd.Env = append(cmd.Environ(), "OMP_NUM_THREADS=1")
	p := startCommand(t, cmd)
	p.line(t)
	seen, stats := watchNative(t, p.cmd.Process.Pid, NativeWatch)
	if n := seen.native["libtorch_cpu.so multiply"] + seen.native["libtorch_python.so multiply"]; n < 40 {
		sum, reason := stats.NativeOf()
		t.Errorf("%v; %+v %s", seen.native, sum, reason)
	}
}
