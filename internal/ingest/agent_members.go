package ingest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"io"
)

// memberDamage counts gzip members that could not be read to their end, and where the first of them begins.
type memberDamage struct{ members, first int64 }

// eachMember calls line for every line of a sequence of gzip members, each of which holds whole lines. A damaged member
// gives the lines before its damage; reading goes on at the next member. line returns false to stop.
func eachMember(data []byte, line func([]byte) bool) memberDamage {
	damage := memberDamage{first: -1}
	for offset := 0; offset < len(data); {
		in := bytes.NewReader(data[offset:])
		ok, stop := oneMember(in, line)
		if stop {
			return damage
		}
		if ok {
			offset = len(data) - in.Len()
			continue
		}
		damage.members++
		if damage.first < 0 {
			damage.first = int64(offset)
		}
		next := bytes.Index(data[offset+1:], []byte{0x1f, 0x8b, 8})
		if next < 0 {
			break
		}
		offset += 1 + next
	}
	return damage
}

// oneMember reads the member at the reader's place and leaves the reader behind it. Only a whole member has a last
// line without a line feed that counts.
func oneMember(in *bytes.Reader, line func([]byte) bool) (ok, stop bool) {
	zip, err := gzip.NewReader(in)
	if err != nil {
		return false, false
	}
	zip.Multistream(false)
	lines := bufio.NewReaderSize(zip, 64<<10)
	var long []byte
	for {
		part, err := lines.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			if len(long) < maxAgentLine {
				long = append(long, part...)
			}
			continue
		}
		if err != nil {
			return err == io.EOF && len(part) == 0 && len(long) == 0, false
		}
		if len(long) > 0 {
			part, long = append(long, part...), long[:0]
		}
		if len(part) <= maxAgentLine && !line(bytes.TrimRight(part, "\r\n")) {
			return true, true
		}
	}
}
