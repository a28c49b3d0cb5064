package confine

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/elastic/go-seccomp-bpf"
	"github.com/landlock-lsm/go-landlock/landlock"
	"github.com/landlock-lsm/go-landlock/landlock/syscall"
)

const (
	readFiles  landlock.AccessFSSet = syscall.AccessFSReadFile
	readBelow  landlock.AccessFSSet = syscall.AccessFSReadFile | syscall.AccessFSReadDir
	writeFiles landlock.AccessFSSet = syscall.AccessFSWriteFile | syscall.AccessFSTruncate
	// writeBelow lets a file be made under a temporary name and take the place of another; links and devices cannot be made.
	writeBelow = readBelow | writeFiles | syscall.AccessFSMakeReg | syscall.AccessFSMakeDir | syscall.AccessFSRemoveFile |
		syscall.AccessFSRemoveDir
)

// denied are the calls that no reading command makes; each exists on every 64-bit Linux. Threads, which the Go runtime starts at any
// time, need clone, so that a process without another program in it can still be made.
var denied = []string{"execve", "execveat", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "socket", "socketpair",
	"bpf", "perf_event_open", "io_uring_setup", "userfaultfd", "mount", "umount2", "pivot_root", "chroot", "unshare", "setns",
	"open_by_handle_at", "add_key", "request_key", "keyctl", "init_module", "finit_module", "delete_module", "kexec_load",
	"swapon", "swapoff", "reboot"}

// Apply gives up, in all threads and for good, what access does not name. Where the kernel cannot enforce a part, the other
// part holds all the same; the error says what was not enforced though the kernel has it.
func Apply(access Access) error {
	return errors.Join(restrictFiles(access), restrictCalls())
}

func restrictFiles(access Access) error {
	rules := access.rules()
	if err := landlock.V11.BestEffort().Restrict(rules...); err != nil {
		return fmt.Errorf("landlock: %w", err)
	}
	return nil
}

func (a Access) rules() []landlock.Rule {
	var rules []landlock.Rule
	add := func(path string, file, below landlock.AccessFSSet) {
		if _, err := filepath.EvalSymlinks(path); err != nil {
			return // missing, or a pipe without a name, which Landlock does not restrict
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
		case info.IsDir():
			rules = append(rules, landlock.PathAccess(below, path).IgnoreIfMissing())
		case info.Mode().IsRegular() || info.Mode()&os.ModeDevice != 0 || info.Mode()&os.ModeNamedPipe != 0:
			rules = append(rules, landlock.PathAccess(file, path).IgnoreIfMissing())
		}
	}
	read := a.Read
	if a.Anything {
		read = []string{"/"}
	}
	for _, path := range read {
		add(path, readFiles, readBelow)
	}
	for _, path := range a.Write {
		add(path, writeFiles, writeBelow)
	}
	return rules
}

func restrictCalls() error {
	runtime.LockOSThread() // no_new_privs is the thread's that loads the filter, which then takes it to the others
	defer runtime.UnlockOSThread()
	filter := seccomp.Filter{NoNewPrivs: true, Flag: seccomp.FilterFlagTSync, Policy: policy()}
	if !seccomp.Supported() {
		return nil
	}
	return seccomp.LoadFilter(filter)
}

func policy() seccomp.Policy {
	return seccomp.Policy{
		DefaultAction: seccomp.ActionAllow, Syscalls: []seccomp.SyscallGroup{{Names: denied, Action: seccomp.ActionErrno}},
	}
}

// Enforced asks the kernel.
func Enforced() Enforcement {
	abi, err := syscall.LandlockGetABIVersion()
	files := err == nil && abi >= 1
	return Enforcement{Files: files, TCP: files && abi >= 4, Programs: seccomp.Supported()}
}
