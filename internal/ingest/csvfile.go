package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"

	"bottleneck/internal/model"
)

// Bounds of tables that profilers write as comma-separated values: a kernel's name can have tens of thousands of characters.
const (
	maxCSVLine    = 4 << 20
	maxCSVColumns = 1 << 14
	maxCSVRows    = 1 << 24
)

// csvFile reads a table of comma-separated values row by row. Profilers print such tables among lines of their own ("==1234== …")
// and of the program's: rows before the heading are passed over, and so are later lines that are no rows of it.
type csvFile struct {
	in      *bufio.Reader
	columns map[string]int // by name, reduced to letters and digits
	names   []string       // as the file has them
	row     []string
	offset  int64 // behind the row
	rows    int64
	bad     int64
	firstAt int64
	cut     bool
	more    bool // rows beyond the bound
	err     error
}

// csvName reduces a column's name to what its tool's versions have in common: letters, digits and the sign of shares.
func csvName(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '%':
			return r
		}
		return -1
	}, name)
}

// csvHeading says whether a line is the heading of a table with these columns.
func csvHeading(fields []string, needs ...string) bool {
	for _, need := range needs {
		found := false
		for _, f := range fields {
			found = found || csvName(f) == need
		}
		if !found {
			return false
		}
	}
	return true
}

// csvHead finds the heading of a table with one of these sets of columns among the first lines of a text.
func csvHead(head []byte, sets ...[]string) bool {
	head = bytes.TrimPrefix(head, []byte("\xEF\xBB\xBF"))
	if len(head) == 0 || head[0] < ' ' && head[0] != '\n' && head[0] != '\r' && head[0] != '\t' {
		return false
	}
	for len(head) > 0 {
		line, rest, _ := bytes.Cut(head, []byte("\n")) // the head may end within a heading of hundreds of columns
		if head = rest; bytes.IndexByte(line, ',') < 0 {
			continue
		}
		fields := splitCSV(nil, strings.TrimRight(string(line), "\r"), maxCSVColumns)
		for _, set := range sets {
			if csvHeading(fields, set...) {
				return true
			}
		}
	}
	return false
}

// openCSV reads up to the heading that has one of these sets of columns.
func openCSV(r io.Reader, sets ...[]string) (*csvFile, error) {
	c := &csvFile{in: bufio.NewReaderSize(r, 64<<10), firstAt: -1}
	for {
		line, ok := c.line()
		if !ok {
			return nil, errors.New("the heading of its table is missing")
		}
		fields := splitCSV(nil, strings.TrimPrefix(line, "\uFEFF"), maxCSVColumns)
		for _, set := range sets {
			if len(fields) <= maxCSVColumns && csvHeading(fields, set...) {
				c.names, c.columns = fields, map[string]int{}
				for i, name := range fields {
					if _, twice := c.columns[csvName(name)]; !twice {
						c.columns[csvName(name)] = i
					}
				}
				return c, nil
			}
		}
	}
}

// line is the next line of the file without its end. Longer ones than the bound are damage.
func (c *csvFile) line() (string, bool) {
	for {
		text, err := c.in.ReadSlice('\n')
		at := c.offset
		c.offset += int64(len(text))
		if err == nil {
			return strings.TrimRight(string(text), "\r\n"), true
		}
		line := bytes.Clone(text)
		for errors.Is(err, bufio.ErrBufferFull) {
			text, err = c.in.ReadSlice('\n')
			c.offset += int64(len(text))
			if len(line) <= maxCSVLine {
				line = append(line, text...)
			}
		}
		if len(line) > maxCSVLine {
			c.damaged(at)
			if err == nil {
				continue
			}
		}
		if err != nil && !errors.Is(err, io.EOF) {
			c.err = err
		}
		return strings.TrimRight(string(line), "\r\n"), len(line) > 0 && len(line) <= maxCSVLine
	}
}

// next goes to the next row; c.row holds its fields.
func (c *csvFile) next() bool {
	for {
		at := c.offset
		line, ok := c.line()
		if !ok {
			return false
		}
		if line == "" || strings.HasPrefix(line, "==") || strings.HasPrefix(line, "#") {
			continue
		}
		if c.rows >= maxCSVRows {
			c.more = true
			return false
		}
		c.row = splitCSV(c.row[:0], line, len(c.names))
		switch {
		case len(c.row) == len(c.names):
			c.rows++
			return true
		case csvName(line) == csvName(strings.Join(c.names, "")): // the heading again, of another process
		default:
			if _, err := c.in.Peek(1); err != nil {
				c.cut = true
				return false
			}
			c.damaged(at)
		}
	}
}

func (c *csvFile) damaged(at int64) {
	if c.bad++; c.firstAt < 0 {
		c.firstAt = at
	}
}

// splitCSV appends the fields of a line, and of longer ones one more than most. A quote within quotes is doubled.
func splitCSV(fields []string, line string, most int) []string {
	for {
		if len(fields) > most {
			return fields
		}
		if !strings.HasPrefix(line, `"`) {
			field, rest, more := strings.Cut(line, ",")
			fields = append(fields, strings.TrimSpace(field))
			if line = rest; !more {
				return fields
			}
			continue
		}
		end, doubled := 1, false
		for end < len(line) {
			if line[end] == '"' {
				if end+1 == len(line) || line[end+1] != '"' {
					break
				}
				doubled = true
				end++
			}
			end++
		}
		field := line[1:min(end, len(line))]
		if doubled {
			field = strings.ReplaceAll(field, `""`, `"`)
		}
		fields = append(fields, field)
		_, rest, more := strings.Cut(line[min(end, len(line)):], ",")
		if line = rest; !more {
			return fields
		}
	}
}

// text is the row's field of the first of these columns that the file has.
func (c *csvFile) text(columns ...string) string {
	for _, name := range columns {
		if at, ok := c.columns[name]; ok && at < len(c.row) {
			return c.row[at]
		}
	}
	return ""
}

func (c *csvFile) has(column string) bool {
	_, ok := c.columns[column]
	return ok
}

// number is a field as a number; false where it is none ("n/a", empty).
func (c *csvFile) number(columns ...string) (float64, bool) { return csvNumber(c.text(columns...)) }

// csvNumber reads a number with or without commas between its thousands. A number whose commas stand elsewhere is none.
func csvNumber(text string) (float64, bool) {
	text = strings.TrimSpace(text)
	if strings.IndexByte(text, ',') >= 0 {
		whole, _, _ := strings.Cut(text, ".")
		groups := strings.Split(whole, ",")
		for i, g := range groups {
			if i > 0 && len(g) != 3 || len(strings.TrimPrefix(g, "-")) > 3 {
				return 0, false
			}
		}
		text = strings.ReplaceAll(text, ",", "")
	}
	v, err := strconv.ParseFloat(text, 64)
	return v, err == nil && v == v && v < 1e300 && v > -1e300
}

// int is a field's whole number, 0 where it holds none. What stands before a number is passed over ("Agent 7").
func (c *csvFile) int(columns ...string) int64 {
	text := c.text(columns...)
	if at := strings.LastIndexByte(text, ' '); at >= 0 {
		text = text[at+1:]
	}
	n, err := strconv.ParseInt(text, 0, 64)
	if err != nil {
		if v, ok := csvNumber(text); ok && v > -1e18 && v < 1e18 {
			return int64(v)
		}
		return 0
	}
	return n
}

// damage says what of the table could not be read.
func (c *csvFile) damage() []model.Diagnostic {
	var out []model.Diagnostic
	add := func(kind string, n, first int64, text string) {
		if n > 0 {
			out = append(out, model.Diagnostic{Kind: kind, Count: n, FirstOffset: first, Text: text})
		}
	}
	add("bad-line", c.bad, c.firstAt, "lines that are no rows of the table are left out")
	if c.cut {
		add("cut-short", 1, c.offset, "the last row ends too early: the file was cut short or is still being written")
	}
	if c.more {
		add("too-many-rows", 1, c.offset, "the table has more than 16 million rows; what came after them was not read")
	}
	if c.err != nil {
		add("unreadable-end", 1, c.offset, "the file stops being readable: "+c.err.Error())
	}
	return out
}
