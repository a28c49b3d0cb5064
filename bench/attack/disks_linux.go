package main

import (
	"fmt"
	"os"
	"os/exec"
)

func noMounts(a *attack) string {
	if a.python == "" {
		return "no Python"
	}
	if exec.CommandContext(a.ctx, "unshare", "--mount", "true").Run() != nil {
		return "mounting a small disk needs root and name spaces"
	}
	return ""
}

// attackDisk puts the session, the folder for temporary files or the output on a disk that is too small.
func attackDisk(t *try) {
	size := []int{0, 4, 16, 64, 200, 400, 1000, 4000}[t.rng.IntN(8)] + 4*t.rng.IntN(4)
	t.must(os.Mkdir(t.path("disk"), 0o755))
	onDisk := func(args ...string) []string {
		mount := fmt.Sprintf(`mount -t tmpfs -o size=%dk none "$0" && exec "$@"`, max(4, size))
		return append([]string{"unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", mount, t.path("disk")}, args...)
	}
	switch kind := t.number % 4; {
	case kind == 0 || len(t.sessions) == 0:
		t.say("run --out on a disk of %d KB, which the program fills after a while", size)
		script := t.file("in/p.py", `import os, sys, time
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end: sum(range(1000))
try:
    with open(os.path.join(sys.argv[1], "filler"), "wb", buffering=0) as f:
        while True: f.write(bytes(4096))
except OSError: pass
while time.monotonic() < end + 0.2: sum(range(1000))
print("ran")
sys.exit(6)
`)
		program := []string{t.python, script, t.path("disk"), fmt.Sprint(t.rng.Float64() * 1.5)}
		alone := t.plain(onDisk(program...))
		under := t.plain(onDisk(append([]string{t.binary, "run", "--out", t.path("disk/s"), "-o", t.out(), "--"}, program...)...))
		t.compare(alone, under, "run --out DISK/s")
	case kind == 1:
		t.say("a packed session unpacked onto a disk of %d KB", size)
		packed := t.pack(t.sessions[0], false)
		a := text("report", packed)
		t.judge(a, t.plain(onDisk(append([]string{t.binary}, a.args...)...), "TMPDIR="+t.path("disk")))
	case kind == 2:
		t.say("pack and export onto a disk of %d KB", size)
		for _, a := range []ask{data("pack", "-o", t.path("disk/x"), t.sessions[0]),
			data("pack", "--redact", "-o", t.path("disk/x"), t.sessions[0]),
			data("export", "--to", pick(t.rng, t.formats...), "-o", t.path("disk/y"), t.sessions[len(t.sessions)-1])} {
			t.judge(a, t.plain(onDisk(append([]string{t.binary}, a.args...)...)))
		}
	default:
		t.say("output to a full device")
		for _, a := range []ask{data("report", "-o", "/dev/full", t.sessions[0]), data("report", "--json", "/dev/full", t.sessions[0]),
			data("what-if", "--remove", "python", "-o", "/dev/full", t.sessions[0]),
			data("export", "--to", "folded", "-o", "/dev/full", t.sessions[0])} {
			e := t.bottleneck(a)
			// the sampled run may hold no Python
			if nothingToRemove := a.args[0] == "what-if" && e.code == 2; e.code != 3 && !nothingToRemove {
				t.bad("status", t.commandLine(a.args), "%d onto a full device, want 3: %s", e.code, head(e.stderr, 2))
			}
		}
	}
}
