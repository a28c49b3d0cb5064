package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
)

// capSysPtrace is the number of CAP_SYS_PTRACE.
const capSysPtrace = 19

// Permission is what decides whether this process may read another one.
type Permission struct {
	PtraceScope int  // of Yama; -1 where the kernel has none
	Capable     bool // this process has CAP_SYS_PTRACE
	Seccomp     bool // a system call filter applies to this process
	SameUser    bool
	Kernel      bool // the target is a kernel thread
	Running     bool // the target exists
	Ended       bool // it has ended, and its parent has not asked how
	Descendant  bool // the target descends from this process
}

// ReadPermission looks up what decides about reading pid; 0 asks about this machine in general.
func ReadPermission(pid int) Permission {
	p := Permission{PtraceScope: -1, Running: true, SameUser: true}
	if b, err := os.ReadFile("/proc/sys/kernel/yama/ptrace_scope"); err == nil {
		p.PtraceScope, _ = strconv.Atoi(strings.TrimSpace(string(b)))
	}
	self := statusFields(os.Getpid())
	eff, _ := strconv.ParseUint(self["CapEff"], 16, 64)
	p.Capable = eff>>capSysPtrace&1 != 0
	p.Seccomp = self["Seccomp"] == "2"
	if pid == 0 {
		return p
	}
	target := statusFields(pid)
	p.Running = len(target) > 0
	p.Ended = strings.HasPrefix(target["State"], "Z") || strings.HasPrefix(target["State"], "X")
	p.SameUser = sameIDs(self, target)
	p.Kernel = target["Kthread"] == "1" || p.Running && target["VmSize"] == "" && !p.Ended
	for at, n := pid, 0; at > 1 && n < 1000; n++ {
		s, err := ReadStat(at)
		if err != nil {
			break
		}
		if at = s.PPID; at == os.Getpid() {
			p.Descendant = true
			break
		}
	}
	return p
}

// sameIDs says whether all user and group ids of the target equal this process's real ones, as the kernel asks.
func sameIDs(self, target map[string]string) bool {
	for _, key := range []string{"Uid", "Gid"} {
		mine, theirs := strings.Fields(self[key]), strings.Fields(target[key])
		if len(mine) < 1 || len(theirs) < 3 {
			return false
		}
		for _, id := range theirs[:3] {
			if id != mine[0] {
				return false
			}
		}
	}
	return true
}

func statusFields(pid int) map[string]string {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return nil
	}
	out := map[string]string{}
	for _, line := range strings.Split(string(b), "\n") {
		if k, v, ok := strings.Cut(line, ":"); ok {
			out[k] = strings.TrimSpace(v)
		}
	}
	return out
}

// Advice says in one or two sentences why reading is refused and which setting to change; "" where nothing forbids it.
func (p Permission) Advice() string {
	switch {
	case !p.Running:
		return "the process does not exist any more"
	case p.Ended:
		return "the process has ended; only its parent still has to take notice (a zombie)"
	case p.Kernel:
		return "it is a kernel thread: it runs no program"
	case p.Capable:
		if p.Seccomp {
			return "a seccomp filter forbids process_vm_readv here: in Docker use a profile that allows it, or --security-opt " +
				"seccomp=unconfined"
		}
		return ""
	case !p.SameUser:
		return "it belongs to another user, or runs a set-user-id program: run bottleneck as that user or as root (sudo)"
	case p.PtraceScope == 3:
		return "kernel.yama.ptrace_scope is 3, which forbids reading any process until the next boot: start the program with `bottleneck " +
			"run`, whose agent samples from inside"
	case p.PtraceScope == 2:
		return "kernel.yama.ptrace_scope is 2, which asks for CAP_SYS_PTRACE: run bottleneck with sudo, or in a container with --cap-add " +
			"SYS_PTRACE"
	case p.PtraceScope == 1 && !p.Descendant:
		return "kernel.yama.ptrace_scope is 1, which permits reading one's own children only: start the program with `bottleneck run`, " +
			"or use sudo, or `sudo sysctl kernel.yama.ptrace_scope=0`"
	case p.Seccomp:
		return "a seccomp filter applies here, which may forbid process_vm_readv: in Docker use --cap-add SYS_PTRACE or a newer default " +
			"profile"
	}
	return ""
}
