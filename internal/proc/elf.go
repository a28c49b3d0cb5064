package proc

import (
	"debug/elf"
	"fmt"
	"io"
	"os"
)

// maxELF bounds the part of a symbol or string table that is loaded of one file.
const maxELF = 256 << 20

// Binary is an executable file or library of a process with what is looked up in it.
type Binary struct {
	Path    string
	symbols map[string]Symbol
	section map[string]Symbol
	loads   []elf.ProgHeader
	dynamic bool // position independent
}

// Symbol is a place in a binary, before it is loaded.
type Symbol struct {
	Value uint64 // link-time address
	Size  uint64
}

// mappedPaths are where the file behind a mapping may be opened: through map_files, which names the very file even when
// it was deleted or replaced, and through the process's own root.
func mappedPaths(pid int, m Mapping) []string {
	paths := []string{
		fmt.Sprintf("/proc/%d/root%s", pid, m.Path),
		fmt.Sprintf("/proc/%d/map_files/%x-%x", pid, m.Start, m.End),
	}
	if m.Deleted {
		paths[0], paths[1] = paths[1], fmt.Sprintf("/proc/%d/exe", pid)
	}
	return paths
}

// OpenMapped opens the file behind a mapping of a process.
func OpenMapped(pid int, m Mapping) (*os.File, error) {
	var first error
	for _, p := range mappedPaths(pid, m) {
		f, err := openRegular(p)
		if err == nil {
			return f, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, fmt.Errorf("file %s of process %d: %w", m.Path, pid, first)
}

// OpenBinary reads the file behind a mapping of a process.
func OpenBinary(pid int, m Mapping, names []string, sections []string) (*Binary, error) {
	var first error
	for _, p := range mappedPaths(pid, m) {
		b, err := openBinaryFile(p, names, sections)
		if err == nil {
			b.Path = m.Path
			return b, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, fmt.Errorf("binary %s of process %d: %w", m.Path, pid, first)
}

func openBinaryFile(path string, names, sections []string) (*Binary, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return ReadBinary(f, names, sections)
}

// openRegular opens a file that is one: a pipe that was put in a library's place would block whoever opens it.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	return os.Open(path)
}

// ReadBinary looks symbols (dynamic ones first) and sections up in an ELF file.
func ReadBinary(r io.ReaderAt, names, sections []string) (*Binary, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, err
	}
	b := &Binary{symbols: map[string]Symbol{}, section: map[string]Symbol{}, dynamic: f.Type == elf.ET_DYN}
	for _, p := range f.Progs {
		if p.Type == elf.PT_LOAD {
			b.loads = append(b.loads, p.ProgHeader)
		}
	}
	for _, name := range sections {
		if s := f.Section(name); s != nil && s.Addr != 0 {
			b.section[name] = Symbol{s.Addr, s.Size}
		}
	}
	want := map[string]bool{}
	for _, n := range names {
		want[n] = true
	}
	b.take(f, elf.SHT_DYNSYM, want)
	if len(b.symbols) < len(names) {
		b.take(f, elf.SHT_SYMTAB, want)
	}
	return b, nil
}

// take scans one symbol table for wanted names without building a list of all symbols: torch's libraries have
// hundreds of thousands.
func (b *Binary) take(f *elf.File, typ elf.SectionType, want map[string]bool) {
	if f.Class != elf.ELFCLASS64 {
		return
	}
	for _, s := range f.Sections {
		if s.Type != typ || int(s.Link) >= len(f.Sections) || s.Size > maxELF || f.Sections[s.Link].Size > maxELF {
			continue
		}
		syms, err1 := s.Data()
		text, err2 := f.Sections[s.Link].Data()
		if err1 != nil || err2 != nil {
			continue
		}
		const size = 24 // of Elf64_Sym: name u32, info u8, other u8, shndx u16, value u64, size u64
		for i := 0; i+size <= len(syms); i += size {
			name := f.ByteOrder.Uint32(syms[i:])
			if f.ByteOrder.Uint16(syms[i+6:]) == 0 || !wanted(text, name, want) {
				continue
			}
			key := cstr(text, name)
			if _, have := b.symbols[key]; !have {
				b.symbols[key] = Symbol{f.ByteOrder.Uint64(syms[i+8:]), f.ByteOrder.Uint64(syms[i+16:])}
			}
		}
	}
}

func wanted(text []byte, at uint32, want map[string]bool) bool {
	for w := range want {
		end := uint64(at) + uint64(len(w))
		if end < uint64(len(text)) && text[end] == 0 && string(text[at:end]) == w {
			return true
		}
	}
	return false
}

func cstr(text []byte, at uint32) string {
	for i := int(at); i < len(text); i++ {
		if text[i] == 0 {
			return string(text[at:i])
		}
	}
	return ""
}

// Symbol returns a symbol that was asked for.
func (b *Binary) Symbol(name string) (Symbol, bool) { s, ok := b.symbols[name]; return s, ok }

// Section returns a section that was asked for.
func (b *Binary) Section(name string) (Symbol, bool) { s, ok := b.section[name]; return s, ok }

// Bias is what is added to link-time addresses where the file is mapped: 0 for a fixed executable, else the distance of
// the mapping that holds file offset off from the segment that holds it.
func (b *Binary) Bias(m Mapping) (uint64, bool) {
	if !b.dynamic {
		return 0, true
	}
	for _, p := range b.loads {
		const page = 0xfff
		off := p.Off &^ page
		if m.Offset >= off && m.Offset < p.Off+p.Filesz {
			return m.Start - (p.Vaddr&^page + (m.Offset - off)), true
		}
	}
	return 0, false
}
