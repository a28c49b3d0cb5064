package pickle

import (
	"errors"
	"io"
)

// source is the text, a part of it in memory at a time.
type source struct {
	in   io.Reader
	buf  []byte
	p    int
	base int64 // offset of buf
	err  error
}

func (s *source) offset() int64 { return s.base + int64(s.p) }

// left is how much of the text stands ready.
func (s *source) left() int { return len(s.buf) - s.p }

// padding stands behind the end of the text, so that an operation's argument can be looked at before its length is checked.
var padding [16]byte

// need makes n bytes ready (no more than 16), with zeros behind the end of the text. The error is for a text that is at its end.
func (s *source) need(n int) ([]byte, error) {
	if s.left() >= n {
		return s.buf[s.p:], nil
	}
	s.fill(n)
	switch {
	case s.left() >= n:
		return s.buf[s.p:], nil
	case s.left() == 0 && errors.Is(s.err, io.EOF):
		return nil, io.ErrUnexpectedEOF
	case s.left() == 0:
		return nil, s.err
	}
	return append(s.buf[s.p:len(s.buf):len(s.buf)], padding[:]...), nil
}

func (s *source) fill(n int) {
	s.base += int64(s.p)
	s.buf = s.buf[:copy(s.buf[:cap(s.buf)], s.buf[s.p:])]
	s.p = 0
	for len(s.buf) < n && s.err == nil {
		var k int
		k, s.err = s.in.Read(s.buf[len(s.buf):cap(s.buf)])
		s.buf = s.buf[:len(s.buf)+k]
	}
}

// take is the next n bytes, valid until the next call. However many a text claims, no more is kept than it has.
func (s *source) take(n int) ([]byte, error) {
	if s.left() < n && n <= cap(s.buf) {
		s.fill(n)
	}
	if s.left() >= n {
		s.p += n
		return s.buf[s.p-n : s.p], nil
	}
	if n <= cap(s.buf) {
		return nil, s.end()
	}
	out, err := io.ReadAll(io.LimitReader(s, int64(n)))
	if err == nil && len(out) < n {
		err = s.end()
	}
	return out, err
}

func (s *source) end() error {
	if s.err != nil && !errors.Is(s.err, io.EOF) {
		return s.err
	}
	return io.ErrUnexpectedEOF
}

// Read is io.Reader for what is longer than the buffer.
func (s *source) Read(p []byte) (int, error) {
	if s.left() == 0 {
		s.fill(1)
	}
	if s.left() == 0 {
		return 0, s.err
	}
	n := copy(p, s.buf[s.p:])
	s.p += n
	return n, nil
}

// line is a text up to a line's end.
func (s *source) line() (string, error) {
	var out []byte
	for len(out) < 1<<12 {
		b, err := s.take(1)
		if err != nil {
			return "", err
		}
		if b[0] == '\n' {
			return string(out), nil
		}
		out = append(out, b[0])
	}
	return "", ErrData
}
