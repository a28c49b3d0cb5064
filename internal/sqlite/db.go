package sqlite

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// ErrFormat is for a file that is no SQLite database, or one that is encrypted.
var ErrFormat = errors.New("no SQLite database that can be read")

const magic = "SQLite format 3\x00"

// DB is an open database.
type DB struct {
	in       io.ReaderAt
	size     int64
	pageSize int
	usable   int // bytes of a page without its reserved end
	encoding uint32
	tables   map[string]*Table
	others   map[string]string // views and virtual tables by name: what they are
	damage   Damage
	block    []byte // the last part of the file that was read
	blockAt  int64
	seen     []uint64 // pages of the table that is being read
}

// Damage counts what could not be read.
type Damage struct {
	Pages   int64 // missing, of the wrong kind, or used twice
	Records int64 // that do not fit their page
	First   int64 // number of the first such page
	Cut     int64 // bytes that the header promises and the file lacks
	Log     bool  // the file says that newer pages stand in a write-ahead log beside it
}

// Table is a table's definition.
type Table struct {
	Name    string
	Columns []string
	root    uint32
	rowid   int // the column that is the row's number, -1 none
}

// Open reads a database's definitions.
func Open(in io.ReaderAt, size int64) (*DB, error) {
	head := make([]byte, 100)
	if _, err := in.ReadAt(head, 0); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("read database: %w", err)
	}
	if string(head[:16]) != magic {
		return nil, fmt.Errorf("%w: its first bytes are not SQLite's; an encrypted database has to be decrypted first", ErrFormat)
	}
	d := &DB{in: in, size: size, pageSize: int(binary.BigEndian.Uint16(head[16:])), encoding: binary.BigEndian.Uint32(head[56:]),
		tables: map[string]*Table{}, others: map[string]string{}, blockAt: -1}
	if d.pageSize == 1 {
		d.pageSize = 1 << 16
	}
	d.usable = d.pageSize - int(head[20])
	if d.pageSize < 512 || d.pageSize&(d.pageSize-1) != 0 || d.usable < 480 {
		return nil, fmt.Errorf("%w: pages of %d bytes", ErrFormat, d.pageSize)
	}
	if head[19] > 2 {
		return nil, fmt.Errorf("%w: written for version %d of the format, which is newer than 2", ErrFormat, head[19])
	}
	if d.encoding > 3 {
		return nil, fmt.Errorf("%w: text encoding %d", ErrFormat, d.encoding)
	}
	d.damage.Log = head[19] == 2
	if promised := int64(binary.BigEndian.Uint32(head[28:])) * int64(d.pageSize); promised > size {
		d.damage.Cut = promised - size
	}
	return d, d.schema()
}

// Damage is what could not be read so far.
func (d *DB) Damage() Damage { return d.damage }

// Table is the definition of a table, nil where there is none of that name.
func (d *DB) Table(name string) *Table { return d.tables[name] }

// Names are the names of all tables, in order.
func (d *DB) Names() []string { return slices.Sorted(maps.Keys(d.tables)) }

// Instead says what a name stands for that is no table: "view" or "virtual table"; "" nothing.
func (d *DB) Instead(name string) string { return d.others[name] }

// Has says whether a table has a column.
func (t *Table) Has(column string) bool { return t.column(column) >= 0 }

func (t *Table) column(name string) int {
	for i, c := range t.Columns {
		if strings.EqualFold(c, name) {
			return i
		}
	}
	return -1
}

// maxTables bounds the definitions of a database.
const maxTables = 1 << 14

func (d *DB) schema() error {
	master := &Table{Name: "sqlite_schema", Columns: []string{"type", "name", "tbl_name", "rootpage", "sql"}, root: 1, rowid: -1}
	err := d.Scan(master, []string{"type", "name", "rootpage", "sql"}, func(v []Value) error {
		kind, name, sql := v[0].Text(), v[1].Text(), v[3].Text()
		root := v[2].Int()
		if kind == "view" || kind == "table" && root <= 0 {
			d.others[name] = map[string]string{"view": "view", "table": "virtual table"}[kind]
			return nil
		}
		if kind != "table" || root > 1<<32-1 || len(d.tables) >= maxTables {
			return nil
		}
		columns, rowid, ok := parseTable(sql)
		if !ok {
			d.others[name] = "table of a kind that is not read"
			return nil
		}
		d.tables[name] = &Table{Name: name, Columns: columns, root: uint32(root), rowid: rowid}
		return nil
	})
	if err != nil {
		return err
	}
	if len(d.tables)+len(d.others) == 0 && d.damage.Pages > 0 {
		return fmt.Errorf("%w: its first page is damaged, or encrypted", ErrFormat)
	}
	return nil
}
