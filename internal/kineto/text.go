package kineto

import (
	"encoding/binary"
	"strings"
)

// Text is an interned text of one scanner: an index into its Texts. 0 is the empty text.
type Text uint32

// Texts interns byte strings. Texts of one table live in shared blocks, so a million short ones cost no million
// allocations. It is not safe for concurrent use.
type Texts struct {
	all     []string
	hash    []uint32 // of all
	slots   []uint32 // open addressing: index into all plus one
	block   strings.Builder
	scratch []byte
}

const textBlock = 64 << 10

// NewTexts returns a table that holds the empty text.
func NewTexts() *Texts {
	return &Texts{all: []string{""}, hash: []uint32{0}, slots: make([]uint32, 256)}
}

// Len is the number of distinct texts, the empty one included.
func (t *Texts) Len() int { return len(t.all) }

// String returns the text of an id, "" for one that does not exist.
func (t *Texts) String(id Text) string {
	if int(id) >= len(t.all) {
		return ""
	}
	return t.all[id]
}

// Intern returns the id of b, adding a copy if it is new.
func (t *Texts) Intern(b []byte) Text {
	if len(b) == 0 {
		return 0
	}
	h := hashOf(b)
	mask := uint32(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		slot := t.slots[i]
		if slot == 0 {
			return t.add(b, h, i)
		}
		if id := slot - 1; t.hash[id] == h && t.all[id] == string(b) {
			return Text(id)
		}
	}
}

// InternString is Intern for a string.
func (t *Texts) InternString(s string) Text {
	t.scratch = append(t.scratch[:0], s...)
	return t.Intern(t.scratch)
}

func (t *Texts) add(b []byte, h, slot uint32) Text {
	id := uint32(len(t.all))
	t.all = append(t.all, t.keep(b))
	t.hash = append(t.hash, h)
	t.slots[slot] = id + 1
	if len(t.all)*2 > len(t.slots) {
		t.grow()
	}
	return Text(id)
}

// keep copies b into the current block. Appending within a builder's capacity never moves the texts handed out before.
func (t *Texts) keep(b []byte) string {
	if len(b) > textBlock/8 {
		return string(b)
	}
	if t.block.Cap()-t.block.Len() < len(b) {
		t.block = strings.Builder{}
		t.block.Grow(textBlock)
	}
	from := t.block.Len()
	t.block.Write(b)
	return t.block.String()[from:]
}

func (t *Texts) grow() {
	t.slots = make([]uint32, 2*len(t.slots))
	mask := uint32(len(t.slots) - 1)
	for id := 1; id < len(t.all); id++ {
		i := t.hash[id] & mask
		for t.slots[i] != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = uint32(id) + 1
	}
}

const (
	mix1 = 0x9E3779B97F4A7C15
	mix2 = 0xD6E8FEB86659FD93
)

// hashOf mixes eight bytes at a time.
func hashOf(b []byte) uint32 {
	h := uint64(len(b)) * mix1
	for len(b) >= 8 {
		h = (h ^ binary.LittleEndian.Uint64(b)) * mix2
		h ^= h >> 29
		b = b[8:]
	}
	var tail uint64
	for i, c := range b {
		tail |= uint64(c) << (8 * i)
	}
	h = (h ^ tail) * mix1
	return uint32(h ^ h>>32)
}
