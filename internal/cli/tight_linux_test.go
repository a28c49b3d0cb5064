package cli

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Where a limit leaves no room for a launcher, the program runs in its place, as it would alone: its output, its end, its process.
// Of less than five threads the Go runtime may want one more than it gets before any package starts, so that is not asked.
func TestTightLimits(t *testing.T) {
	b := newBench(t)
	self := b.anybodys()
	program := `echo "ran $(readlink /proc/$$/exe)"; test $$ = $1 && ulimit -n; exit 6`
	for _, limit := range []string{"-n 15", "-n 9", "-n 8", "-n 7", "-n 6", "-n 5", "-v 900000", "-v 1000000", "-d 200000", "-u 31",
		"-u 12", "-u 9", "-u 7", "-u 5"} {
		line := func(before string) result {
			cmd := b.exec("setpriv", "--reuid", "65533", "--regid", "65533", "--clear-groups", "bash", "-c",
				fmt.Sprintf(`ulimit %s; exec %s bash -c '%s' x $$`, limit, before, program))
			cmd.Env = append(cmd.Env, "SELF="+self)
			cmd.Dir = filepath.Dir(self)
			return b.finish(cmd)
		}
		if strings.HasPrefix(limit, "-v") && (linksC() || line(`"$SELF" --version; exit; `).code != 0) {
			t.Logf("ulimit %s: the Go runtime itself does not start, or C's stacks take more", limit)
			continue
		}
		want, got := line(""), line(`"$SELF" run --out s --`)
		if want.code != 6 {
			t.Skipf("ulimit %s: the program alone: %+v", limit, want)
		}
		if got.code != want.code || got.stdout != want.stdout || strings.Count(got.stderr, "\n") != 1 {
			t.Errorf("ulimit %s: %+v, without bottleneck %+v", limit, got, want)
		}
		expect(t, limit, got.stderr, "bottleneck: nothing is measured, the program runs all the same", "(ulimit "+limit[:2]+")")
		b.mustNotExist(filepath.Join(filepath.Dir(self), "s"))
	}
}

// linksC says whether this test binary, unlike bottleneck, is linked with C.
func linksC() bool {
	maps, err := os.ReadFile("/proc/self/maps")
	return err != nil || strings.Contains(string(maps), "/libc.so")
}

// anybodys is a copy of this test binary, bottleneck, that every user may run, in a directory that the user 65533 may write.
func (b *bench) anybodys() string {
	b.t.Helper()
	if out, err := exec.Command("setpriv", "--reuid", "65533", "--regid", "65533", "--clear-groups", "bash", "-c",
		"ulimit -u 100").CombinedOutput(); err != nil {
		b.t.Skipf("no other user can be played here: %v %s", err, out)
	}
	dir, err := os.MkdirTemp("/tmp", "bottleneck-tight-")
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { os.RemoveAll(dir) })
	text, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		b.t.Fatal(err)
	}
	self := filepath.Join(dir, "bottleneck")
	for _, err := range []error{os.Chmod(dir, 0o755), os.Chown(dir, 65533, 65533), os.WriteFile(self, text, 0o755), os.Chmod(self, 0o755)} {
		if err != nil {
			b.t.Fatal(err)
		}
	}
	return self
}
