package ingest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"bottleneck/internal/record"
)

// A text that unpacks to more than this many times its size is a bomb, once it is larger than bombFloor: DEFLATE cannot
// reach more than 1032, and real traces reach 20 to 60.
const (
	bombRatio = 400
	bombFloor = 512 << 20
)

// unpack finds out how r is packed (gzip, zstd, UTF-16, plain) and returns the plain text, read ahead on a goroutine of
// its own. Close ends that goroutine.
func unpack(r io.Reader) (io.ReadCloser, error) {
	plain, packed, err := unpackHere(r)
	if err != nil || !packed {
		return io.NopCloser(plain), err
	}
	return readAhead(plain), nil
}

// unpackHere is unpack without the goroutine.
func unpackHere(r io.Reader) (plain io.Reader, packed bool, err error) {
	return unpackGuarded(r, bombFloor, bombRatio)
}

// unpackGuarded is unpackHere with bounds of its own.
func unpackGuarded(r io.Reader, floor, ratio int64) (plain io.Reader, packed bool, err error) {
	counted := &record.Counter{R: r}
	in := bufio.NewReaderSize(counted, 64<<10)
	for range 3 { // .gz of .gz exists
		head, err := in.Peek(4)
		if err != nil && err != io.EOF {
			return nil, packed, err
		}
		switch {
		case bytes.HasPrefix(head, []byte{0x1F, 0x8B}):
			z, err := gzip.NewReader(in)
			if err != nil {
				return nil, packed, err
			}
			in, packed = bufio.NewReaderSize(&record.Guard{Plain: z, Stored: counted, Floor: floor, Ratio: ratio}, 64<<10), true
		case bytes.HasPrefix(head, []byte{0x28, 0xB5, 0x2F, 0xFD}):
			z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
			if err != nil {
				return nil, packed, err
			}
			in, packed = bufio.NewReaderSize(&record.Guard{Plain: z, Stored: counted, Floor: floor, Ratio: ratio}, 64<<10), true
		case bytes.HasPrefix(head, []byte{0xFF, 0xFE}), bytes.HasPrefix(head, []byte{0xFE, 0xFF}):
			return &utf16Reader{r: in, big: head[0] == 0xFE}, true, nil
		default:
			return in, packed, nil
		}
	}
	return in, packed, nil
}

// utf16Reader turns UTF-16 with a byte-order mark into UTF-8.
type utf16Reader struct {
	r       *bufio.Reader
	big     bool
	pending []byte
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.pending) == 0 {
		units := make([]uint16, 0, 4096)
		var pair [2]byte
		var err error
		for len(units) < 4096 || utf16.IsSurrogate(rune(units[len(units)-1])) && len(units) < 4098 {
			if _, err = io.ReadFull(u.r, pair[:]); err != nil {
				break
			}
			if u.big {
				units = append(units, binary.BigEndian.Uint16(pair[:]))
			} else {
				units = append(units, binary.LittleEndian.Uint16(pair[:]))
			}
		}
		if len(units) == 0 {
			if err == io.ErrUnexpectedEOF {
				err = io.EOF
			}
			return 0, err
		}
		for _, r := range utf16.Decode(units) {
			u.pending = utf8.AppendRune(u.pending, r)
		}
	}
	n := copy(p, u.pending)
	u.pending = u.pending[n:]
	return n, nil
}

const (
	aheadBlock  = 128 << 10
	aheadBlocks = 4
)

// ahead reads blocks on a goroutine of its own.
type ahead struct {
	full, empty chan []byte
	quit        chan struct{}
	err         error // of the source; read after full is closed
	block, rest []byte
}

func readAhead(r io.Reader) io.ReadCloser {
	a := &ahead{full: make(chan []byte, aheadBlocks), empty: make(chan []byte, aheadBlocks), quit: make(chan struct{})}
	for range aheadBlocks {
		a.empty <- make([]byte, aheadBlock)
	}
	go a.fill(r)
	return a
}

func (a *ahead) fill(r io.Reader) {
	defer close(a.full)
	for {
		var block []byte
		select {
		case block = <-a.empty:
		case <-a.quit:
			return
		}
		n, err := io.ReadFull(r, block[:aheadBlock])
		if n > 0 {
			select {
			case a.full <- block[:n]:
			case <-a.quit:
				return
			}
		}
		if err != nil {
			if err != io.ErrUnexpectedEOF || !endedCleanly(r) {
				a.err = err
			} else {
				a.err = io.EOF
			}
			return
		}
	}
}

// endedCleanly tells a text that merely ended from one whose packing was cut: io.ReadFull reports both alike.
func endedCleanly(r io.Reader) bool {
	var one [1]byte
	n, err := r.Read(one[:])
	return n == 0 && err == io.EOF
}

func (a *ahead) Read(p []byte) (int, error) {
	if len(a.rest) == 0 {
		if a.block != nil {
			a.empty <- a.block
			a.block = nil
		}
		block, ok := <-a.full
		if !ok {
			return 0, a.err
		}
		a.block, a.rest = block, block
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

func (a *ahead) Close() error {
	close(a.quit)
	return nil
}
