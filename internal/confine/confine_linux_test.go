package confine

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// asChild makes the test binary the process that gives up its rights: a test cannot get them back.
const asChild = "BNECK_TEST_CONFINE"

func TestMain(m *testing.M) {
	if dir := os.Getenv(asChild); dir != "" {
		child(dir)
		return
	}
	os.Exit(m.Run())
}

// child says of each thing that it tries whether it could.
func child(dir string) {
	before := make(chan struct{})
	asked := make(chan func())
	go func() { // on a thread that runs before
		close(before)
		for f := range asked {
			f()
		}
	}()
	<-before
	if os.Getenv(asChild+"_FREE") == "" {
		if err := Apply(Access{Read: []string{dir + "/in", dir + "/one.txt", dir + "/missing"},
			Write: []string{dir + "/out"}}); err != nil {
			fmt.Println("error", err)
		}
	}
	for name, try := range attempts(dir) {
		done := make(chan struct{})
		asked <- func() { fmt.Println(name, try() == nil); close(done) }
		<-done
		fmt.Println(name+" here", try() == nil)
	}
}

func attempts(dir string) map[string]func() error {
	read := func(path string) func() error {
		return func() error { _, err := os.ReadFile(path); return err }
	}
	write := func(path string) func() error {
		return func() error { return os.WriteFile(path, []byte("x"), 0o600) }
	}
	return map[string]func() error{
		"read what is named":  read(dir + "/one.txt"),
		"read below":          read(dir + "/in/below/two.txt"),
		"read /etc/passwd":    read("/etc/passwd"),
		"read beside":         read(dir + "/beside.txt"),
		"read through a link": read(dir + "/in/link"),
		"list elsewhere":      func() error { _, err := os.ReadDir("/etc"); return err },
		"write what is named": write(dir + "/out/x"),
		"replace": func() error {
			return errors.Join(write(dir+"/out/new")(), os.Rename(dir+"/out/new", dir+"/out/old"))
		},
		"write into what is read":      write(dir + "/in/x"),
		"write elsewhere":              write(dir + "/x"),
		"remove elsewhere":             func() error { return os.Remove(dir + "/spare.txt") },
		"link":                         func() error { return os.Symlink("/etc", dir+"/out/etc") },
		"run a program":                func() error { return exec.Command("/bin/true").Run() },
		"connect":                      func() error { _, err := net.Dial("udp", "127.0.0.1:9"); return err },
		"open a socket":                func() error { _, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0); return err },
		"open a socket of this system": func() error { _, err := syscall.Socket(syscall.AF_UNIX, syscall.SOCK_STREAM, 0); return err },
		"read a process's memory": func() error {
			var word [8]byte
			local := []unix.Iovec{{Base: &word[0], Len: 8}}
			_, err := unix.ProcessVMReadv(os.Getpid(), local, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&word[0])), Len: 8}}, 0)
			return err
		},
	}
}

// tried runs the child and gives what it could do.
func tried(t *testing.T, env ...string) map[string]string {
	t.Helper()
	dir := t.TempDir()
	for _, name := range []string{"in/below", "out"} {
		if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"one.txt", "beside.txt", "spare.txt", "in/below/two.txt"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(name), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "in", "link")); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(append(os.Environ(), asChild+"="+dir), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	could := map[string]string{}
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		at := strings.LastIndex(line, " ")
		could[line[:max(0, at)]] = line[at+1:]
	}
	return could
}

// A process that has given up its rights reads and writes what was named and nothing else, on threads that ran before too; the same
// process without it can do all of it, so that the refusals are this package's.
func TestOnlyWhatIsNamed(t *testing.T) {
	enforced := Enforced()
	if !enforced.Files || !enforced.Programs {
		t.Skipf("this kernel cannot enforce it: %+v", enforced)
	}
	may := map[string]bool{"read what is named": true, "read below": true, "write what is named": true, "replace": true}
	confined, free := tried(t), tried(t, asChild+"_FREE=1")
	for name := range attempts("") {
		for _, where := range []string{"", " here"} {
			if got := confined[name+where]; got != fmt.Sprint(may[name]) {
				t.Errorf("%s%s: could %s, want %v", name, where, got, may[name])
			}
		}
		if free[name] != "true" && free[name+" here"] != "true" {
			t.Errorf("%s: not even without: %v; this test would show nothing", name, free[name])
		}
	}
	if confined["error"] != "" {
		t.Errorf("error: %v", confined)
	}
}

// The filter holds on every architecture that is released.
func TestFilterIsComplete(t *testing.T) {
	p := policy()
	if _, err := p.Assemble(); err != nil {
		t.Fatal(err)
	}
}
