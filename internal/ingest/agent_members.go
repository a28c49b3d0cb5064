package ingest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"

	"bottleneck/internal/record"
)

// maxDamagedMembers is how many damaged gzip members of a file are looked beyond.
const maxDamagedMembers = 10_000

// memberDamage counts gzip members that could not be read to their end, and where the first of them begins.
type memberDamage struct {
	members, first int64
	bomb           bool // the text grew out of all proportion, and was read up to there
}

// memberReader reads gzip members one after the other, each of which holds whole lines.
type memberReader struct {
	data  []byte
	zip   *gzip.Reader
	lines *bufio.Reader
	text  int64 // bytes unpacked so far
	line  func([]byte) bool
}

// eachMember calls line for every line of a sequence of gzip members. A damaged member gives the lines before its damage; reading goes on
// at the next member. line returns false to stop.
func eachMember(data []byte, line func([]byte) bool) memberDamage {
	damage := memberDamage{first: -1}
	r := &memberReader{data: data, zip: new(gzip.Reader), lines: bufio.NewReaderSize(nil, 64<<10), line: line}
	for offset := 0; offset < len(data); {
		in := bytes.NewReader(data[offset:])
		stop, err := r.member(in)
		if damage.bomb = errors.Is(err, record.ErrBomb); stop || damage.bomb {
			return damage
		}
		if err == nil {
			offset = len(data) - in.Len()
			continue
		}
		damage.members++
		if damage.first < 0 {
			damage.first = int64(offset)
		}
		next := bytes.Index(data[offset+1:], []byte{0x1f, 0x8b, 8})
		if next < 0 || damage.members >= maxDamagedMembers {
			break
		}
		offset += 1 + next
	}
	return damage
}

// Read unpacks the member at hand and watches over the size of it all.
func (r *memberReader) Read(p []byte) (int, error) {
	n, err := r.zip.Read(p)
	if r.text += int64(n); r.text > record.GuardFloor && r.text/record.GuardRatio > int64(len(r.data)) {
		return n, record.ErrBomb
	}
	return n, err
}

var errMember = errors.New("a damaged member")

// member reads the member at the reader's place and leaves the reader behind it. Only a whole member has a last line without a line feed
// that counts.
func (r *memberReader) member(in *bytes.Reader) (stop bool, err error) {
	if err := r.zip.Reset(in); err != nil {
		return false, err
	}
	r.zip.Multistream(false)
	r.lines.Reset(r)
	var long []byte
	for {
		part, err := r.lines.ReadSlice('\n')
		if err == bufio.ErrBufferFull {
			if len(long) < maxAgentLine {
				long = append(long, part...)
			}
			continue
		}
		if err == io.EOF {
			if len(part) == 0 && len(long) == 0 {
				return false, nil
			}
			return false, errMember
		}
		if err != nil {
			return false, err
		}
		if len(long) > 0 {
			part, long = append(long, part...), long[:0]
		}
		if len(part) <= maxAgentLine && !r.line(bytes.TrimRight(part, "\r\n")) {
			return true, nil
		}
	}
}
