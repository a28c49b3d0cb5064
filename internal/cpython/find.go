package cpython

import (
	"errors"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"bottleneck/internal/proc"
)

// What Find may say of a process.
var (
	// ErrNotPython: no CPython runtime is mapped.
	ErrNotPython = errors.New("no CPython interpreter in the process")
	// ErrOtherPython: another implementation, such as PyPy, whose frames are not readable from outside.
	ErrOtherPython = errors.New("not CPython")
	// ErrVersion: CPython of a version whose structures are unknown.
	ErrVersion = errors.New("structures of this Python version are not known")
	// ErrFrameGone: a function has returned since its frame was seen.
	ErrFrameGone = errors.New("the function has returned")
	// ErrNotReady: the interpreter has not started, or has finished.
	ErrNotReady = errors.New("interpreter is not initialised")

	errNoOffsets = errors.New("no debug offsets")
)

// Interpreter is a CPython runtime in a process.
type Interpreter struct {
	PID     int
	Version string // "3.11.7" where known to that point, else "3.11"
	Runtime uint64 // address of _PyRuntime
	Library string // path of the executable or library that holds it
	Layout  *Layout
	asyncio func() (uint64, bool) // address of what asyncio tells of itself (3.14 on)
	musl    bool                  // its C library
}

const runtimeSymbol, versionSymbol, runtimeSection = "_PyRuntime", "Py_Version", ".PyRuntime"

var runtimeSymbols, runtimeSections = []string{runtimeSymbol, versionSymbol}, []string{runtimeSection, asyncioSection}

var (
	libName = regexp.MustCompile(`^libpython(\d)\.(\d+)[a-z]*\.so`)
	exeName = regexp.MustCompile(`^python(\d)\.(\d+)[a-z]*$`)
	digits  = regexp.MustCompile(`python(\d)\.(\d+)`)
)

// binaries caches what was looked up in files, by file: workers of a job share their interpreter.
var binaries = struct {
	sync.Mutex
	of map[binaryKey]*proc.Binary
}{of: map[binaryKey]*proc.Binary{}}

type binaryKey struct {
	path  string
	inode uint64
}

// Find locates the runtime in a process. It reads the mappings, one or two files, and a few words of memory.
func Find(pid int, mem proc.Memory) (*Interpreter, error) {
	maps, err := proc.ReadMaps(pid)
	if err != nil {
		return nil, err
	}
	exe, _ := proc.Exe(pid)
	return (&finder{pid: pid, mem: mem, maps: maps, exe: exe,
		open:  func(m proc.Mapping) (*proc.Binary, error) { return binaryOf(pid, m) },
		remap: func() (proc.Maps, error) { return proc.ReadMaps(pid) }}).find()
}

// FindCore locates the runtime in a core file.
func FindCore(c *proc.Core) (*Interpreter, error) {
	open := func(m proc.Mapping) (*proc.Binary, error) { return c.Binary(m, runtimeSymbols, runtimeSections) }
	return (&finder{pid: c.PID, mem: c, maps: c.Maps, exe: c.Exe(), open: open}).find()
}

// finder is a process in which an interpreter is looked for.
type finder struct {
	pid  int
	mem  proc.Memory
	maps proc.Maps
	exe  string
	open func(proc.Mapping) (*proc.Binary, error)
	// remap reads the mappings again; nil where they cannot change.
	remap func() (proc.Maps, error)
}

func (f *finder) find() (*Interpreter, error) {
	pid, maps, exe := f.pid, f.maps, f.exe
	err := fmt.Errorf("process %d (%s): %w", pid, exe, ErrNotPython)
	for _, m := range candidates(maps, exe) {
		if strings.Contains(path.Base(m.Path), "pypy") {
			return nil, fmt.Errorf("process %d (%s): %w", pid, m.Path, ErrOtherPython)
		}
		in, e := f.probe(m)
		if e == nil {
			return in, nil
		}
		if !errors.Is(e, ErrNotPython) {
			err = e
		}
	}
	return nil, err
}

// candidates are first mappings of files that may hold the runtime: libpython before the executable, since an
// executable that links the library holds none. PyPy's library comes before both, wherever it is mapped: libpython beside it
// belongs to an extension, and does not run the program.
func candidates(maps proc.Maps, exe string) []proc.Mapping {
	var others, libs, exes []proc.Mapping
	seen := map[string]bool{}
	for _, m := range maps {
		base := path.Base(m.Path)
		if m.Path == "" || m.Path[0] != '/' || seen[m.Path] {
			continue
		}
		seen[m.Path] = true
		switch {
		case strings.HasPrefix(base, "libpypy"):
			others = append(others, m)
		case libName.MatchString(base):
			libs = append(libs, m)
		case m.Path == exe || exe == "" && exeName.MatchString(base):
			exes = append(exes, m)
		}
	}
	return slices.Concat(others, libs, exes)
}

func (f *finder) probe(m proc.Mapping) (*Interpreter, error) {
	pid, mem := f.pid, f.mem
	b, err := f.open(m)
	if err != nil {
		return nil, err
	}
	bias, ok := b.Bias(m)
	if !ok {
		return nil, fmt.Errorf("process %d: %s is mapped in an unknown way", pid, m.Path)
	}
	in := &Interpreter{PID: pid, Library: m.Path, musl: usesMusl(f.maps)}
	if s, ok := b.Symbol(runtimeSymbol); ok {
		in.Runtime = bias + s.Value
	} else if s, ok := b.Section(runtimeSection); ok {
		in.Runtime = bias + s.Value
	} else {
		return nil, fmt.Errorf("process %d: %s: %w", pid, m.Path, ErrNotPython)
	}
	if err := in.learn(mem, f.version(b, bias, m.Path)); err != nil {
		return nil, fmt.Errorf("process %d: %s: %w", pid, m.Path, err)
	}
	in.asyncio = func() (uint64, bool) { return f.asyncioAt(m) }
	return in, in.ready(mem, f.maps)
}

// asyncioAt looks for the section of asyncio's module: in a library of its own, or the interpreter's file.
func (f *finder) asyncioAt(runtime proc.Mapping) (uint64, bool) {
	maps := f.maps
	if f.remap != nil {
		if now, err := f.remap(); err == nil {
			maps = now // it may have been imported since
		}
	}
	list := []proc.Mapping{runtime}
	for _, m := range maps {
		if strings.HasPrefix(path.Base(m.Path), "_asyncio.") {
			list = append(list, m)
			break
		}
	}
	for _, m := range list {
		b, err := f.open(m)
		if err != nil {
			continue
		}
		if s, ok := b.Section(asyncioSection); ok {
			if bias, ok := b.Bias(m); ok {
				return bias + s.Value, true
			}
		}
	}
	return 0, false
}

func binaryOf(pid int, m proc.Mapping) (*proc.Binary, error) {
	key := binaryKey{m.Path, m.Inode}
	binaries.Lock()
	defer binaries.Unlock()
	if b := binaries.of[key]; b != nil {
		return b, nil
	}
	b, err := proc.OpenBinary(pid, m, runtimeSymbols, runtimeSections)
	if err == nil && len(binaries.of) < 256 {
		binaries.of[key] = b
	}
	return b, err
}

// version finds the version: the symbol Py_Version (3.11 on) is exact; names of the file and of the standard
// library's folder give major and minor.
func (f *finder) version(b *proc.Binary, bias uint64, file string) uint32 {
	if s, ok := b.Symbol(versionSymbol); ok {
		if v, err := proc.U32(f.mem, bias+s.Value); err == nil && v>>24 == 3 {
			return v
		}
	}
	for _, text := range []string{path.Base(file), path.Base(f.exe), file} {
		if m := digits.FindStringSubmatch(text); m != nil {
			major, _ := strconv.Atoi(m[1])
			minor, _ := strconv.Atoi(m[2])
			return uint32(major)<<24 | uint32(minor&0xff)<<16
		}
	}
	return 0
}

// learn chooses the layout: debug offsets where the runtime has them, else the table's row.
func (in *Interpreter) learn(mem proc.Memory, version uint32) error {
	v, free, o, err := readOffsets(mem, in.Runtime)
	switch {
	case err == nil:
		in.Layout = layoutOfOffsets(v, free, o)
		version = v
	case errors.Is(err, errNoOffsets):
		if version == 0 {
			return ErrVersion
		}
		if in.Layout, err = LayoutOf(int(version>>24), int(version>>16&0xff)); err != nil {
			return err
		}
	default:
		return err
	}
	in.Version = versionText(version)
	return nil
}

func versionText(v uint32) string {
	s := fmt.Sprintf("%d.%d", v>>24, v>>16&0xff)
	if v&0xf0 == 0 {
		return s // known from a file name only
	}
	s += fmt.Sprintf(".%d", v>>8&0xff)
	switch v >> 4 & 0xf {
	case 0xa:
		s += fmt.Sprintf("a%d", v&0xf)
	case 0xb:
		s += fmt.Sprintf("b%d", v&0xf)
	case 0xc:
		s += fmt.Sprintf("rc%d", v&0xf)
	}
	return s
}

// ready checks that the first interpreter exists and that its first thread points back to it.
func (in *Interpreter) ready(mem proc.Memory, maps proc.Maps) error {
	l := in.Layout
	interp, err := proc.U64(mem, in.Runtime+uint64(l.Runtime.InterpHead))
	if err != nil {
		return fmt.Errorf("process %d: %w", in.PID, err)
	}
	if interp == 0 {
		return fmt.Errorf("process %d: %w", in.PID, ErrNotReady)
	}
	thread, err := proc.U64(mem, interp+uint64(l.Interp.ThreadsHead))
	if err != nil || thread == 0 {
		return fmt.Errorf("process %d: %w", in.PID, ErrNotReady)
	}
	back, err := proc.U64(mem, thread+uint64(l.Thread.Interp))
	if err != nil || back != interp {
		if _, mapped := maps.Find(interp); !mapped && len(maps) > 0 {
			return fmt.Errorf("process %d: interpreter at %#x is not mapped: %w", in.PID, interp, ErrVersion)
		}
		return fmt.Errorf("process %d: thread and interpreter do not belong together: %w", in.PID, ErrNotReady)
	}
	return nil
}

// ForFork is the interpreter of a process that was forked from this one without running another program: its runtime
// lies at the same place.
func (in *Interpreter) ForFork(pid int, mem proc.Memory) (*Interpreter, error) {
	child := *in
	child.PID = pid
	return &child, child.ready(mem, nil)
}

// At is the interpreter whose runtime lies at a known address, as in recorded memory. version is PY_VERSION_HEX; it is
// not needed from 3.13 on, where the runtime tells it.
func At(mem proc.Memory, runtime uint64, version uint32) (*Interpreter, error) {
	in := &Interpreter{Runtime: runtime}
	if err := in.learn(mem, version); err != nil {
		return nil, fmt.Errorf("runtime at %#x: %w", runtime, err)
	}
	return in, in.ready(mem, nil)
}
