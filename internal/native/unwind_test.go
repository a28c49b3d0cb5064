package native

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"runtime"
	"testing"

	"bottleneck/internal/proc"
)

// The unwind table of the tests: one function at 0x1000 that pushes its frame pointer and takes it over, as compilers
// write it, and one at 0x2000 whose return address is nowhere: where a thread begins.
var (
	testEntry = []byte{
		0, 0, 0, 0, // id of a common entry
		1, 'z', 'R', 0, // version, augmentation
		1, 0x78, 16, // code and data alignment (1, -8), column of the return address
		1, 0, // augmentation data: absolute pointers
		0x0c, 7, 8, // CFA = rsp+8
		0x90, 1, // return address at CFA-8
		0, 0,
	}
	pushing  = []byte{0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6} // 1: CFA = rsp+16, rbp at CFA-16; 4: CFA by rbp
	thatEnds = []byte{0x07, 16}                               // the return address is undefined
)

// testImage lays an image out in recorded memory at 0x400000.
func testImage(t testing.TB) (*proc.Recorded, proc.Maps) {
	t.Helper()
	le := binary.LittleEndian
	const base, frames, table = 0x400000, 0x3000, 0x4000
	mem := &proc.Recorded{}
	head := make([]byte, 64+2*56)
	copy(head, "\x7fELF\x02\x01\x01")
	le.PutUint64(head[32:], 64)
	le.PutUint16(head[54:], 56)
	le.PutUint16(head[56:], 2)
	le.PutUint32(head[64:], 1)
	le.PutUint32(head[64+56:], 0x6474e550)
	le.PutUint64(head[64+56+16:], table)
	mem.Add(base, head)
	var section []byte
	add := func(body []byte) (at uint64) {
		at = base + frames + uint64(len(section))
		section = le.AppendUint32(section, uint32(len(body)))
		section = append(section, body...)
		return at
	}
	common := add(testEntry)
	function := func(from, size uint64, code []byte) uint64 {
		at := base + frames + uint64(len(section)) + 4
		body := le.AppendUint32(nil, uint32(at-common))
		body = le.AppendUint64(le.AppendUint64(body, from), size)
		return add(append(append(body, 0), code...))
	}
	first := function(base+0x1000, 0x100, pushing)
	second := function(base+0x2000, 0x100, thatEnds)
	mem.Add(base+frames, section)
	rows := []byte{1, 0x1b, 3, 0x3b, 0, 0, 0, 0, 2, 0, 0, 0}
	for _, r := range [][2]uint64{{base + 0x1000, first}, {base + 0x2000, second}} {
		rows = le.AppendUint32(rows, uint32(r[0]-(base+table)))
		rows = le.AppendUint32(rows, uint32(r[1]-(base+table)))
	}
	mem.Add(base+table, rows)
	mem.Add(base+table+uint64(len(rows)), make([]byte, 64))
	return mem, proc.Maps{{Start: base, End: base + 0x5000, Read: true, Exec: true, Path: "/lib/libtest.so", Inode: 7}}
}

func testUnwinder(t testing.TB, mem proc.Memory, maps proc.Maps) *Unwinder {
	t.Helper()
	if runtime.GOARCH != "amd64" {
		t.Skip("the table of the test is of x86-64")
	}
	u, err := NewUnwinder(mem, func() (proc.Maps, error) { return maps, nil },
		func(proc.Mapping) (*Symbols, error) { return nil, ErrNoSymbols })
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// stackWords puts words on a stack at 0x7000.
func stackWords(mem *proc.Recorded, words ...uint64) {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	mem.Add(0x7000, b)
}

// TestStack unwinds through the pushing function at each of its three stages, to the function where a thread begins.
func TestStack(t *testing.T) {
	for name, c := range map[string]struct {
		offset uint64
		words  []uint64
		fp     uint64
	}{
		"before the push": {0, []uint64{0x402010}, 0},
		"behind the push": {1, []uint64{0x7777, 0x402010}, 0},
		"by the pointer":  {9, []uint64{1, 2, 3, 0x7777, 0x402010}, 0x7018},
	} {
		t.Run(name, func(t *testing.T) {
			mem, maps := testImage(t)
			stackWords(mem, c.words...)
			r := At(0x7000, 0x401000+c.offset)
			if c.fp != 0 {
				r.Set(6, c.fp)
			}
			places, end := testUnwinder(t, mem, maps).Stack(r, mem)
			if len(places) != 2 || places[1] != (Place{0x402010, true}) || end != EndStart {
				t.Errorf("%v, end %d", places, end)
			}
		})
	}
}

// TestStackCut says why a stack ends, and takes nothing for a return address that is not known to be one.
func TestStackCut(t *testing.T) {
	for name, c := range map[string]struct {
		pc    uint64
		words []uint64
		want  End
		depth int
	}{
		"a frame pointer that is not known": {0x401009, []uint64{1, 2, 3, 0x7777, 0x402010, 0, 0}, EndRegister, 1},
		"a place without a table":           {0x404f00, []uint64{0x402010}, EndNoTable, 1},
		"a place that is not mapped":        {0x900000, []uint64{0x402010}, EndNoTable, 1},
		"a stack that ends":                 {0x401001, []uint64{0x7777}, EndMemory, 1},
		"a caller that is nowhere":          {0x401000, []uint64{0}, EndStart, 1},
	} {
		t.Run(name, func(t *testing.T) {
			mem, maps := testImage(t)
			stackWords(mem, c.words...)
			places, end := testUnwinder(t, mem, maps).Stack(At(0x7000, c.pc), mem)
			if len(places) != c.depth || end != c.want {
				t.Errorf("%v, end %d (%s), want %d", places, end, end, c.want)
			}
		})
	}
}

// TestRefresh forgets a library that is not mapped any more.
func TestRefresh(t *testing.T) {
	mem, maps := testImage(t)
	stackWords(mem, 0x402010)
	u := testUnwinder(t, mem, maps)
	now := maps
	u.remap = func() (proc.Maps, error) { return now, nil }
	if _, end := u.Stack(At(0x7000, 0x401000), mem); end != EndStart || u.Stale() {
		t.Fatalf("end %d, stale %v", end, u.Stale())
	}
	now = nil
	if err := u.Refresh(); err != nil {
		t.Fatal(err)
	}
	if _, end := u.Stack(At(0x7000, 0x401000), mem); end != EndNoTable || !u.Stale() {
		t.Errorf("end %d, stale %v", end, u.Stale())
	}
	u.remap = func() (proc.Maps, error) { return nil, proc.ErrGone }
	if err := u.Refresh(); !errors.Is(err, proc.ErrGone) {
		t.Errorf("%v", err)
	}
}

// TestExpression works out the expression that linkers write for stubs: the frame is 8 bytes larger behind their push.
func TestExpression(t *testing.T) {
	stub := []byte{0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22} // rsp+8 + ((rip & 15) >= 11) << 3
	for pc, want := range map[uint64]uint64{0x400006: 0x7008, 0x40000b: 0x7010} {
		r := At(0x7000, pc)
		r.Set(16, pc)
		if got, ok := evaluate(stub, &r, &proc.Recorded{}); !ok || got != want {
			t.Errorf("at %#x: %#x %v, want %#x", pc, got, ok, want)
		}
	}
	endless := []byte{0x30, 0x2f, 0xfc, 0xff} // push 0, jump back to it
	r := At(0, 0)
	if v, ok := evaluate(endless, &r, &proc.Recorded{}); ok {
		t.Errorf("an expression without an end gave %d", v)
	}
}

// TestSymbols reads the functions of this very test, and names a place within one.
func TestSymbols(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("this system's programs are no ELF files")
	}
	f, err := os.Open("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s, err := ReadSymbols(f); err == nil {
		for i, y := range s.list {
			if i%100 == 0 && y.size > 2 && s.Find(y.value+1) == "" {
				t.Errorf("no name at %#x, %d bytes", y.value, y.size)
			}
		}
	} else if !errors.Is(err, ErrNoSymbols) {
		t.Error(err)
	}
	for symbol, want := range map[string]string{
		"_ZN2at6native6matmulERKNS_6TensorES3_": "at::native::matmul", "dgemm_kernel.cold": "dgemm_kernel", "main": "main",
		"_ZN3c104implL3fooIiEEvT_": "c10::impl::foo",
	} {
		if got := Readable(symbol); got != want {
			t.Errorf("%s is %q, want %q", symbol, got, want)
		}
	}
}

// FuzzStack unwinds in memory full of garbage: it must end, and within its caps.
func FuzzStack(f *testing.F) {
	f.Add([]byte{0x41, 0x0e, 16}, uint64(0x401000), []byte{1, 0x1b, 3, 0x3b})
	f.Add(bytes.Repeat([]byte{0x0a}, 100), uint64(0x401004), []byte{})
	f.Add([]byte{0x0f, 4, 0x30, 0x2f, 0xfc, 0xff}, uint64(0x401001), []byte{})
	f.Fuzz(func(t *testing.T, garbage []byte, pc uint64, head []byte) {
		mem, maps := testImage(t)
		mem.Add(0x403000+21+4+8+17, garbage) // over the first function's program and what follows
		mem.Add(0x404000, head)
		stackWords(mem, 0x402010, 0x7000, 0x401005, 0x7008, 0x401005)
		r := At(0x7000, pc)
		r.Set(6, 0x7008)
		u := testUnwinder(t, mem, maps)
		places, _ := u.Stack(r, mem)
		if len(places) == 0 || len(places) > maxFrames {
			t.Errorf("%d places", len(places))
		}
		for _, p := range places {
			u.Frame(p)
		}
	})
}

// TestNames gives places within one function of a file without symbols one name, and says of a place in nothing that was
// mapped that its library came later.
func TestNames(t *testing.T) {
	mem, maps := testImage(t)
	maps = append(maps, proc.Mapping{Start: 0x800000, End: 0x801000, Read: true, Exec: true})
	u := testUnwinder(t, mem, maps)
	for pc, want := range map[uint64]string{
		0x401000: "libtest.so+0x1000", 0x4010f0: "libtest.so+0x1000", 0x402010: "libtest.so+0x2000",
		0x404f00: "libtest.so+0x4f00", // the table does not know it
		0x800010: "code made at run time", 0x900000: "library loaded lately",
	} {
		if got := u.Frame(Place{PC: pc}).Name(); got != want {
			t.Errorf("at %#x: %q, want %q", pc, got, want)
		}
	}
}
