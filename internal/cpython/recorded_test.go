package cpython_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"bottleneck/internal/cpython"
	"bottleneck/internal/proc"
)

var update = flag.Bool("update", false, "record the memory of the interpreters of this machine again")

const recordedSuffix = ".memory.txt"

// recordMemory writes what a reader reads of shapes.py at rest, and the stacks that it found.
func recordMemory(t *testing.T, version, python string) {
	cmd := start(t, python, "testdata/shapes.py")
	live := proc.OpenMemory(cmd.Process.Pid)
	in, err := cpython.Find(cmd.Process.Pid, live)
	if err != nil {
		t.Fatal(err)
	}
	r := cpython.NewReader(in, live, 100)
	var s cpython.Snapshot
	checkShapes(t, r, &s, marks(t, "testdata/shapes.py"), "testdata/shapes.py", in.Layout.Minor)
	waitStill(t, r, &s)
	rec := &proc.Recorder{Of: live}
	got := atRest(t, rec, in)
	var out bytes.Buffer
	fmt.Fprintf(&out, "# CPython %s at rest in shapes.py\n# runtime %x %d %d\n", in.Version, in.Runtime, in.Layout.Major, in.Layout.Minor)
	for _, st := range got {
		fmt.Fprintf(&out, "# stack %s\n", st)
	}
	if _, err := rec.Kept.WriteTo(&out); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("testdata", version+recordedSuffix), out.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
}

// atRest reads a process at rest a few times through a memory.
func atRest(t *testing.T, mem proc.Memory, in *cpython.Interpreter) []string {
	t.Helper()
	at, err := cpython.At(mem, in.Runtime, uint32(in.Layout.Major)<<24|uint32(in.Layout.Minor)<<16)
	if err != nil {
		t.Fatal(err)
	}
	r := cpython.NewReader(at, mem, 100)
	var s cpython.Snapshot
	for range 3 {
		if err := r.Take(&s); err != nil {
			t.Fatal(err)
		}
	}
	return stacks(&s, "shapes.py")
}

// recording is a recorded memory with what is known of it.
type recording struct {
	name         string
	mem          *proc.Recorded
	runtime      uint64
	major, minor int
	stacks       []string
}

func recordings(t testing.TB) []recording {
	t.Helper()
	paths, _ := filepath.Glob("testdata/*" + recordedSuffix)
	if len(paths) == 0 {
		t.Fatal("no recorded memory in testdata")
	}
	var out []recording
	for _, p := range paths {
		b, err := os.ReadFile(p)
		if err != nil {
			t.Fatal(err)
		}
		r := recording{name: strings.TrimSuffix(filepath.Base(p), recordedSuffix)}
		for _, l := range strings.Split(string(b), "\n") {
			if rest, ok := strings.CutPrefix(l, "# stack "); ok {
				r.stacks = append(r.stacks, rest)
			}
			if rest, ok := strings.CutPrefix(l, "# runtime "); ok {
				if _, err := fmt.Sscanf(rest, "%x %d %d", &r.runtime, &r.major, &r.minor); err != nil {
					t.Fatalf("%s: %v", p, err)
				}
			}
		}
		if r.mem, err = proc.ParseRecorded(bytes.NewReader(b)); err != nil {
			t.Fatalf("%s: %v", p, err)
		}
		out = append(out, r)
	}
	return out
}

func (r *recording) open(mem proc.Memory) (*cpython.Reader, error) {
	in, err := cpython.At(mem, r.runtime, uint32(r.major)<<24|uint32(r.minor)<<16)
	if err != nil {
		return nil, err
	}
	return cpython.NewReader(in, mem, 100), nil
}

// TestRecorded reads the recorded memory of each minor version: no interpreter is needed.
func TestRecorded(t *testing.T) {
	if *update {
		for version, python := range interpreters(t) {
			if !strings.HasSuffix(version, "-system") {
				recordMemory(t, version, python)
			}
		}
	}
	for _, rec := range recordings(t) {
		t.Run(rec.name, func(t *testing.T) {
			r, err := rec.open(rec.mem)
			if err != nil {
				t.Fatal(err)
			}
			var s cpython.Snapshot
			for range 3 {
				if err := r.Take(&s); err != nil {
					t.Fatal(err)
				}
			}
			if got := stacks(&s, "shapes.py"); strings.Join(got, "\n") != strings.Join(rec.stacks, "\n") {
				t.Errorf("stacks\n got %s\nwant %s", strings.Join(got, "\n     "), strings.Join(rec.stacks, "\n     "))
			}
		})
	}
}

// TestHiddenTable shows that versions with debug offsets need no table: the recorded 3.13 reads without its version.
func TestHiddenTable(t *testing.T) {
	for _, rec := range recordings(t) {
		if rec.minor < 13 {
			continue
		}
		in, err := cpython.At(rec.mem, rec.runtime, 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := cpython.LayoutOf(3, rec.minor); !errors.Is(err, cpython.ErrVersion) {
			t.Errorf("3.%d has a row in the table", rec.minor)
		}
		if in.Layout.Minor != rec.minor {
			t.Errorf("found 3.%d, want 3.%d", in.Layout.Minor, rec.minor)
		}
	}
}

// damaged is a memory in which some words are others.
type damaged struct {
	of    proc.Memory
	seed  uint64
	every uint64 // one word in so many is damaged
}

// Read implements proc.Memory.
func (d *damaged) Read(addr uint64, buf []byte) error {
	if err := d.of.Read(addr, buf); err != nil {
		return err
	}
	for i := range buf {
		at := addr + uint64(i)
		if r := rand.New(rand.NewPCG(at/8, d.seed)); r.Uint64()%d.every == 0 {
			var w [8]byte
			binary.LittleEndian.PutUint64(w[:], []uint64{0, 1, r.Uint64(), addr, 1 << 62, at ^ 8, ^uint64(0)}[r.Uint64()%7])
			buf[i] = w[at%8]
		}
	}
	return nil
}

// ReadMany implements proc.Memory.
func (d *damaged) ReadMany(ranges []proc.Range) (int, error) {
	for i, g := range ranges {
		if d.Read(g.Addr, g.Buf) != nil {
			return i, nil
		}
	}
	return len(ranges), nil
}

// readAll goes through everything that reads memory; only panics and endless loops are failures.
func readAll(rec *recording, mem proc.Memory) {
	r, err := rec.open(mem)
	if err != nil {
		return
	}
	var s cpython.Snapshot
	for range 3 {
		if r.Take(&s) != nil {
			return
		}
		for _, th := range s.Threads {
			for i := range th.Frames {
				_ = th.Frames[i].Line()
				_, _ = r.Locals(th.Addr, i)
			}
		}
		_, _ = r.ThreadNames()
		_, _ = r.Tasks()
	}
}

// TestDamagedMemory damages the recorded memories in thousands of ways.
func TestDamagedMemory(t *testing.T) {
	rounds := uint64(60)
	if testing.Short() {
		rounds = 10
	}
	for _, rec := range recordings(t) {
		for seed := range rounds {
			readAll(&rec, &damaged{rec.mem, seed, []uint64{5, 50, 500, 5000}[seed%4]})
		}
	}
}

// garbage answers every address with words that often are addresses again.
type garbage struct {
	seed uint64
	head []byte // what lies at the runtime
	at   uint64
}

// Read implements proc.Memory.
func (g *garbage) Read(addr uint64, buf []byte) error {
	for i := range buf {
		at := addr + uint64(i)
		if at-g.at < uint64(len(g.head)) {
			buf[i] = g.head[at-g.at]
			continue
		}
		r := rand.New(rand.NewPCG(at/8, g.seed))
		var w [8]byte
		binary.LittleEndian.PutUint64(w[:], []uint64{0, 7, r.Uint64() % 1e6 * 8, 0x1000 + r.Uint64()%64*8, r.Uint64()}[r.Uint64()%5])
		buf[i] = w[at%8]
	}
	return nil
}

// ReadMany implements proc.Memory.
func (g *garbage) ReadMany(ranges []proc.Range) (int, error) {
	for _, x := range ranges {
		_ = g.Read(x.Addr, x.Buf)
	}
	return len(ranges), nil
}

// FuzzGarbage reads a process in which every address is readable and means nothing.
func FuzzGarbage(f *testing.F) {
	for minor := uint8(8); minor <= 15; minor++ {
		f.Add(uint64(minor), minor, []byte("xdebugpy"))
	}
	f.Fuzz(func(_ *testing.T, seed uint64, minor uint8, head []byte) {
		if len(head) > 2048 {
			return
		}
		rec := recording{runtime: 0x1000, major: 3, minor: int(minor)}
		readAll(&rec, &garbage{seed: seed, head: head, at: 0x1000})
	})
}
