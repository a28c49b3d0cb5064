package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"bottleneck/internal/collect"
	"bottleneck/internal/confine"
	"bottleneck/internal/proc"
	"bottleneck/internal/rerun"
)

// check is one finding of doctor: what was looked at, how it is, and the next step where it is not well.
type check struct {
	name string
	ok   bool
	text string
	next string
}

func newDoctorCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "doctor",
		Short: "Say what works on this machine, and the next step where something does not",
		Long:  "Looks at what measuring needs: permission to read processes, Python, the GPU, limits of the container.",
		Example: "  bottleneck doctor\n" +
			"  docker run --rm IMAGE bottleneck doctor",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return usage("doctor: it takes no argument")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, cancel := context.WithTimeout(cmd.Context(), 20*time.Second)
			defer cancel()
			a.printChecks(runChecks(ctx))
			return nil
		},
	}
}

func (a *app) printChecks(list []check) {
	width := 0
	for _, c := range list {
		width = max(width, len(c.name))
	}
	good, bad, end := "ok  ", "no  ", ""
	if a.useColor(a.stdout) {
		good, bad, end = "\x1b[32mok  ", "\x1b[33mno  ", "\x1b[0m"
	}
	for _, c := range list {
		mark := bad
		if c.ok {
			mark = good
		}
		fmt.Fprintf(a.stdout, "%s%s%-*s  %s\n", mark, end, width, c.name, c.text)
		if c.next != "" {
			fmt.Fprintf(a.stdout, "    %*s  → %s\n", width, "", c.next)
		}
	}
}

func runChecks(ctx context.Context) []check {
	list := []check{checkSystem(), checkChildren(), checkOthers(proc.ReadPermission(0)), checkNative(), checkPython(ctx), checkDirectory()}
	m := collect.ReadMachine()
	list = append(list, checkLimits(m.CPUs, m.CPUQuota), checkShared(m.SHMBytes), checkConfined(confine.Enforced()))
	return append(list, checkGPUs(ctx))
}

func checkSystem() check {
	c := check{name: "system", ok: runtime.GOOS == "linux", text: runtime.GOOS + "/" + runtime.GOARCH}
	if !c.ok {
		c.next = "reports, exports and diffs work here; recording from outside needs Linux"
	}
	return c
}

// checkChildren asks whether `run` may read what it starts: its own children.
func checkChildren() check {
	c := check{name: "stacks of programs that run starts", ok: true, text: "readable from outside"}
	err := tryChild()
	switch p := proc.ReadPermission(0); {
	case err == nil:
	case errors.Is(err, proc.ErrNotPermitted):
		c.ok, c.text = false, "not readable; the agent in the program samples instead"
		if p.PtraceScope == 3 {
			c.next = "kernel.yama.ptrace_scope is 3; it can be lowered at boot only"
		} else {
			c.next = "in Docker: --cap-add SYS_PTRACE, or a newer default seccomp profile"
		}
	default:
		c.ok, c.text = false, "not tried: "+err.Error()
	}
	return c
}

// tryChild starts this same binary and reads one word of it while it runs.
func tryChild() error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.Command(self, "--version")
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	for range 1000 {
		maps, err := proc.ReadMaps(cmd.Process.Pid)
		if err != nil || len(maps) == 0 {
			continue
		}
		mem := proc.OpenMemory(cmd.Process.Pid)
		defer mem.Close()
		_, err = proc.U64(mem, maps[0].Start)
		if errors.Is(err, proc.ErrGone) || errors.Is(err, proc.ErrUnreadable) {
			return nil // it ended first: the kernel had not refused
		}
		return err
	}
	return nil
}

// checkOthers asks about attach, top and dump: processes that somebody else started.
func checkOthers(p proc.Permission) check {
	c := check{name: "stacks of other programs (attach, top, dump)", ok: true, text: "readable, those of this user"}
	advice := p.Advice()
	switch {
	case p.Capable && advice == "":
		c.text = "readable, those of every user"
	case advice != "":
		c.ok, c.text, c.next = false, "not readable", advice
	}
	return c
}

// checkNative asks whether --native sees running threads without stopping them.
func checkNative() check {
	c := check{name: "native frames of running threads (--native)", ok: true, text: "from perf events"}
	e, err := proc.OpenStackEvent(os.Getpid())
	if err != nil {
		c.ok, c.text = false, err.Error()
		c.next = "blocked threads have theirs all the same; --native=stop stops each running thread for a moment instead"
		return c
	}
	e.Close()
	return c
}

// pythonFacts prints what doctor says of the interpreter, without importing torch.
const pythonFacts = rerun.LeaveWorkingDirectory + `
def version(name):
    try:
        from importlib import metadata
        return metadata.version(name)
    except ImportError: # before Python 3.8, and PackageNotFoundError
        return ""
print("%d.%d.%d" % sys.version_info[:3], version("torch") or "-", sys.implementation.name)
`

func checkPython(ctx context.Context) check {
	c := check{name: "python"}
	for _, name := range []string{"python3", "python"} {
		cmd := exec.CommandContext(ctx, name, "-c", pythonFacts)
		cmd.Env = rerun.Apart(os.Environ())
		out, err := cmd.Output()
		f := strings.Fields(string(out))
		if err != nil || len(f) != 3 {
			continue
		}
		c.ok, c.text = true, fmt.Sprintf("%s %s", name, f[0])
		if f[1] != "-" {
			c.text += ", torch " + f[1]
		} else {
			c.text += ", without torch"
		}
		var major, minor int
		_, _ = fmt.Sscanf(f[0], "%d.%d", &major, &minor)
		switch {
		case f[2] != "cpython":
			c.ok, c.next = false, f[2]+" cannot be read from outside; use CPython"
		case major != 3 || minor < 8:
			c.ok, c.next = false, "Python 3.8 or later is supported"
		}
		return c
	}
	c.text, c.next = "not found", "activate an environment, or name the interpreter with `run --python`"
	return c
}

func checkDirectory() check {
	c := check{name: "session directory", ok: true, text: "bottleneck-out/ can be made here"}
	f, err := os.CreateTemp(".", ".bottleneck-doctor-*")
	if err != nil {
		c.ok, c.text, c.next = false, "this directory cannot be written", "sessions go to "+os.TempDir()+"; choose one with --out"
		return c
	}
	f.Close()
	_ = os.Remove(f.Name())
	return c
}

func checkLimits(cpus int, quota *float64) check {
	c := check{name: "processors", ok: true, text: fmt.Sprintf("%d", cpus)}
	if quota != nil {
		c.text += fmt.Sprintf(", of which the container may use %.3g", *quota)
		if *quota < float64(cpus)/2 {
			c.ok = false
			c.next = fmt.Sprintf("threads beyond the quota are throttled: OMP_NUM_THREADS=%d, and at most that many workers",
				max(1, int(*quota)))
		}
	}
	return c
}

// checkConfined asks what holds a report of a stranger's file back, should reading it go wrong.
func checkConfined(e confine.Enforcement) check {
	c := check{name: "reports confined to their files", ok: e.Files && e.Programs,
		text: "by Landlock and seccomp: no other file, no program, no network"}
	switch {
	case e.Programs && !e.Files:
		c.text = "by seccomp only: no program, no network; the kernel has no Landlock (Linux 5.13 and later can have it)"
	case e.Files && !e.Programs:
		c.text = "by Landlock only: no other file; the kernel has no seccomp"
	case !e.Files:
		c.text = "not enforced: the system has neither Landlock nor seccomp"
	}
	if !c.ok {
		c.next = "read files of strangers in a container, or as a user that owns nothing"
	}
	return c
}

func checkShared(bytes *int64) check {
	c := check{name: "shared memory (/dev/shm)", ok: true, text: "unknown"}
	if bytes == nil {
		return c
	}
	c.text = collect.FormatBytes(*bytes)
	if *bytes < 256<<20 {
		c.ok, c.next = false, "DataLoader workers hand batches over in it: docker run --shm-size 8g, or --ipc host"
	}
	return c
}

func checkGPUs(ctx context.Context) check {
	c := check{name: "gpu", ok: true, text: "none found"}
	gpus := collect.ReadGPUs(ctx)
	var names []string
	for _, g := range gpus {
		names = append(names, g.Name)
	}
	if len(names) > 0 {
		c.text = strings.Join(names, ", ")
	}
	return c
}
