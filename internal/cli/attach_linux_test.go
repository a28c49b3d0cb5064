package cli

import (
	"bufio"
	"os"
	"strconv"
	"strings"
	"testing"
)

// recordedThenEnds computes until samples of it have been written below the directory that it is given, and ends.
const recordedThenEnds = `import glob, os, sys
print("ready", flush=True)
def work():
    while not any(os.path.getsize(f) for f in glob.glob(sys.argv[1] + "/launcher-*/samples.pb.zst")):
        sum(range(20000))
work()
`

// TestAttachSaysThatTheProcessEnded: a recording that is shorter than --duration says so, and when it came to its end.
func TestAttachSaysThatTheProcessEnded(t *testing.T) {
	b := newBench(t)
	program := b.exec(python, b.file("work.py", recordedThenEnds), "out")
	out, err := program.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := program.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Process.Kill(); _ = program.Wait() })
	if lines := bufio.NewScanner(out); !lines.Scan() {
		t.Fatal(lines.Err())
	}
	got := b.run("", "attach", "--duration", "1h", "--out", "out", "--json", "out.json", strconv.Itoa(program.Process.Pid))
	if got.code != 0 {
		t.Fatalf("%+v", got)
	}
	said := "process " + strconv.Itoa(program.Process.Pid) + " ended at "
	expect(t, "the report", strings.Join(strings.Fields(got.stdout), " "), said, " s after the recording had begun; --duration was 1h")
	document, err := os.ReadFile(b.dir + "/out.json")
	if err != nil {
		t.Fatal(err)
	}
	expect(t, "the document", string(document), said)
}
