package record

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// Bounds of JSON that is redacted: one text (a longer one goes), and its depth.
const (
	maxRedactString = 1 << 20
	maxRedactDepth  = 200
)

var errNotJSON = errors.New("no JSON")

// jsonCopier copies JSON of any size by a rule. Only what the rule lets stay is written, and only as JSON: of damaged text what comes
// before the damage.
type jsonCopier struct {
	r   *Redactor
	in  *bufio.Reader
	out *bufio.Writer
	// lines: each value stays on its line; else each object of an array begins one.
	lines bool
}

// document redacts JSON. Damage ends it; the error is of the writer.
func (r *Redactor) document(w io.Writer, in io.Reader, u *rule) error {
	c := &jsonCopier{r: r, in: bufio.NewReaderSize(in, 1<<18), out: bufio.NewWriterSize(w, 1<<18), lines: u.lines}
	for row := 1; c.value(u, 0) == nil && u.lines; row++ {
		_ = c.out.WriteByte('\n')
		if row == r.rows {
			break
		}
	}
	return c.out.Flush()
}

// next is the first byte that is not blank.
func (c *jsonCopier) next() (byte, error) {
	for {
		b, err := c.in.ReadByte()
		if err != nil || b != ' ' && b != '\n' && b != '\t' && b != '\r' {
			return b, err
		}
	}
}

func (c *jsonCopier) value(u *rule, depth int) error {
	b, err := c.next()
	if err != nil {
		return err
	}
	return c.valueAt(b, u, depth)
}

func (c *jsonCopier) valueAt(b byte, u *rule, depth int) error {
	if depth > maxRedactDepth {
		return errNotJSON
	}
	switch {
	case b == '{':
		return c.object(u, depth)
	case b == '[':
		return c.array(u, depth)
	case b == '"':
		text, err := c.text()
		if err != nil {
			return err
		}
		return c.write(c.r.quote(u, text))
	}
	return c.scalar(b, u)
}

func (c *jsonCopier) write(b []byte) error { _, err := c.out.Write(b); return err }

// text reads a string whose opening quote was read.
func (c *jsonCopier) text() (string, error) {
	raw := []byte{'"'}
	simple := true // it stands for itself
	for escaped := false; ; {
		b, err := c.in.ReadByte()
		if err != nil {
			return "", err
		}
		simple = simple && b != '\\' && b >= ' ' && b < utf8.RuneSelf
		if len(raw) <= maxRedactString+2 {
			raw = append(raw, b)
		}
		if b == '"' && !escaped {
			break
		}
		escaped = b == '\\' && !escaped
	}
	if len(raw) > maxRedactString {
		return strings.Repeat("x", maxRedactString+1), nil
	}
	if simple {
		return string(raw[1 : len(raw)-1]), nil
	}
	if !utf8.Valid(raw) {
		raw = []byte(strings.ToValidUTF8(string(raw), "\uFFFD"))
	}
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return "", nil // an escape that is none
	}
	return s, nil
}

var (
	jsonNumber  = lazy(`^-?\d{1,40}(\.\d{1,60})?([eE][+-]?\d{1,4})?$`)
	jsonLiteral = map[string]bool{"true": true, "false": true, "null": true}
)

// longestNumber is how many characters of a number are looked at.
const longestNumber = 128

// scalar copies a number or literal.
func (c *jsonCopier) scalar(b byte, u *rule) error {
	text, all := []byte{b}, 1
	for {
		next, err := c.in.Peek(1)
		if err != nil || strings.IndexByte("+-.0123456789eEtrufalsn", next[0]) < 0 {
			break
		}
		b, _ := c.in.ReadByte()
		if all++; all <= longestNumber {
			text = append(text, b)
		}
	}
	number := b == '-' || b >= '0' && b <= '9'
	switch s := string(text); {
	case shortInteger(text), all <= longestNumber && jsonNumber().MatchString(s):
		if u == nil || !u.number {
			text = []byte("0")
		}
	case s == "null" || jsonLiteral[s] && u != nil && u.number:
	case jsonLiteral[s]:
		text = []byte("null")
	case number && (all > longestNumber || json.Valid(text)):
		text = []byte("0") // of a form that no measurement has
	default:
		return errNotJSON
	}
	return c.write(text)
}

// shortInteger says that a text is what most numbers are: some digits and nothing else.
func shortInteger(text []byte) bool {
	for _, b := range text {
		if b < '0' || b > '9' {
			return false
		}
	}
	return len(text) <= 40
}

// object copies the members of an object, each by its own rule.
func (c *jsonCopier) object(u *rule, depth int) error {
	_ = c.out.WriteByte('{')
	for first := true; ; first = false {
		b, err := c.next()
		if err == nil && b == ',' && !first {
			_ = c.out.WriteByte(',')
			b, err = c.next()
		}
		if err != nil {
			return err
		}
		if b == '}' {
			return c.out.WriteByte('}')
		}
		if b != '"' {
			return errNotJSON
		}
		key, err := c.text()
		if err != nil {
			return err
		}
		if b, err = c.next(); err != nil || b != ':' {
			return errNotJSON
		}
		key, inner := u.member(c.r, key)
		if err := c.write(append(quote(key), ": "...)); err != nil {
			return err
		}
		if err := c.value(inner, depth+1); err != nil {
			return err
		}
	}
}

// array copies the elements of an array.
func (c *jsonCopier) array(u *rule, depth int) error {
	_ = c.out.WriteByte('[')
	for i := 0; ; i++ {
		b, err := c.next()
		if err == nil && b == ',' && i > 0 {
			_ = c.out.WriteByte(',')
			if b, err = c.next(); b == '{' && !c.lines {
				_ = c.out.WriteByte('\n')
			}
		}
		if err != nil {
			return err
		}
		if b == ']' {
			return c.out.WriteByte(']')
		}
		if i == 0 && u != nil && u.rows != nil {
			if u, err = c.row(b, u); err != nil {
				return err
			}
			continue
		}
		if err := c.valueAt(b, u.item(i), depth+1); err != nil {
			return err
		}
	}
}

// row copies the first element of a row, which says what it is, and returns the rule for all of them.
func (c *jsonCopier) row(b byte, u *rule) (*rule, error) {
	if b != '"' {
		return nil, errNotJSON
	}
	kind, err := c.text()
	if err != nil {
		return nil, err
	}
	own := u.rows[kind]
	if own == nil {
		return nil, c.write([]byte(`"left-out"`)) // of a newer agent: nothing of it is known
	}
	return own, c.write(quote(kind))
}
