package cpython

import (
	"encoding/binary"
	"errors"
	"fmt"
	"unicode/utf16"

	"bottleneck/internal/proc"
)

// Caps of lengths that are read from the target.
const (
	maxText  = 4096    // code points of a name or path
	maxTable = 1 << 20 // bytes of a line table
	maxItems = 4096    // of a tuple of names
)

var errGarbage = errors.New("memory does not hold what was expected")

// readText reads a str object, PEP 393 in all its forms; code points above the cap are an error, not a cut.
func readText(mem proc.Memory, o *ObjectLayout, addr uint64) (string, error) {
	if addr == 0 {
		return "", fmt.Errorf("text at 0: %w", errGarbage)
	}
	var head [64]byte
	if o.UniState+4 > len(head) || o.UniLength+8 > len(head) {
		return "", fmt.Errorf("text: %w", ErrVersion)
	}
	if err := mem.Read(addr, head[:o.UniState+4]); err != nil {
		return "", err
	}
	n := binary.LittleEndian.Uint64(head[o.UniLength:])
	kind, compact, ascii := textState(o, binary.LittleEndian.Uint32(head[o.UniState:]))
	if n > maxText || kind != 1 && kind != 2 && kind != 4 {
		return "", fmt.Errorf("text at %#x of length %d and kind %d: %w", addr, n, kind, errGarbage)
	}
	data := addr + uint64(o.UniCompact)
	switch {
	case compact && ascii:
		data = addr + uint64(o.UniASCII)
	case !compact:
		p, err := proc.U64(mem, addr+uint64(o.UniLegacy))
		if err != nil {
			return "", err
		}
		data = p
	}
	raw := make([]byte, n*uint64(kind))
	if err := mem.Read(data, raw); err != nil {
		return "", err
	}
	return decodeText(raw, kind), nil
}

// textState takes the bit fields apart; those behind them mean nothing.
func textState(o *ObjectLayout, state uint32) (kind int, compact, ascii bool) {
	state >>= o.UniKind
	return int(state & 7), state>>3&1 != 0, state>>4&1 != 0
}

func decodeText(raw []byte, kind int) string {
	if kind == 1 {
		plain := true
		for _, c := range raw {
			plain = plain && c < 0x80
		}
		if plain {
			return string(raw)
		}
	}
	out := make([]rune, 0, len(raw)/kind)
	for i := 0; i+kind <= len(raw); i += kind {
		var r rune
		switch kind {
		case 1:
			r = rune(raw[i])
		case 2:
			r = rune(binary.LittleEndian.Uint16(raw[i:]))
		default:
			r = rune(binary.LittleEndian.Uint32(raw[i:]) & 0x1fffff)
		}
		if utf16.IsSurrogate(r) { // surrogateescape of a path that is not UTF-8
			r = 0xfffd
		}
		out = append(out, r)
	}
	return string(out)
}

// readBytes reads a bytes object of at most limit bytes.
func readBytes(mem proc.Memory, o *ObjectLayout, addr uint64, limit int) ([]byte, error) {
	if addr == 0 {
		return nil, fmt.Errorf("bytes at 0: %w", errGarbage)
	}
	n, err := proc.U64(mem, addr+uint64(o.VarSize))
	if err != nil {
		return nil, err
	}
	if n > uint64(limit) {
		return nil, fmt.Errorf("bytes at %#x of length %d: %w", addr, n, errGarbage)
	}
	raw := make([]byte, n)
	return raw, mem.Read(addr+uint64(o.BytesData), raw)
}

// typeName reads the name of an object's type.
func typeName(mem proc.Memory, o *ObjectLayout, typ uint64) (string, error) {
	p, err := proc.U64(mem, typ+uint64(o.TypeName))
	if err != nil {
		return "", err
	}
	return proc.CString(mem, p, 256)
}

// readTuple reads the items of a tuple of at most maxItems.
func readTuple(mem proc.Memory, o *ObjectLayout, addr uint64) ([]uint64, error) {
	n, err := proc.U64(mem, addr+uint64(o.VarSize))
	if err != nil {
		return nil, err
	}
	if n > maxItems {
		return nil, fmt.Errorf("tuple at %#x of length %d: %w", addr, n, errGarbage)
	}
	return readWords(mem, addr+uint64(o.TupleItems), int(n))
}

func readWords(mem proc.Memory, addr uint64, n int) ([]uint64, error) {
	raw := make([]byte, 8*n)
	if err := mem.Read(addr, raw); err != nil {
		return nil, err
	}
	out := make([]uint64, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint64(raw[8*i:])
	}
	return out, nil
}
