package kineto

import (
	"bytes"
	"errors"
	"io"
)

// ErrNotTrace says that a text is neither an object nor an array: it is no Chrome trace at all.
var ErrNotTrace = errors.New("no JSON object or array at the beginning")

const (
	firstBuffer = 256 << 10
	maxEvent    = 32 << 20 // an event or top-level value that is longer is skipped
)

type state uint8

const (
	atStart state = iota
	atTop
	inEvents
	atEnd
)

// Scanner reads events from a text.
type Scanner struct {
	// Names holds decoded strings, JSON raw JSON values.
	Names, JSON *Texts
	// OnKey is called for every top-level key except traceEvents with its raw value, cut at KeyLimit bytes.
	OnKey func(key string, raw []byte)
	// Fractions says that times were written with digits after the point: nanoseconds, not whole microseconds.
	Fractions bool
	// NoFlows passes over the values of flow events (phases s, t and f), whose phase is then all that can be relied on.
	NoFlows bool
	// Array says that the text is a bare array of events; SawEvents that traceEvents (or that array) was there.
	Array, SawEvents bool
	Damage           Damages

	r       io.Reader
	err     error
	buf     []byte
	p       int   // in buf
	base    int64 // offset of buf[0] in the text
	final   bool  // buf holds the rest of the text
	piece   bool  // buf is a piece of a text: see Piece
	state   state
	lenient bool
	root    *node
	first   *node // first node of the last event
	nodes   int
	idNodes int
	before  uint64 // the last four names, sixteen bits of each
	scratch []byte
}

// KeyLimit bounds the values handed to OnKey.
const KeyLimit = 4 << 20

// NewScanner reads from r.
func NewScanner(r io.Reader) *Scanner {
	s := newScanner()
	s.r = r
	s.buf = make([]byte, 0, firstBuffer)
	return s
}

// NewBytesScanner reads from memory.
func NewBytesScanner(b []byte) *Scanner {
	s := newScanner()
	s.buf, s.final = b, true
	return s
}

func newScanner() *Scanner {
	return &Scanner{Names: NewTexts(), JSON: NewTexts(), root: &node{}, first: &node{}}
}

// Err is the error of the reader, or ErrNotTrace. A damaged text is no error: see Damage.
func (s *Scanner) Err() error { return s.err }

// Offset is how far the scanner has come in the text.
func (s *Scanner) Offset() int64 { return s.base + int64(s.p) }

// Release gives back the memory of the text that was read last; Names and JSON stay. Nothing more can be read.
func (s *Scanner) Release() { s.base, s.p, s.buf, s.r, s.final = s.Offset(), 0, nil, nil, true }

// Next reads the next event into e. It returns false at the end of the text.
func (s *Scanner) Next(e *Event) bool {
	for {
		switch s.state {
		case atStart:
			s.begin()
		case atTop:
			s.top()
		case inEvents:
			if s.inEvents(e) {
				return true
			}
		case atEnd:
			return false
		}
	}
}

// inEvents reads one event; false when the array ends or nothing can be read here.
func (s *Scanner) inEvents(e *Event) bool {
	e.reset(s.base + int64(s.p))
	q := s.event(s.p, e)
	if q >= 0 {
		s.p = q
		return true
	}
	switch {
	case s.piece:
		s.state = atEnd
	case q == failEnd:
		s.p += bytes.IndexByte(s.buf[s.p:], ']') + 1
		s.state = atTop
		if s.Array {
			s.state = atEnd
		}
	case q == failMore && !s.final:
		s.dropBlanks()
		if !s.more() {
			s.resync(Oversized)
		}
	case q == failMore:
		return s.salvageTail(e)
	default:
		return s.repair(e)
	}
	return false
}

// dropBlanks passes over a buffer that holds nothing but separators.
func (s *Scanner) dropBlanks() {
	p := s.p
	for p < len(s.buf) && (s.buf[p] == ',' || blanks(s.buf, p) > p) {
		p = max(p+1, blanks(s.buf, p))
	}
	if p == len(s.buf) {
		s.p = p
	}
}

// more makes room and reads; false when the buffer is as large as it may get without coming to an end.
func (s *Scanner) more() bool {
	if s.p > 0 {
		n := copy(s.buf, s.buf[s.p:])
		s.buf = s.buf[:n]
		s.base += int64(s.p)
		s.p = 0
	}
	if len(s.buf) == cap(s.buf) {
		if cap(s.buf) >= maxEvent {
			return false
		}
		grown := make([]byte, len(s.buf), 2*cap(s.buf))
		copy(grown, s.buf)
		s.buf = grown
	}
	s.read()
	return true
}

// read fills the buffer: what does not fit an event is parsed again after each reading, so readings must be long.
func (s *Scanner) read() {
	for empty := 0; len(s.buf) < cap(s.buf); {
		n, err := s.r.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+n]
		if err != nil {
			s.final = true
			if err != io.EOF {
				s.err = err
			}
			return
		}
		if n > 0 {
			empty = 0
		} else if empty++; empty > 100 {
			s.final, s.err = true, io.ErrNoProgress
			return
		}
	}
}

// begin reads up to the first bracket.
func (s *Scanner) begin() {
	if bytes.HasPrefix(s.buf[s.p:], []byte("\xEF\xBB\xBF")) {
		s.p += 3
	}
	s.p = blanks(s.buf, s.p)
	if len(s.buf)-s.p < 4 && !s.final {
		s.more()
		return
	}
	if s.p >= len(s.buf) {
		s.state = atEnd
		s.err = errors.Join(s.err, ErrNotTrace)
		return
	}
	switch s.buf[s.p] {
	case '[':
		s.Array, s.SawEvents, s.state = true, true, inEvents
	case '{':
		s.state = atTop
	default:
		s.err, s.state = errors.Join(s.err, ErrNotTrace), atEnd
	}
	s.p++
}

// top reads one key of the outermost object and its value, or its end.
func (s *Scanner) top() {
	q := s.topKey()
	switch {
	case q >= 0:
		s.p = q
	case q == failMore && !s.final && s.more():
	case q == failMore && s.final && s.SawEvents:
		if blanks(s.buf, s.p) < len(s.buf) || s.buf == nil {
			s.Damage.add(Truncated, s.Offset(), int64(len(s.buf)-s.p))
		} else {
			s.Damage.add(Unclosed, s.Offset(), 0)
		}
		s.state = atEnd
	default:
		s.repairTop()
	}
}

func (s *Scanner) topKey() int {
	b := s.buf
	p := s.p
	for p = blanks(b, p); p < len(b) && b[p] == ','; p = blanks(b, p) {
		p++
	}
	if p >= len(b) {
		return failMore
	}
	if b[p] == '}' {
		s.state = atEnd
		return p + 1
	}
	if b[p] != '"' {
		return failBad
	}
	end, _ := s.quoted(b, p)
	if end < 0 {
		return end
	}
	key := string(b[p+1 : end-1])
	if p = blanks(b, end); p >= len(b) {
		return failMore
	}
	if b[p] != ':' {
		return failBad
	}
	if p = blanks(b, p+1); p >= len(b) {
		return failMore
	}
	if key == "traceEvents" && b[p] == '[' && !s.SawEvents {
		s.SawEvents, s.state = true, inEvents
		return p + 1
	}
	return s.topValue(key, p)
}

// topValue reads a value and makes sure that it is followed by what may follow.
func (s *Scanner) topValue(key string, p int) int {
	b := s.buf
	end := p
	if b[p] != ',' { // an empty value, as empty metadata leaves it
		if end = s.skip(b, p); end < 0 {
			return end
		}
	}
	after := blanks(b, end)
	if after >= len(b) && !s.final {
		return failMore
	}
	if after < len(b) && b[after] != ',' && b[after] != '}' {
		return failBad
	}
	if s.OnKey != nil {
		s.OnKey(key, b[p:min(end, p+KeyLimit)])
	}
	return end
}
