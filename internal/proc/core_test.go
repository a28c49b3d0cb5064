package proc

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// smallCore makes a core of one page of memory at 0x1000, one mapped file and two threads.
func smallCore(file string) []byte {
	le := binary.LittleEndian
	note := func(kind uint32, d []byte) []byte {
		out := le.AppendUint32(le.AppendUint32(le.AppendUint32(nil, 5), uint32(len(d))), kind)
		out = append(append(out, "CORE\x00\x00\x00\x00"...), d...)
		return append(out, make([]byte, -len(out)&3)...)
	}
	status := func(tid uint32) []byte {
		d := make([]byte, 336)
		le.PutUint32(d[statusPID:], tid)
		return note(noteStatus, d)
	}
	info := make([]byte, infoEnd)
	le.PutUint32(info[infoPID:], 77)
	copy(info[infoName:], "python3")
	copy(info[infoArgs:], "python3 train.py ")
	mapped := le.AppendUint64(le.AppendUint64(nil, 1), 4096)
	for _, w := range []uint64{0x1800, 0x4000, 0} {
		mapped = le.AppendUint64(mapped, w)
	}
	mapped = append(append(mapped, file...), 0)
	notes := append(append(append(status(77), note(noteInfo, info)...), status(78)...), note(noteFiles, mapped)...)
	memory := bytes.Repeat([]byte{0xab}, 0x1000)

	b := []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00")
	b = le.AppendUint16(le.AppendUint16(b, 4), 62) // ET_CORE, x86-64
	b = le.AppendUint32(b, 1)
	for _, w := range []uint64{0, 64, 0} { // entry, program headers, sections
		b = le.AppendUint64(b, w)
	}
	b = le.AppendUint32(b, 0)
	for _, h := range []uint16{64, 56, 2, 64, 0, 0} {
		b = le.AppendUint16(b, h)
	}
	segment := func(kind uint32, off, addr, size uint64) {
		b = le.AppendUint32(le.AppendUint32(b, kind), 4)
		for _, w := range []uint64{off, addr, 0, size, size, 1} {
			b = le.AppendUint64(b, w)
		}
	}
	segment(4, 64+2*56, 0, uint64(len(notes)))
	segment(1, 64+2*56+uint64(len(notes)), 0x1000, 0x1000)
	return append(append(b, notes...), memory...)
}

// TestCore reads memory of the core, of a mapped file behind it, and across both.
func TestCore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "lib\u00e9.so")
	text := bytes.Repeat([]byte("0123456789abcdef"), 1024)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	c, err := ReadCore(bytes.NewReader(smallCore(file)))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.PID != 77 || c.Command != "python3 train.py" || len(c.Threads) != 2 || c.Threads[1] != 78 || len(c.Maps) != 2 {
		t.Errorf("%+v", c)
	}
	b := make([]byte, 16)
	if err := c.Read(0x1ff8, b); err != nil || b[7] != 0xab || !bytes.Equal(b[8:], text[0x800:0x808]) {
		t.Errorf("%x, %v", b, err)
	}
	for _, at := range []uint64{0, 0x0ff8, 0x3ff8, ^uint64(0) - 3} {
		if err := c.Read(at, b); !errors.Is(err, ErrUnreadable) {
			t.Errorf("%#x: %v", at, err)
		}
	}
	if n, err := c.ReadMany([]Range{{0x1000, b}, {0x9000, b}, {0x1000, b}}); n != 1 || err != nil {
		t.Errorf("%d, %v", n, err)
	}
}

// TestNoCore refuses what is no core, by what it is.
func TestNoCore(t *testing.T) {
	self, _ := os.Executable()
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no core"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{self, text} {
		if _, err := OpenCore(path); !errors.Is(err, ErrNoCore) {
			t.Errorf("%s: %v", path, err)
		}
	}
	if _, err := OpenCore(text + "-missing"); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

// FuzzCore reads damaged cores: an error or a memory, never a panic.
func FuzzCore(f *testing.F) {
	whole := smallCore("/proc/self/exe")
	f.Add(whole)
	for _, n := range []int{64, 120, 176, 400, 2000} {
		f.Add(whole[:min(n, len(whole))])
	}
	f.Fuzz(func(_ *testing.T, b []byte) {
		c, err := ReadCore(bytes.NewReader(b))
		if err != nil {
			return
		}
		defer c.Close()
		_ = c.Exe()
		buf := make([]byte, 64)
		for _, at := range []uint64{0, 0x1000, 0x1ff0, ^uint64(0)} {
			_ = c.Read(at, buf)
		}
		for _, m := range c.Maps[:min(len(c.Maps), 8)] {
			_ = c.Read(m.End-8, buf)
		}
	})
}
