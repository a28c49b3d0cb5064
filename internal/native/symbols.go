package native

import (
	"bufio"
	"debug/elf"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"sort"
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Caps of a file's symbols.
const (
	maxSymbols    = 4 << 20 // functions
	maxSymbolName = 4096    // bytes of a name that is read
	symbolLen     = 24      // of Elf64_Sym: name u32, info u8, other u8, section u16, value u64, size u64
)

// ErrNoSymbols says that a file names no functions.
var ErrNoSymbols = errors.New("no symbols of functions")

// Symbols are the functions of an ELF file, by address. Names stay in the file, which is kept open, until they are
// asked for: libraries of PyTorch have half a million of them, tens of megabytes.
type Symbols struct {
	file  io.ReaderAt
	list  []symbol
	texts [2]int64 // where the string tables of .symtab and .dynsym begin in the file
	ends  [2]int64
}

type symbol struct {
	value uint64
	size  uint32
	name  uint32 // offset in the string table; the highest bit chooses the table
}

const dynamicTable = 1 << 31

// ReadSymbols reads the functions of an ELF file: from .symtab, and .dynsym for what a stripped one still exports.
func ReadSymbols(r io.ReaderAt) (*Symbols, error) {
	f, err := elf.NewFile(r)
	if err != nil {
		return nil, fmt.Errorf("symbols: %w", err)
	}
	if f.Class != elf.ELFCLASS64 || f.ByteOrder != binary.LittleEndian {
		return nil, fmt.Errorf("symbols: not a 64-bit little-endian file: %w", ErrNoSymbols)
	}
	s := &Symbols{file: r}
	for _, section := range f.Sections {
		switch section.Type {
		case elf.SHT_SYMTAB:
			s.take(f, section, 0)
		case elf.SHT_DYNSYM:
			s.take(f, section, 1)
		}
	}
	if len(s.list) == 0 {
		return nil, ErrNoSymbols
	}
	sort.Slice(s.list, func(i, k int) bool { return s.list[i].value < s.list[k].value })
	return s, nil
}

// take reads one symbol table as a stream; a damaged one gives what there is.
func (s *Symbols) take(f *elf.File, section *elf.Section, table int) {
	if int(section.Link) >= len(f.Sections) || section.Type == elf.SHT_NOBITS {
		return
	}
	text := f.Sections[section.Link]
	if text.Offset > math.MaxInt64/2 || text.FileSize > math.MaxInt32 || section.Offset > math.MaxInt64/2 ||
		section.FileSize > math.MaxInt64/2 {
		return
	}
	s.texts[table], s.ends[table] = int64(text.Offset), int64(text.Offset+text.FileSize)
	in := bufio.NewReaderSize(io.NewSectionReader(s.file, int64(section.Offset), int64(section.FileSize)), 1<<16)
	var b [symbolLen]byte
	le := binary.LittleEndian
	for len(s.list) < maxSymbols {
		if _, err := io.ReadFull(in, b[:]); err != nil {
			return
		}
		kind := elf.ST_TYPE(b[4])
		value, size := le.Uint64(b[8:]), le.Uint64(b[16:])
		if kind != elf.STT_FUNC && kind != elf.STT_GNU_IFUNC || le.Uint16(b[6:]) == 0 || value == 0 || le.Uint32(b[:]) >= dynamicTable {
			continue
		}
		s.list = append(s.list, symbol{value, uint32(min(size, math.MaxUint32)), le.Uint32(b[:]) | uint32(table)*dynamicTable})
	}
}

// Find names the function that covers a link-time address, "" where none does. A symbol without a size covers what lies
// before the next one.
func (s *Symbols) Find(addr uint64) string {
	end := sort.Search(len(s.list), func(i int) bool { return s.list[i].value > addr })
	for i := end - 1; i >= 0 && i >= end-8; i-- { // several may begin at one place
		y := s.list[i]
		if addr-y.value < uint64(y.size) || y.size == 0 && i == end-1 && end < len(s.list) {
			return s.name(y)
		}
	}
	return ""
}

func (s *Symbols) name(y symbol) string {
	table := y.name / dynamicTable
	at := s.texts[table] + int64(y.name%dynamicTable)
	buf := make([]byte, min(maxSymbolName, max(s.ends[table]-at, 0)))
	n, _ := s.file.ReadAt(buf, at)
	for i, c := range buf[:n] {
		if c == 0 {
			return string(buf[:i])
		}
	}
	return ""
}

// Readable is a function's name as its author wrote it, without parameters: C++ and Rust names are taken apart, and
// what compilers append to copies of a function ("name.cold", "name.constprop.0") is left out.
func Readable(symbol string) string {
	base := symbol
	if i := strings.IndexByte(symbol, '.'); i > 0 && !strings.HasPrefix(symbol, "_ZN") {
		base = symbol[:i]
	}
	return demangle.Filter(base, demangle.NoParams, demangle.NoTemplateParams, demangle.NoClones, demangle.MaxLength(12))
}
