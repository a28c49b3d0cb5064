package sqlite

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

const realTraces = "../../../shared/traces"

// made runs a few lines of SQL by Python's sqlite3 and returns the database's bytes.
func made(t testing.TB, sql string) []byte {
	t.Helper()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skipf("no Python to make databases with: %v", err)
	}
	path := filepath.Join(t.TempDir(), "made.sqlite")
	cmd := exec.Command(python, "-c",
		"import sqlite3,sys\nc=sqlite3.connect(sys.argv[1])\nc.executescript(sys.stdin.read())\nc.commit()\nc.close()", path)
	cmd.Stdin = strings.NewReader(sql)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func open(t testing.TB, text []byte) *DB {
	t.Helper()
	d, err := Open(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// rows writes the rows of a table as text.
func rows(t testing.TB, d *DB, name string, columns ...string) []string {
	t.Helper()
	table := d.Table(name)
	if table == nil {
		t.Fatalf("no table %s", name)
	}
	var out []string
	err := d.Scan(table, columns, func(v []Value) error {
		var cells []string
		for i := range v {
			switch v[i].kind {
			case 0:
				cells = append(cells, "-")
			case 'i':
				cells = append(cells, fmt.Sprint(v[i].Int()))
			case 'f':
				cells = append(cells, fmt.Sprint(v[i].Float()))
			default:
				cells = append(cells, v[i].Text())
			}
		}
		out = append(out, strings.Join(cells, "|"))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestValues(t *testing.T) {
	for _, encoding := range []string{"UTF-8", "UTF-16le", "UTF-16be"} {
		d := open(t, made(t, "PRAGMA encoding='"+encoding+"'; CREATE TABLE t (-- a comment, with (signs)\n id INTEGER PRIMARY KEY, [a b] "+
			"INT, \"c\"\"\" REAL DEFAULT (1+2), d TEXT, e BLOB, CHECK (d != 'x, y'));"+
			"INSERT INTO t VALUES (7, -1, 1.5, 'é', x'00ff'), (9, 9223372036854775807, -0.0, NULL, NULL), (-3, 128, 3, '', x''); ALTER "+
			"TABLE t ADD COLUMN f; "+
			"INSERT INTO t VALUES (100, -140737488355328, 1e300, 'a', 'b', -8388608);"))
		want := []string{"-3|128|3||-", "7|-1|1.5|é|-", "9|9223372036854775807|0|-|-", "100|-140737488355328|1e+300|a|-8388608"}
		if got := rows(t, d, "t", "ID", "a b", `c"`, "d", "f"); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %q, want %q; columns %q", encoding, got, want, d.Table("t").Columns)
		}
		if got := rows(t, d, "t", "id", "a b", "d", "f", "nothing"); !reflect.DeepEqual(got,
			[]string{"-3|128||-|-", "7|-1|é|-|-", "9|9223372036854775807|-|-|-", "100|-140737488355328|a|-8388608|-"}) {
			t.Errorf("%s: %q", encoding, got)
		}
		if dmg := d.Damage(); dmg != (Damage{}) {
			t.Errorf("%+v", dmg)
		}
	}
}

func TestLongTextsAndManyRows(t *testing.T) {
	for _, size := range []string{"512", "4096", "65536"} {
		d := open(t,
			made(t, "PRAGMA page_size="+size+
				"; CREATE TABLE t (a INTEGER, b TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<30000) "+
				"INSERT INTO t SELECT i, CASE WHEN i % 1000 = 0 THEN printf('%.*c', i*3, 'x') ELSE 'y' END FROM n;"))
		n, long := 0, 0
		err := d.Scan(d.Table("t"), []string{"a", "b"}, func(v []Value) error {
			n++
			if v[0].Int() != int64(n) {
				t.Fatalf("row %d holds %d", n, v[0].Int())
			}
			if n%1000 == 0 {
				long++
				if v[1].Text() != strings.Repeat("x", 3*n) {
					t.Errorf("row %d: a text of %d bytes, want %d", n, len(v[1].Text()), 3*n)
				}
			}
			return nil
		})
		if err != nil || n != 30000 || long != 30 || d.Damage() != (Damage{}) {
			t.Errorf("pages of %s: %d rows, %d long, %v, %+v", size, n, long, err, d.Damage())
		}
	}
}

func TestNothingOfADatabaseIsExecuted(t *testing.T) {
	d := open(t, made(t, "CREATE TABLE real (a); INSERT INTO real VALUES (1); CREATE VIEW StringIds AS SELECT load_extension('x'); CREATE "+
		"TRIGGER g AFTER INSERT ON real BEGIN DELETE FROM real; END; "+
		"CREATE TABLE w (k TEXT PRIMARY KEY, v) WITHOUT ROWID; CREATE INDEX i ON real(a);"))
	if d.Table("StringIds") != nil || d.Instead("StringIds") != "view" {
		t.Errorf("a view is a table: %q", d.Instead("StringIds"))
	}
	if d.Table("w") != nil || d.Instead("w") == "" {
		t.Errorf("a table without row numbers: %q", d.Instead("w"))
	}
	if got := rows(t, d, "real", "a"); !reflect.DeepEqual(got, []string{"1"}) {
		t.Errorf("%q", got)
	}
}

func TestDamagedDatabases(t *testing.T) {
	text := made(t, "CREATE TABLE t (a INTEGER, b TEXT); WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<20000) "+
		"INSERT INTO t SELECT i, 'abcdefgh' FROM n;")
	for part := 1; part < 10; part++ {
		cut := text[:len(text)*part/10]
		d := open(t, cut)
		got := len(rows(t, d, "t", "a"))
		if got < 20000*(part-1)/10 || got >= 20000 || d.Damage().Cut != int64(len(text)-len(cut)) || d.Damage().Pages == 0 {
			t.Errorf("%d tenths: %d rows, %+v", part, got, d.Damage())
		}
	}
	loop := bytes.Clone(text)
	for at := 4096; at < len(loop); at += 4096 {
		if loop[at] == interiorPage { // every child is the page itself
			for i := range int(loop[at+3])<<8 | int(loop[at+4]) {
				cell := int(loop[at+12+2*i])<<8 | int(loop[at+13+2*i])
				copy(loop[at+cell:], []byte{0, 0, 0, byte(at/4096 + 1)})
			}
			break
		}
	}
	if d := open(t, loop); len(rows(t, d, "t", "a")) >= 20000 || d.Damage().Pages == 0 {
		t.Error("a table that is its own child")
	}
	for name, raw := range map[string][]byte{"empty": nil, "encrypted": bytes.Repeat([]byte("\x93\x11"), 4096), "header only": text[:100],
		"page of 0": append([]byte(magic), make([]byte, 200)...)} {
		if d, err := Open(bytes.NewReader(raw), int64(len(raw))); err == nil && len(d.tables) > 0 {
			t.Errorf("%s: tables %v", name, d.tables)
		}
	}
}

func TestRealDatabases(t *testing.T) {
	for path, want := range map[string][]int{"nsys-sqlite/cs336_rtx3070ti_nsys2025.1.sqlite": {1900, 17032, 20436},
		"nsys-sqlite/cloverleaf_a100_nsys2024.5.sqlite": {1297, 1312, 3048}} {
		text, err := os.ReadFile(filepath.Join(realTraces, path))
		if err != nil {
			t.Skipf("no real traces here: %v", err)
		}
		d := open(t, text)
		var got []int
		for _, name := range []string{"StringIds", "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_RUNTIME"} {
			got = append(got, len(rows(t, d, name, d.Table(name).Columns...)))
		}
		if !reflect.DeepEqual(got, want) || d.Damage() != (Damage{}) {
			t.Errorf("%s: rows %d, want %d; %+v", path, got, want, d.Damage())
		}
	}
}

// FuzzScan: no database makes the reader panic, loop or take memory beyond a few pages and its longest text.
func FuzzScan(f *testing.F) {
	text := made(f, "PRAGMA page_size=512; CREATE TABLE t (a INTEGER PRIMARY KEY, b TEXT, c REAL); CREATE VIEW v AS SELECT 1; WITH "+
		"RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM n WHERE i<12) "+
		"INSERT INTO t SELECT i, printf('%.*c', i*20, 'x'), i/2.0 FROM n;")
	f.Add(text)
	f.Add(text[:len(text)/2])
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Open(bytes.NewReader(text), int64(len(text)))
		if err != nil {
			return
		}
		n := 0
		for _, table := range d.tables {
			err := d.Scan(table, table.Columns, func(v []Value) error {
				for i := range v {
					_, _ = v[i].Text(), v[i].Int()
				}
				n++
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if n > len(text)*len(d.tables) {
			t.Fatalf("%d rows of %d bytes", n, len(text))
		}
	})
}
