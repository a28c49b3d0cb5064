package ingest

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// jsonBytes reads JSON whose shape is known from its bytes, for profiles of hundreds of megabytes: encoding/json's tokens take ten times
// as long. Like jsonStream it holds one value in memory at a time.
type jsonBytes struct {
	in   io.Reader
	buf  []byte
	r, w int   // what is read of buf, and what it holds
	at   int64 // offset of buf's first byte
	err  error // of the reader
}

func newJSONBytes(r io.Reader) *jsonBytes { return &jsonBytes{in: r, buf: make([]byte, 256<<10)} }

func (j *jsonBytes) offset() int64 { return j.at + int64(j.r) }

// fill reads more behind what is held from j.r on; false at the end.
func (j *jsonBytes) fill() bool {
	if j.err != nil {
		return false
	}
	if j.r > 0 {
		copy(j.buf, j.buf[j.r:j.w])
		j.at, j.w, j.r = j.at+int64(j.r), j.w-j.r, 0
	}
	if j.w == len(j.buf) {
		if len(j.buf) >= maxJSONValue {
			j.err = fmt.Errorf("a value longer than %d MiB", maxJSONValue>>20)
			return false
		}
		j.buf = append(j.buf, make([]byte, len(j.buf))...)
	}
	for {
		n, err := j.in.Read(j.buf[j.w:])
		j.w += n
		if err != nil {
			j.err = err
		}
		if n > 0 || err != nil {
			return n > 0
		}
	}
}

func (j *jsonBytes) failed(text string) error {
	if j.err != nil && j.err != io.EOF {
		return fmt.Errorf("at byte %d: %w", j.offset(), j.err)
	}
	if j.err == io.EOF && j.r >= j.w {
		text = "the text ends too early"
	}
	return fmt.Errorf("at byte %d: %s", j.offset(), text)
}

// next is the next byte that is no blank, which stays; 0 at the end.
func (j *jsonBytes) next() byte {
	for {
		for j.r < j.w {
			switch c := j.buf[j.r]; c {
			case ' ', '\n', '\r', '\t':
				j.r++
			default:
				return c
			}
		}
		if !j.fill() {
			return 0
		}
	}
}

func (j *jsonBytes) expect(c byte) error {
	if got := j.next(); got != c {
		return j.failed(fmt.Sprintf("%q where %q was expected", string(got), string(c)))
	}
	j.r++
	return nil
}

// list calls element for each element between brackets; element must consume it.
func (j *jsonBytes) list(begin, end byte, element func() error) error {
	if j.null() {
		return nil
	}
	if err := j.expect(begin); err != nil {
		return err
	}
	for first := true; ; first = false {
		c := j.next()
		if c == end {
			j.r++
			return nil
		}
		if !first {
			if err := j.expect(','); err != nil {
				return err
			}
		}
		if err := element(); err != nil {
			return err
		}
	}
}

func (j *jsonBytes) array(element func() error) error { return j.list('[', ']', element) }

// object calls member for each member; member must consume its value.
func (j *jsonBytes) object(member func(name string) error) error {
	return j.list('{', '}', func() error {
		name, err := j.text()
		if err != nil {
			return err
		}
		if err := j.expect(':'); err != nil {
			return err
		}
		return member(name)
	})
}

// until holds the text from here to the first byte that ends it, without that byte; false where the text ends before.
func (j *jsonBytes) until(from int, ends func(c byte) bool) (length int, ok bool) {
	for n := from; ; n++ {
		if j.r+n >= j.w && !j.fill() {
			return n, false
		}
		if ends(j.buf[j.r+n]) {
			return n, true
		}
	}
}

// null passes over a null.
func (j *jsonBytes) null() bool {
	if j.next() != 'n' {
		return false
	}
	n, _ := j.until(1, func(c byte) bool { return c < 'a' || c > 'z' })
	if string(j.buf[j.r:j.r+n]) != "null" {
		return false
	}
	j.r += n
	return true
}

// text reads a string; null is empty.
func (j *jsonBytes) text() (string, error) {
	if j.null() {
		return "", nil
	}
	if j.next() != '"' {
		return "", j.failed("no text where one was expected")
	}
	escaped, simple := false, true
	n, ok := j.until(1, func(c byte) bool {
		if escaped {
			escaped = false
			return false
		}
		escaped = c == '\\'
		simple = simple && !escaped && c >= ' ' && c < 0x80
		return c == '"'
	})
	if !ok {
		j.r += n
		return "", j.failed("a text without an end")
	}
	raw := j.buf[j.r : j.r+n+1]
	j.r += n + 1
	if simple {
		return string(raw[1:n]), nil
	}
	var out string
	if err := json.Unmarshal(raw, &out); err != nil {
		return "", j.failed(err.Error())
	}
	return out, nil
}

// number reads a number; null is 0. Numbers that repeat, as weights of samples do, are not parsed again.
func (j *jsonBytes) number(last *lastNumber) (float64, error) {
	if j.null() {
		return 0, nil
	}
	n, _ := j.until(0, func(c byte) bool {
		return (c < '0' || c > '9') && c != '.' && c != '-' && c != '+' && c != 'e' && c != 'E'
	})
	raw := j.buf[j.r : j.r+n]
	if last != nil && bytes.Equal(raw, last.text) {
		j.r += n
		return last.value, nil
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil && !errors.Is(err, strconv.ErrRange) || n == 0 || v != v || v > 1e300 || v < -1e300 {
		return 0, j.failed("no number where one was expected")
	}
	j.r += n
	if last != nil {
		last.text, last.value = append(last.text[:0], raw...), v
	}
	return v, nil
}

// lastNumber is a number and its text.
type lastNumber struct {
	text  []byte
	value float64
}

// flat is the text of an array without arrays, objects or texts within, brackets included. It is good until the next call.
func (j *jsonBytes) flat() ([]byte, error) {
	if j.next() != '[' {
		return nil, j.failed("no list of numbers where one was expected")
	}
	for from := 1; ; {
		if at := bytes.IndexByte(j.buf[j.r+from:j.w], ']'); at >= 0 {
			raw := j.buf[j.r : j.r+from+at+1]
			j.r += len(raw)
			return raw, nil
		}
		from = j.w - j.r
		if !j.fill() {
			j.r = j.w
			return nil, j.failed("a list without an end")
		}
	}
}

// skip passes over a value.
func (j *jsonBytes) skip() error {
	for depth := 0; ; {
		switch c := j.next(); c {
		case 0:
			return j.failed("the text ends too early")
		case '"':
			if _, err := j.text(); err != nil {
				return err
			}
		case '[', '{':
			if depth++; depth > maxJSONDepth {
				return j.failed(fmt.Sprintf("nested deeper than %d", maxJSONDepth))
			}
			j.r++
			continue
		case ']', '}':
			if depth--; depth < 0 {
				return j.failed("a bracket that closes nothing")
			}
			j.r++
		case ',', ':':
			if depth == 0 {
				return j.failed("no value where one was expected")
			}
			j.r++
			continue
		default:
			n, _ := j.until(0, func(c byte) bool { return c <= ' ' || c == ',' || c == ']' || c == '}' || c == ':' || c == '"' })
			j.r += max(n, 1)
		}
		if depth == 0 {
			return nil
		}
	}
}
