package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math/bits"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestLive reads this process itself: whole ranges, a range that is not mapped, and one after it.
func TestLive(t *testing.T) {
	data := []byte("some text that is read from outside")
	addr := uint64(uintptr(unsafe.Pointer(&data[0])))
	m := OpenMemory(os.Getpid())
	defer m.Close()
	got := make([]byte, len(data))
	if err := m.Read(addr, got); err != nil || string(got) != string(data) {
		t.Fatalf("%q, %v", got, err)
	}
	a, b, c := make([]byte, 4), make([]byte, 4), make([]byte, 4)
	n, err := m.ReadMany([]Range{{addr, a}, {8, b}, {addr + 5, c}})
	if err != nil || n != 1 || string(a) != "some" {
		t.Errorf("%d ranges, %q, %v", n, a, err)
	}
	if err := m.Read(8, b); !errors.Is(err, ErrUnreadable) {
		t.Errorf("unmapped address: %v", err)
	}
	if text, err := CString(m, addr, 9); err != nil || text != "some text" {
		t.Errorf("%q, %v", text, err)
	}
}

// TestFallBack reads through /proc/PID/mem, as where a filter forbids process_vm_readv.
func TestFallBack(t *testing.T) {
	data := []byte("some text that is read from outside")
	addr := uint64(uintptr(unsafe.Pointer(&data[0])))
	m := OpenMemory(os.Getpid())
	defer m.Close()
	a, b := make([]byte, 4), make([]byte, 9)
	n, err := m.fallBack([]Range{{addr, a}, {addr, b}, {8, a}}, unix.ENOSYS)
	if err != nil || n != 2 || string(b) != "some text" {
		t.Errorf("%d ranges, %q, %v", n, b, err)
	}
	if err := m.Read(addr+5, a); err != nil || string(a) != "text" { // from now on always so
		t.Errorf("%q, %v", a, err)
	}
	if _, err := OpenMemory(1<<30).fallBack([]Range{{addr, a}}, unix.EPERM); !errors.Is(err, ErrGone) {
		t.Errorf("no such process: %v", err)
	}
}

// TestGone reads a process that has ended.
func TestGone(t *testing.T) {
	cmd := exec.Command("true")
	if err := cmd.Run(); err != nil {
		t.Skipf("no program to run: %v", err)
	}
	pid := cmd.Process.Pid
	if err := OpenMemory(pid).Read(4096, make([]byte, 8)); !errors.Is(err, ErrGone) {
		t.Errorf("memory: %v", err)
	}
	if _, err := ReadMaps(pid); !errors.Is(err, ErrGone) {
		t.Errorf("maps: %v", err)
	}
	if _, err := ReadStat(pid); !errors.Is(err, ErrGone) {
		t.Errorf("stat: %v", err)
	}
	if _, err := Threads(pid); !errors.Is(err, ErrGone) {
		t.Errorf("threads: %v", err)
	}
	if p := ReadPermission(pid); p.Running || p.Advice() == "" {
		t.Errorf("permission %+v says %q", p, p.Advice())
	}
}

func TestProcessorOf(t *testing.T) {
	// A name may hold anything; the processor is the 39th field.
	stat := "7 (a) R 1) S 1" + strings.Repeat(" 0", 34) + " 5 0 0"
	if n, ok := processorOf([]byte(stat)); n != 5 || !ok {
		t.Errorf("%d, %v of %q, want 5", n, ok, stat)
	}
	for _, bad := range []string{"", ")", "7 (a) S 1 2 3", "7 (a) S" + strings.Repeat(" x", 40)} {
		if n, ok := processorOf([]byte(bad)); ok {
			t.Errorf("%d of %q", n, bad)
		}
	}
	self, err := OpenThread(os.Getpid(), os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	defer self.Close()
	if n, ok := self.Processor(); !ok || n > 4096 {
		t.Errorf("this process runs on processor %d, %v", n, ok)
	}
}

func TestParseSyscall(t *testing.T) {
	if s := parseSyscall([]byte("running\n")); !s.Running || s.Syscall != -1 {
		t.Errorf("running: %+v", s)
	}
	s := parseSyscall([]byte("202 0x7f61 0x80 0x0 0x0 0x0 0x0 0x7ffc 0x7f61\n"))
	if s.Running || s.Syscall != 202 || s.Args != [2]uint64{0x7f61, 0x80} {
		t.Errorf("futex: %+v", s)
	}
	if s := parseSyscall([]byte("-1 0x7ffc 0x7f61\n")); s.Running || s.Syscall != -1 {
		t.Errorf("blocked elsewhere: %+v", s)
	}
}

// TestAdvice names the exact setting for each reason of a refusal.
func TestAdvice(t *testing.T) {
	ok := Permission{PtraceScope: -1, SameUser: true, Running: true}
	for _, c := range []struct {
		change func(*Permission)
		want   string
	}{
		{func(*Permission) {}, ""},
		{func(p *Permission) { p.Running = false }, "does not exist"},
		{func(p *Permission) { p.Ended = true }, "has ended"},
		{func(p *Permission) { p.Kernel = true }, "kernel thread"},
		{func(p *Permission) { p.SameUser = false }, "another user"},
		{func(p *Permission) { p.PtraceScope = 1 }, "ptrace_scope=0"},
		{func(p *Permission) { p.PtraceScope, p.Descendant = 1, true }, ""},
		{func(p *Permission) { p.PtraceScope = 2 }, "CAP_SYS_PTRACE"},
		{func(p *Permission) { p.PtraceScope = 3 }, "bottleneck run"},
		{func(p *Permission) { p.PtraceScope, p.Capable = 2, true }, ""},
		{func(p *Permission) { p.Capable, p.Seccomp = true, true }, "seccomp"},
		{func(p *Permission) { p.Seccomp = true }, "SYS_PTRACE"},
	} {
		p := ok
		c.change(&p)
		got := p.Advice()
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%+v: %q does not say %q", p, got, c.want)
		}
	}
}

// TestPerfRefused names what to change where the kernel refuses perf events.
func TestPerfRefused(t *testing.T) {
	for err, text := range map[unix.Errno]string{unix.EACCES: "sudo", unix.ENOSYS: "no perf_event_open", unix.ESRCH: ErrGone.Error()} {
		if got := perfError(1, err).Error(); !strings.Contains(got, text) {
			t.Errorf("%v: %q does not say %q", err, got, text)
		}
	}
	if _, err := OpenStackEvent(1 << 30); !errors.Is(err, ErrGone) && !errors.Is(err, ErrNotPermitted) {
		t.Errorf("a thread that does not exist: %v", err)
	}
}

// TestParseSample reads a record of the kernel, and refuses each that is cut.
func TestParseSample(t *testing.T) {
	count := bits.OnesCount64(perfRegisters)
	if count == 0 {
		t.Skip("registers of this processor are not known")
	}
	le := binary.LittleEndian
	b := le.AppendUint64(le.AppendUint64(nil, 77), unix.PERF_SAMPLE_REGS_ABI_64)
	for i := range count {
		b = le.AppendUint64(b, uint64(1000+i))
	}
	b = append(le.AppendUint64(b, 16), bytes.Repeat([]byte{9}, 16)...)
	b = le.AppendUint64(b, 8) // of which so many are the stack
	s, ok := parseSample(b)
	if !ok || s.Time != 77 || len(s.Stack) != 8 || s.PC < 1000 || s.SP < 1000 || s.SP != s.Value[numberSP] {
		t.Errorf("%v %+v", ok, s)
	}
	for n := range b {
		if _, ok := parseSample(b[:n]); ok {
			t.Errorf("a record of %d bytes was taken", n)
		}
	}
}
