package proc

import (
	"bytes"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"sort"
	"strings"
)

// Caps of what is read of a core file.
const (
	maxCoreNotes    = 64 << 20 // bytes of its notes
	maxCoreThreads  = 1 << 16
	maxCoreSegments = 1 << 17
	maxCoreFiles    = 64 // that are open at once
)

// ErrNoCore says that a file is not a 64-bit ELF core file.
var ErrNoCore = errors.New("not a 64-bit ELF core file")

// Notes of a core file (Linux include/uapi/linux/elf.h); offsets within them are those of 64-bit machines.
const (
	noteStatus, noteInfo, noteFiles = 1, 3, 0x46494c45
	statusPID                       = 32
	infoPID, infoPPID               = 24, 28
	infoName, infoArgs, infoEnd     = 40, 56, 136
)

// Core is the memory of a process as it ended, from an ELF core file (as the kernel or gcore writes it). What the core
// leaves out, because it is in a file that was mapped for reading, is read from that file, where that is still there.
type Core struct {
	PID, PPID int
	Command   string // the first 80 bytes of its arguments
	Threads   []int  // native thread ids, in the core's order
	Maps      Maps
	// Root is put before the paths of mapped files: where the files of a container lie; "" for this machine's own.
	Root     string
	name     string // of the program, at most 15 bytes
	f        io.ReaderAt
	close    func() error
	segments []coreSegment
	files    map[string]*os.File
}

type coreSegment struct {
	addr, size uint64 // size of what the core holds of it
	offset     int64
}

// OpenCore opens a core file and reads its notes.
func OpenCore(file string) (*Core, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, fmt.Errorf("core file: %w", err)
	}
	c, err := ReadCore(f)
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("core file %s: %w", file, err)
	}
	c.close = f.Close
	return c, nil
}

// ReadCore reads the notes of a core that is open.
func ReadCore(r io.ReaderAt) (*Core, error) {
	c := &Core{f: r, files: map[string]*os.File{}, close: func() error { return nil }}
	return c, c.load()
}

// Close closes the core and the files that were opened for it.
func (c *Core) Close() error {
	for _, f := range c.files {
		if f != nil {
			f.Close()
		}
	}
	return c.close()
}

func (c *Core) load() error {
	e, err := elf.NewFile(c.f)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoCore, err)
	}
	if e.Type != elf.ET_CORE || e.Class != elf.ELFCLASS64 || e.ByteOrder != binary.LittleEndian {
		return ErrNoCore
	}
	notes := 0
	for _, p := range e.Progs {
		switch p.Type {
		case elf.PT_LOAD:
			if len(c.segments) < maxCoreSegments {
				c.segment(p.ProgHeader)
			}
		case elf.PT_NOTE:
			raw, _ := io.ReadAll(io.LimitReader(p.Open(), maxCoreNotes)) // a core that was cut off keeps what it has
			if notes += len(raw); notes > maxCoreNotes {
				return fmt.Errorf("notes of more than %d bytes", maxCoreNotes)
			}
			c.notes(raw)
		}
	}
	sort.Slice(c.segments, func(i, j int) bool { return c.segments[i].addr < c.segments[j].addr })
	c.addAnonymous()
	return nil
}

func (c *Core) segment(p elf.ProgHeader) {
	if p.Filesz > 0 && p.Vaddr+p.Filesz > p.Vaddr && p.Off < 1<<62 {
		c.segments = append(c.segments, coreSegment{p.Vaddr, p.Filesz, int64(p.Off)})
	}
}

// notes goes through "name size, size, type, name, data", each padded to four bytes.
func (c *Core) notes(b []byte) {
	le := binary.LittleEndian
	for len(b) >= 12 {
		name, size, kind := uint64(le.Uint32(b)), uint64(le.Uint32(b[4:])), le.Uint32(b[8:])
		from := 12 + (name+3)&^3
		to := from + (size+3)&^3
		if to > uint64(len(b)) {
			return
		}
		d := b[from : from+size]
		switch {
		case kind == noteStatus && len(d) >= statusPID+4 && len(c.Threads) < maxCoreThreads:
			c.Threads = append(c.Threads, int(le.Uint32(d[statusPID:])))
		case kind == noteInfo && len(d) >= infoEnd:
			c.PID, c.PPID = int(le.Uint32(d[infoPID:])), int(le.Uint32(d[infoPPID:]))
			c.name, c.Command = untilNul(d[infoName:infoArgs]), strings.TrimSpace(untilNul(d[infoArgs:infoEnd]))
		case kind == noteFiles:
			c.mapped(d)
		}
		b = b[to:]
	}
}

func untilNul(b []byte) string {
	text, _, _ := bytes.Cut(b, []byte{0})
	return string(text)
}

// mapped reads NT_FILE: count and page size, then (start, end, offset in pages) of each mapping, then the paths.
func (c *Core) mapped(d []byte) {
	le := binary.LittleEndian
	if len(d) < 16 {
		return
	}
	count, page := le.Uint64(d), le.Uint64(d[8:])
	if count > maxMaps || 16+24*count > uint64(len(d)) {
		return
	}
	names := bytes.Split(d[16+24*count:], []byte{0})
	for i := range min(int(count), len(names)) {
		at := d[16+24*i:]
		m := Mapping{Start: le.Uint64(at), End: le.Uint64(at[8:]), Offset: le.Uint64(at[16:]) * page, Read: true,
			Path: string(names[i])}
		if m.Start < m.End {
			m.Path, m.Deleted = strings.CutSuffix(m.Path, " (deleted)")
			c.Maps = append(c.Maps, m)
		}
	}
}

// addAnonymous adds what is no file to the mappings.
func (c *Core) addAnonymous() {
	sort.Slice(c.Maps, func(i, j int) bool { return c.Maps[i].Start < c.Maps[j].Start })
	named := c.Maps
	for _, s := range c.segments {
		if _, there := named.Find(s.addr); !there {
			c.Maps = append(c.Maps, Mapping{Start: s.addr, End: s.addr + s.size, Read: true})
		}
	}
	sort.Slice(c.Maps, func(i, j int) bool { return c.Maps[i].Start < c.Maps[j].Start })
}

// Exe is the path of the executable as it was mapped, by the program's name; "" where no mapping has it.
func (c *Core) Exe() string {
	for _, m := range c.Maps {
		if base := path.Base(m.Path); m.Path != "" && c.name != "" &&
			(base == c.name || len(c.name) == 15 && strings.HasPrefix(base, c.name)) {
			return m.Path
		}
	}
	return ""
}

// Binary opens the file behind a mapping, by its path below the root.
func (c *Core) Binary(m Mapping, names, sections []string) (*Binary, error) {
	b, err := openBinaryFile(path.Join(c.Root, m.Path), names, sections)
	if err != nil {
		return nil, fmt.Errorf("binary %s of the core: %w", m.Path, err)
	}
	b.Path = m.Path
	return b, nil
}

// Read implements Memory; a range may span segments that touch.
func (c *Core) Read(addr uint64, buf []byte) error {
	for len(buf) > 0 {
		n := c.part(addr, buf)
		if n == 0 {
			return fmt.Errorf("core at %#x: %w", addr, ErrUnreadable)
		}
		addr, buf = addr+uint64(n), buf[n:]
	}
	return nil
}

// part reads the leading bytes that one segment or one file holds.
func (c *Core) part(addr uint64, buf []byte) int {
	i := sort.Search(len(c.segments), func(i int) bool { return c.segments[i].addr > addr }) - 1
	if i >= 0 && addr-c.segments[i].addr < c.segments[i].size {
		s := c.segments[i]
		want := min(uint64(len(buf)), s.size-(addr-s.addr))
		n, _ := c.f.ReadAt(buf[:want], s.offset+int64(addr-s.addr))
		return n
	}
	m, ok := c.Maps.Find(addr)
	if !ok || m.Path == "" || m.Path[0] != '/' {
		return 0
	}
	want := min(uint64(len(buf)), m.End-addr)
	if i+1 < len(c.segments) { // where the core goes on, it counts
		want = min(want, c.segments[i+1].addr-addr)
	}
	f := c.file(path.Join(c.Root, m.Path))
	if f == nil {
		return 0
	}
	n, _ := f.ReadAt(buf[:want], int64(m.Offset+(addr-m.Start)))
	return n
}

// file opens a mapped file; nil where there is none any more.
func (c *Core) file(name string) *os.File {
	f, known := c.files[name]
	if !known && len(c.files) < maxCoreFiles {
		if info, err := os.Stat(name); err == nil && info.Mode().IsRegular() {
			f, _ = os.Open(name)
		}
		c.files[name] = f
	}
	return f
}

// ReadMany implements Memory.
func (c *Core) ReadMany(ranges []Range) (int, error) {
	for i, g := range ranges {
		if c.Read(g.Addr, g.Buf) != nil {
			return i, nil
		}
	}
	return len(ranges), nil
}
