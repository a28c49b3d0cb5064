package sqlite

import "strings"

// maxColumns is SQLite's own bound.
const maxColumns = 1 << 15

// definition is what the text of a CREATE TABLE says of the columns.
type definition struct {
	columns []string
	integer []bool // of type INTEGER, which may be the row's number
	rowid   int    // -1 none
}

// parseTable finds the columns in the text of a CREATE TABLE, and the one that is the row's number. Tables without such numbers
// are not read.
func parseTable(sql string) (columns []string, rowid int, ok bool) {
	tokens := tokenise(sql)
	open := 0
	for open < len(tokens) && tokens[open] != "(" {
		open++
	}
	d := definition{rowid: -1}
	depth, from := 0, open+1
	for i := open; i < len(tokens) && len(d.columns) < maxColumns; i++ {
		switch tokens[i] {
		case "(":
			depth++
		case ")":
			depth--
		}
		if depth == 0 || depth == 1 && tokens[i] == "," {
			d.add(tokens[from:i])
			from = i + 1
		}
		if depth == 0 {
			break
		}
	}
	if len(d.columns) == 0 || depth != 0 {
		return nil, -1, false
	}
	rest := strings.ToUpper(strings.Join(tokens[from:], " "))
	return d.columns, d.rowid, !strings.Contains(rest, "WITHOUT ROWID")
}

// add takes one definition between commas: a column or a constraint.
func (d *definition) add(tokens []string) {
	if len(tokens) == 0 {
		return
	}
	rest := strings.ToUpper(strings.Join(tokens[1:], " "))
	switch strings.ToUpper(tokens[0]) {
	case "CONSTRAINT", "UNIQUE", "CHECK", "FOREIGN":
		return
	case "PRIMARY":
		if len(tokens) == 5 && tokens[2] == "(" {
			for i, c := range d.columns {
				if d.integer[i] && strings.EqualFold(unquote(tokens[3]), c) {
					d.rowid = i
				}
			}
		}
		return
	}
	integer := len(tokens) > 1 && strings.EqualFold(tokens[1], "INTEGER")
	if integer && strings.Contains(rest, "PRIMARY KEY") && !strings.Contains(rest, "PRIMARY KEY DESC") {
		d.rowid = len(d.columns)
	}
	d.columns, d.integer = append(d.columns, unquote(tokens[0])), append(d.integer, integer)
}

// tokenise cuts SQL into words, quoted names and signs, without comments.
func tokenise(sql string) []string {
	var out []string
	for i := 0; i < len(sql); {
		c := sql[i]
		n := 1
		switch {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
			continue
		case strings.HasPrefix(sql[i:], "--"):
			i += through(sql[i:], "\n")
			continue
		case strings.HasPrefix(sql[i:], "/*"):
			i += through(sql[i:], "*/")
			continue
		case c == '"' || c == '\'' || c == '`':
			n = 1 + through(sql[i+1:], string(c))
			for i+n < len(sql) && sql[i+n] == c { // a doubled quote stands for one
				n += 1 + through(sql[i+n+1:], string(c))
			}
		case c == '[':
			n = through(sql[i:], "]")
		case isWord(c):
			for i+n < len(sql) && isWord(sql[i+n]) {
				n++
			}
		}
		out = append(out, sql[i:i+n])
		i += n
	}
	return out
}

// through is how far an end is, itself included; all where it is missing.
func through(text, end string) int {
	if at := strings.Index(text, end); at >= 0 {
		return at + len(end)
	}
	return len(text)
}

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

func unquote(name string) string {
	if len(name) > 1 && strings.ContainsRune("\"'`[", rune(name[0])) {
		return strings.ReplaceAll(name[1:len(name)-1], name[:1]+name[:1], name[:1])
	}
	return name
}
