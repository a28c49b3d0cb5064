package cpython

import "sort"

// lineRange says that instructions before End (bytes from the start of the bytecode, after the previous range) belong
// to a line; Line 0 has none.
type lineRange struct{ End, Line int32 }

// decodeLines turns a line table into ranges in order of address (Objects/lnotab_notes.txt, Objects/locations.md and
// PEP 626 describe the three forms).
func decodeLines(format lineFormat, table []byte, first int32) []lineRange {
	switch format {
	case linesLnotab:
		return decodeLnotab(table, first)
	case lines310:
		return decodeLines310(table, first)
	}
	return decodeLocations(table, first)
}

// decodeLnotab reads pairs (address step, signed line step); the last line goes on for ever.
func decodeLnotab(table []byte, first int32) []lineRange {
	var out []lineRange
	addr, line := int32(0), first
	for i := 0; i+1 < len(table); i += 2 {
		if step := int32(table[i]); step > 0 {
			addr += step
			out = append(out, lineRange{addr, line})
		}
		line += int32(int8(table[i+1]))
	}
	return append(out, lineRange{1 << 30, line})
}

// decodeLines310 reads pairs (length of the range, signed line step before it); a step of -128 has no line.
func decodeLines310(table []byte, first int32) []lineRange {
	var out []lineRange
	end, line := int32(0), first
	for i := 0; i+1 < len(table); i += 2 {
		step := int8(table[i+1])
		end += int32(table[i])
		if step == -128 {
			out = append(out, lineRange{end, 0})
			continue
		}
		line += int32(step)
		if table[i] > 0 {
			out = append(out, lineRange{end, line})
		}
	}
	return out
}

// decodeLocations reads the location table of 3.11 and later. Columns are skipped.
func decodeLocations(table []byte, first int32) []lineRange {
	var out []lineRange
	end, line := int32(0), first
	for i := 0; i < len(table); {
		b := table[i]
		if b&0x80 == 0 { // every entry begins with the top bit set; what follows a damaged one means nothing
			break
		}
		i++
		end += 2 * (int32(b&7) + 1)
		code := b >> 3 & 15
		now := int32(0)
		switch {
		case code <= 9:
			i++
			now = line
		case code <= 12:
			line += int32(code) - 10
			i += 2
			now = line
		case code == 13:
			var d int32
			d, i = svarint(table, i)
			line += d
			now = line
		case code == 14:
			var d int32
			d, i = svarint(table, i)
			line += d
			for range 3 {
				_, i = varint(table, i)
			}
			now = line
		}
		if n := len(out); n > 0 && out[n-1].Line == now {
			out[n-1].End = end
			continue
		}
		out = append(out, lineRange{end, now})
	}
	return out
}

// varint reads groups of six bits, least significant first; bit 6 says that more follow.
func varint(table []byte, i int) (uint32, int) {
	var v uint32
	for shift := 0; i < len(table) && shift < 32; shift += 6 {
		b := table[i]
		i++
		v |= uint32(b&63) << shift
		if b&64 == 0 {
			break
		}
	}
	return v, i
}

// svarint is a varint whose lowest bit is the sign.
func svarint(table []byte, i int) (int32, int) {
	v, i := varint(table, i)
	if v&1 != 0 {
		return -int32(v >> 1), i
	}
	return int32(v >> 1), i
}

// lineAt finds the line of an instruction. One without a line of its own belongs to the last line before it.
func lineAt(ranges []lineRange, offset int32) int32 {
	i := sort.Search(len(ranges), func(i int) bool { return ranges[i].End > offset })
	if i == len(ranges) {
		i--
	}
	for ; i >= 0; i-- {
		if ranges[i].Line > 0 {
			return ranges[i].Line
		}
	}
	return 0
}
