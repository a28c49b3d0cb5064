package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// leavesDaemon is the one whose process outlives its launcher, and with it the folder that it may load the agent's code from.
const leavesDaemon = "leaves a daemon"

// hard are programs that do what breaks careless tools. Each prints what it did and ends by itself.
var hard = []struct{ name, text string }{
	{"closes all descriptors", "import os\nprint('ran', flush=True)\nos.closerange(0, 4096)\nos._exit(6)\n"},
	{"opens all descriptors", "import os, resource\nresource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\nn = 0\ntry:\n    while True: " +
		"os.dup(0); n += 1\nexcept OSError: print(n)\nos._exit(6)\n"},
	{"replaces itself", "import os, sys\nos.execv(sys.executable, [sys.executable, '-c', 'import sys; print(\"ran\"); sys.exit(6)'])\n"},
	{"replaces itself by a shell", "import os\nos.execv('/bin/sh', ['sh', '-c', 'echo ran; exit 6'])\n"},
	{"replaces itself 30 times", "import os, sys\nn = int(sys.argv[-1]) if sys.argv[-1].isdigit() else 30\nif n: " +
		"os.execv(sys.executable, [sys.executable, __file__, str(n - 1)])\nprint('ran'); sys.exit(6)\n"},
	{"clears its environment", "import os, subprocess, sys\nos.environ.clear()\nsys.exit(subprocess.call([sys.executable, '-c', " +
		"'print(\"ran\"); raise SystemExit(6)']))\n"},
	{"changes directory to none",
		"import os, tempfile\nd = tempfile.mkdtemp(); os.chdir(d); os.rmdir(d)\nprint('ran'); raise SystemExit(6)\n"},
	{"ends hard", "import os\nprint('ran', flush=True)\nos._exit(250)\n"},
	{"is killed by itself", "import os, signal\nprint('ran', flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n"},
	{"aborts", "import os\nprint('ran', flush=True)\nos.abort()\n"},
	{"reads address zero", "import ctypes\nprint('ran', flush=True)\nctypes.string_at(0)\n"},
	{"stops and goes on", "import os, signal, subprocess, sys\np = subprocess.Popen([sys.executable, '-c', 'import os, time, signal; " +
		"time.sleep(0.4); os.kill(%d, signal.SIGCONT)' % os.getpid()])\nos.kill(os.getpid(), signal.SIGSTOP)\nprint('ran'); os._exit(6)\n"},
	{"overflows its stack", "import sys\ndef f(): f()\ntry: f()\nexcept RecursionError: print('deep')\nsys.exit(6)\n"},
	{"stacks 20,000 deep", "import sys, threading\nsys.setrecursionlimit(30000); threading.stack_size(256 << 20)\ndef f(n): return n and " +
		"f(n - 1)\nt = threading.Thread(target=f, args=(20000,)); t.start(); t.join(); print('ran'); sys.exit(6)\n"},
	{"forks 60 children", "import os\nfor i in range(60):\n    if not os.fork(): os._exit(i % 7)\n" +
		"print(sum(os.waitstatus_to_exitcode(os.wait()[1]) for _ in range(60))); raise SystemExit(6)\n"},
	{"forks a tree", "import os, sys\ndef grow(n):\n    if n == 0: return\n    for _ in range(2):\n        if not os.fork(): grow(n - " +
		"1); os._exit(0)\n    for _ in range(2): os.wait()\ngrow(5); print('ran'); sys.exit(6)\n"},
	{"starts 300 threads", "import threading\nb = threading.Barrier(301)\nl = [threading.Thread(target=b.wait) for _ in range(300)]\n" +
		"[t.start() for t in l]; b.wait(); [t.join() for t in l]\nprint(len(l)); raise SystemExit(6)\n"},
	{"starts 2,000 short processes",
		"import os\nfor _ in range(2000):\n    if not os.fork(): os._exit(0)\n    os.wait()\nprint('ran'); raise SystemExit(6)\n"},
	{leavesDaemon, "import os, time\nif os.fork(): print('ran', flush=True); os._exit(6)\nos.setsid(); os.closerange(0, 256); " +
		"time.sleep(0.5)\nos._exit(0)\n"},
	{"is its own tracer", "import sys\nn = 0\ndef t(*a):\n    global n; n += 1; return t\nsys.settrace(t)\nfor _ in range(100): (lambda: " +
		"1)()\nsys.settrace(None); print(n); sys.exit(6)\n"},
	{"is its own profiler", "import sys\nn = 0\ndef t(*a):\n    global n; n += 1\nsys.setprofile(t)\nfor _ in range(100): (lambda: 1)()\n" +
		"sys.setprofile(None); print(n); sys.exit(6)\n"},
	{"profiles itself", "import cProfile, pstats, io, sys\np = cProfile.Profile(); p.enable(); sorted(range(99)); p.disable()\ns = " +
		"io.StringIO(); pstats.Stats(p, stream=s).print_stats(); print('sorted' in s.getvalue()); sys.exit(6)\n"},
	{"lists its imports", "import sys\nprint([type(f).__name__ if not isinstance(f, type) else f.__name__ for f in sys.meta_path], " +
		"len(sys.path_hooks)); sys.exit(6)\n"},
	{"lists its threads", "import os, sys, threading\nprint(threading.active_count(), len(os.listdir('/proc/self/task'))); sys.exit(6)\n"},
	{"has modules of its own named like the library's", "import json2 as j\nprint(j.x); raise SystemExit(6)\n"},
	{"lists its signals", "import signal\nprint([(s.name, str(signal.getsignal(s))) for s in signal.Signals if signal.getsignal(s) not " +
		"in (0, 1)], signal.pthread_sigmask(0, [])); raise SystemExit(6)\n"},
	{"sets every signal", "import os, signal\ng = []\nfor s in (1, 2, 10, 12, 14, 15, 17, 23, 27, 28): signal.signal(s, lambda n, f: " +
		"g.append(n))\nfor s in (1, 2, 10, 12, 14, 15, 23, 27, 28): os.kill(os.getpid(), s)\nprint(g); raise SystemExit(6)\n"},
	{"uses timers", "import signal, time\ng = []\nsignal.signal(signal.SIGPROF, lambda n, f: g.append(n)); " +
		"signal.setitimer(signal.ITIMER_PROF, 0.01, 0.01)\nend = time.process_time() + 0.3\nwhile time.process_time() < end: pass\n" +
		"signal.setitimer(signal.ITIMER_PROF, 0)\nprint(len(g) > 5); raise SystemExit(6)\n"},
	{"lists its descriptors", "import os\nprint(len(os.listdir('/proc/self/fd'))); raise SystemExit(6)\n"},
	{"lists its children", "import os\nprint(open('/proc/self/task/%d/children' % os.getpid()).read()); raise SystemExit(6)\n"},
	{"cannot be dumped", "import ctypes\nctypes.CDLL(None).prctl(4, 0)\nprint('ran', sum(range(3000000))); raise SystemExit(6)\n"},
	{"prints much on both", "import sys\nfor i in range(20000): print(i); print(i, file=sys.stderr)\nsys.exit(6)\n"},
	{"prints bytes that are no text", "import sys\nsys.stdout.buffer.write(bytes(range(256)) * 100); sys.exit(6)\n"},
	{"reads its input", "import sys\nprint(repr(sys.stdin.read())); sys.exit(6)\n"},
	{"leaves by exception with atexit",
		"import atexit, os\nprint('ran', flush=True)\natexit.register(os._exit, 6)\nraise RuntimeError('mine')\n"},
	{"raises in a thread",
		"import threading\nt = threading.Thread(target=lambda: 1 / 0); t.start(); t.join(); print('ran'); raise SystemExit(6)\n"},
	{"spawns", "import multiprocessing as m, sys\ndef f(q): q.put('ran')\nif __name__ == '__main__':\n    m.set_start_method('spawn'); q " +
		"= m.Queue(); p = m.Process(target=f, args=(q,)); p.start(); print(q.get()); p.join(); sys.exit(6)\n"},
	{"pools", "import multiprocessing as m, sys\ndef f(x): return x * x\nif __name__ == '__main__':\n    with " +
		"m.get_context('fork').Pool(3) as p: print(p.map(f, range(9)))\n    sys.exit(6)\n"},
	{"runs a loop of events", "import asyncio\nasync def f(): await asyncio.gather(*(asyncio.sleep(0.01 * i) for i in range(20)))\n" +
		"asyncio.run(f()); print('ran'); raise SystemExit(6)\n"},
	{"collects garbage by callback", "import gc\nn = 0\ndef c(*a):\n    global n; n += 1\ngc.callbacks.append(c); gc.collect(); " +
		"gc.callbacks.remove(c)\nprint(n, len(gc.callbacks)); raise SystemExit(6)\n"},
	{"allocates 300 MB", "x = bytearray(300 << 20)\nprint(len(x)); raise SystemExit(6)\n"},
	{"works for a second", "import time\nend = time.process_time() + 1\nn = 0\nwhile time.process_time() < end: n += sum(range(100)) > " +
		"0\nprint(n > 0); raise SystemExit(6)\n"},
}

// agentsFinder is what a program that lists its import finders sees of the agent. The manual says so; it is no other output.
const agentsFinder = "'Finder', "

// attackProgram runs one of them alone and under run, and compares output, status, CPU time and memory.
func attackProgram(t *try) {
	p := hard[t.number%len(hard)]
	t.say("a program that %s", p.name)
	script := t.file("in/p.py", p.text)
	t.file("in/json2.py", "x = 2\n")
	for _, name := range []string{"random.py", "json.py"} {
		if strings.Contains(p.name, "named like") {
			t.file("in/"+name, "x = 1\n")
		}
	}
	options := [][]string{{}, {}, {"--calls"}, {"--native"}, {"--native=stop"}, {"--no-sample"},
		{"--rate", "1000"}}[(t.number/len(hard)+t.number)%7]
	if slices.Contains(options, "--calls") && p.name == "is its own profiler" {
		options = nil // before Python 3.12 it would see an event of the agent's, as the manual says
	}
	form := []string{script}
	if t.number >= len(hard) && t.rng.IntN(3) == 0 {
		form = append(pick(t.rng, []string{"-X", "dev"}, []string{"-B"}, []string{"-u"}, []string{"-W", "ignore"}, []string{"-O"}), script)
	}
	t.dirty = p.name == leavesDaemon
	t.compareProgram(options, append([]string{t.python}, form...))
}

// compareProgram runs a command alone and under run.
func (t *try) compareProgram(options, program []string) (out string) {
	alone := t.plain(program)
	out = filepath.Join(t.path("out"), "session")
	args := append(append([]string{"run", "--out", out, "-o", os.DevNull}, options...), "--")
	args = append(args, program...)
	under := t.plain(append([]string{t.binary}, args...))
	command := t.commandLine(args)
	if !bytes.Contains(alone.stdout, []byte(agentsFinder)) {
		under.stdout = bytes.Replace(under.stdout, []byte("["+agentsFinder), []byte("["), 1)
	}
	t.compare(alone, under, command)
	if alone.hung == "" && under.hung == "" {
		t.compareCost(alone, under, out, command)
	}
	if _, err := os.Stat(filepath.Join(out, "manifest.json")); err == nil {
		t.drive(0, out)
	}
	return out
}

// Bounds of what measuring may take beside the program, on a machine that is busy; `make bench` measures the true price.
const (
	moreCPU    = 4 * time.Second
	perProcess = 5 * time.Millisecond // the agent makes each forked process a folder with two files in it
	moreMemory = 300 << 20
)

func (t *try) compareCost(alone, under ended, session, command string) {
	followed, _ := filepath.Glob(filepath.Join(session, "*", "process.json"))
	if under.cpu > 2*alone.cpu+moreCPU+time.Duration(len(followed))*perProcess {
		t.bad("CPU", command, "alone %.1f s, under run %.1f s", alone.cpu.Seconds(), under.cpu.Seconds())
	}
	if under.rss > alone.rssAtMost+moreMemory {
		t.bad("memory", command, "alone %s, under run %s", mega(alone.rssAtMost), mega(under.rss))
	}
}

func mega(bytes int64) string { return fmt.Sprintf("%d MB", bytes>>20) }
