package kineto

import (
	"bytes"
	"io"
)

// Start reads up to the array of events and says whether there is one: then the next call of Next reads its first event.
func (s *Scanner) Start() bool {
	for s.state == atStart || s.state == atTop && !s.SawEvents {
		if s.state == atStart {
			s.begin()
		} else {
			s.top()
		}
	}
	return s.state == inEvents
}

// Rest is how much text was read and not scanned yet, and whether that is all there is.
func (s *Scanner) Rest() (bytes int, all bool) { return len(s.buf) - s.p, s.final }

// Piece makes the scanner read a piece of an array of events that begins at an offset of the whole text. Texts and
// layouts of earlier pieces stay. Next returns false at the end of the piece and before anything that is not a whole
// event; Offset says where that was. What was read up to there is what a scanner of the whole text reads.
func (s *Scanner) Piece(text []byte, offset int64) {
	s.buf, s.p, s.base = text, 0, offset
	s.final, s.piece, s.state = true, true, inEvents
	s.Fractions = false
}

// Pieces cuts the array of events that a scanner has come to into pieces, without parsing them: at the end of what looks
// like an event and is followed by what looks like another. A string may look so too; then the piece's scanner stops
// early, and the text from there on has to be read in order (Scanner.Resume).
type Pieces struct {
	s      *Scanner
	size   int
	left   []byte // read, not yet handed out
	kept   []byte // storage of left
	offset int64  // of left
	memory bool   // all of the text is in left
	ended  bool   // the reader has nothing more
	err    error  // of the reader, but io.EOF
}

// Pieces begins to cut what s has not read, which must be in the array of events. s must not be used until Resume.
func (s *Scanner) Pieces(size int) *Pieces {
	return &Pieces{s: s, size: size, left: s.buf[s.p:], offset: s.Offset(), memory: s.r == nil, ended: s.final}
}

// Next returns the next piece and its offset; buf is used for it where it has room. A piece is empty at the end of the
// text and where nothing looks like an event's end for long.
func (c *Pieces) Next(buf []byte) (piece []byte, offset int64) {
	offset = c.offset
	if c.memory {
		piece = c.cutMemory()
		c.left = c.left[len(piece):]
	} else {
		piece = c.cutStream(buf)
	}
	c.offset += int64(len(piece))
	return piece, offset
}

func (c *Pieces) cutMemory() []byte {
	for size := c.size; size < len(c.left) && size < maxEvent; size *= 2 {
		if end := eventsEnd(c.left[:size]); end > 0 {
			return c.left[:end:end]
		}
	}
	if len(c.left) > maxEvent {
		return nil
	}
	return c.left
}

// cutStream fills buf behind what was left of the last piece.
func (c *Pieces) cutStream(buf []byte) []byte {
	if cap(buf) < c.size {
		buf = make([]byte, 0, c.size)
	}
	buf = append(buf[:0], c.left...)
	for {
		buf = c.fill(buf)
		end := len(buf)
		if !c.ended {
			end = eventsEnd(buf)
		}
		if end > 0 || c.ended || len(buf) >= maxEvent {
			c.kept = append(c.kept[:0], buf[end:]...)
			c.left = c.kept
			return buf[:end]
		}
		grown := make([]byte, len(buf), 2*cap(buf))
		copy(grown, buf)
		buf = grown
	}
}

// fill reads until buf is full or the text ends.
func (c *Pieces) fill(buf []byte) []byte {
	for empty := 0; !c.ended && len(buf) < cap(buf); {
		n, err := c.s.r.Read(buf[len(buf):cap(buf)])
		buf = buf[:len(buf)+n]
		if n > 0 {
			empty = 0
		} else if empty++; err == nil && empty > 100 {
			err = io.ErrNoProgress
		}
		if err != nil {
			c.ended = true
			if err != io.EOF {
				c.err = err
			}
		}
	}
	return buf
}

// Offset is where the text begins that was not handed out yet.
func (c *Pieces) Offset() int64 { return c.offset }

// Resume makes the scanner that was cut go on at an offset, in the array of events. unread are the pieces from there on
// that were cut already, the first beginning at the offset; nobody may be cutting any more.
func (c *Pieces) Resume(unread [][]byte, offset int64) {
	s := c.s
	if c.memory {
		s.p = int(offset - s.base)
		return
	}
	var parts []io.Reader
	for _, piece := range append(unread, c.left) {
		parts = append(parts, bytes.NewReader(piece))
	}
	switch {
	case c.err != nil:
		parts = append(parts, broken{c.err})
	case !c.ended:
		parts = append(parts, s.r)
	}
	s.r = io.MultiReader(parts...)
	s.buf, s.p, s.base, s.final = make([]byte, 0, firstBuffer), 0, offset, false
}

// broken is a reader that failed.
type broken struct{ err error }

func (b broken) Read([]byte) (int, error) { return 0, b.err }

// eventsEnd is the position after the last event of text that another one seems to follow, 0 where there is none.
func eventsEnd(text []byte) int {
	for p := len(text); p > 0; {
		p = bytes.LastIndexByte(text[:p], '{')
		if p < 0 {
			return 0
		}
		if !beginsEvent(text[blanks(text, p+1):]) {
			continue
		}
		comma := lastVisible(text[:p])
		if comma > 0 && text[comma] == ',' {
			if end := lastVisible(text[:comma]); end > 0 && text[end] == '}' {
				return end + 1
			}
		}
	}
	return 0
}

// lastVisible is the position of the last byte that is no blank, -1 where there is none.
func lastVisible(text []byte) int {
	p := len(text) - 1
	for p >= 0 && (text[p] == ' ' || text[p] == '\n' || text[p] == '\r' || text[p] == '\t') {
		p--
	}
	return p
}
