package pickle

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// ofPython is pickle.dumps({'a': [1, -2, 300, 70000, 2**31, -2**40, 2**62, -2**62, 2**63, 2**70, -2**70], 'b': (1.5, None, True, False, (),
// ('x',)), 'c': {'é': 'a'*300}, 'd': b'yz', 'e': [], 'f': {}}, protocol) of Python, for protocols 2 to 5.
var ofPython = map[int]string{
	2: "80027d71002858010000006171015d7102284b014afeffffff4d2c014a701101008a0500000080008a060000000000ff8a0800000000000000408a08" +
		"00000000000000c08a090000000000000080008a090000000000000000408a090000000000000000c065580100000062710328473ff8000000000000" +
		"4e888929580100000078710485710574710658010000006371077d71085802000000c3a97109582c0100006161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"61616161616161616161616161616161616161616161616161616161616161616161616161616161616161710a73580100000064710b635f636f6465" +
		"63730a656e636f64650a710c5802000000797a710d58060000006c6174696e31710e86710f52711058010000006571115d711258010000006671137d" +
		"7114752e",
	3: "80037d71002858010000006171015d7102284b014afeffffff4d2c014a701101008a0500000080008a060000000000ff8a0800000000000000408a08" +
		"00000000000000c08a090000000000000080008a090000000000000000408a090000000000000000c065580100000062710328473ff8000000000000" +
		"4e888929580100000078710485710574710658010000006371077d71085802000000c3a97109582c0100006161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"61616161616161616161616161616161616161616161616161616161616161616161616161616161616161710a73580100000064710b4302797a710c" +
		"580100000065710d5d710e580100000066710f7d7110752e",
	4: "800495cd010000000000007d94288c0161945d94284b014afeffffff4d2c014a701101008a0500000080008a060000000000ff8a0800000000000000" +
		"408a0800000000000000c08a090000000000000080008a090000000000000000408a090000000000000000c0658c01629428473ff80000000000004e" +
		"8889298c017894859474948c0163947d948c02c3a994582c010000616161616161616161616161616161616161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"61616161616161616161616161616161616161616161616161616194738c0164944302797a948c0165945d948c0166947d94752e",
	5: "800595cd010000000000007d94288c0161945d94284b014afeffffff4d2c014a701101008a0500000080008a060000000000ff8a0800000000000000" +
		"408a0800000000000000c08a090000000000000080008a090000000000000000408a090000000000000000c0658c01629428473ff80000000000004e" +
		"8889298c017894859474948c0163947d948c02c3a994582c010000616161616161616161616161616161616161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161616161" +
		"61616161616161616161616161616161616161616161616161616194738c0164944302797a948c0165945d948c0166947d94752e",
}

func read(t *testing.T, text []byte, opt Options) (*Reader, Value) {
	t.Helper()
	r := NewReader(iotest{bytes.NewReader(text)}, opt)
	v, err := r.Read()
	if err != nil {
		t.Fatal(err)
	}
	return r, v
}

// iotest hands over a few bytes at a time, so that everything straddles the end of what is ready.
type iotest struct{ r io.Reader }

func (t iotest) Read(p []byte) (int, error) { return t.r.Read(p[:min(len(p), 7)]) }

// show writes a value as Python would.
func show(r *Reader, v Value) string {
	if n, exact := r.Int(v); exact || v.kind() == kindWide {
		if !exact {
			return fmt.Sprint("~", n)
		}
		return fmt.Sprint(n)
	}
	if b, ok := r.Bool(v); ok {
		return fmt.Sprint(b)
	}
	if s, ok := r.Text(v); ok {
		if len(s) > 100 {
			return fmt.Sprintf("%d bytes", len(s))
		}
		return fmt.Sprintf("%q", s)
	}
	if f, ok := r.Number(v); ok {
		return fmt.Sprint(f)
	}
	if pairs, ok := r.Pairs(v); ok {
		var out []string
		for i := 0; i+1 < len(pairs); i += 2 {
			out = append(out, show(r, pairs[i])+": "+show(r, pairs[i+1]))
		}
		return "{" + strings.Join(out, ", ") + "}"
	}
	if items, ok := r.List(v); ok {
		var out []string
		for _, item := range items {
			out = append(out, show(r, item))
		}
		return "[" + strings.Join(out, ", ") + "]"
	}
	return "None"
}

func TestEveryProtocol(t *testing.T) {
	want := `{"a": [1, -2, 300, 70000, 2147483648, -1099511627776, 4611686018427387904, -4611686018427387904, ~9223372036854775807, ~9223372036854775807, ~-9223372036854775808], ` +
		`"b": [1.5, None, true, false, [], ["x"]], "c": {"é": 300 bytes}, "d": DATA, "e": [], "f": {}}`
	for protocol, text := range ofPython {
		raw, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if protocol == 2 { // bytes are made by calling codecs.encode there
			if _, err := NewReader(bytes.NewReader(raw), Options{}).Read(); !errors.Is(err, ErrData) ||
				!strings.Contains(err.Error(), "_codecs.encode") {
				t.Errorf("protocol 2 with bytes: %v", err)
			}
			continue
		}
		r, v := read(t, raw, Options{})
		if got := show(r, v); got != strings.Replace(want, "DATA", `"yz"`, 1) {
			t.Errorf("protocol %d:\n%s\nwant\n%s", protocol, got, want)
		}
	}
}

func u32(n uint32) string { return string(binary.LittleEndian.AppendUint32(nil, n)) }
func u64(n uint64) string { return string(binary.LittleEndian.AppendUint64(nil, n)) }

// hostile are pickles that would run code, take memory without end, or break a reader that trusts them.
func hostile(path string) map[string]string {
	touch := "touch " + path
	return map[string]string{
		"os.system by REDUCE":          "\x80\x02cposix\nsystem\nX" + u32(uint32(len(touch))) + touch + "\x85R.",
		"os.system by STACK_GLOBAL":    "\x80\x04\x8c\x05posix\x8c\x06system\x93X" + u32(uint32(len(touch))) + touch + "\x85R.",
		"eval in a snapshot":           "\x80\x04}(\x8c\x08segmentscbuiltins\neval\nX" + u32(4) + "1+1\n\x85Ru.",
		"INST":                         "\x80\x02(X" + u32(2) + "lsiposix\nsystem\n.",
		"OBJ":                          "\x80\x02(cposix\nsystem\nX" + u32(2) + "lso.",
		"NEWOBJ":                       "\x80\x02cposix\nsystem\n)\x81.",
		"NEWOBJ_EX":                    "\x80\x04cposix\nsystem\n)}\x92.",
		"BUILD of a class":             "\x80\x02cposix\nsystem\n}b.",
		"a persistent id":              "\x80\x02Pabc\n.",
		"a persistent id of the stack": "\x80\x02K\x01Q.",
		"an extension":                 "\x80\x02\x82\x01.",
		"a large extension":            "\x80\x02\x84" + u32(7) + ".",
		"a buffer from outside":        "\x80\x05\x97.",
		"protocol 99":                  "\x80\x63N.",
		"a text of 4 GiB":              "\x80\x04X" + u32(1<<32-1) + "abc.",
		"a text of 2^63 bytes":         "\x80\x04\x8d" + u64(1<<63) + "abc.",
		"a number of 2 GiB":            "\x80\x02\x8b" + u32(1<<31-1) + "\x01.",
		"a number of negative length":  "\x80\x02\x8b" + u32(1<<32-1) + "\x01.",
		"a memo from nowhere":          "\x80\x02j" + u32(1<<32-1) + ".",
		"a memo in the far":            "\x80\x02Nr" + u32(1<<31) + ".",
		"nothing on the stack":         "\x80\x02.",
		"no mark":                      "\x80\x02]K\x01e.",
		"append to a number":           "\x80\x02K\x01K\x02a.",
		"odd items":                    "\x80\x02}(K\x01u.",
		"a value below a mark":         "\x80\x02](a.",
		"no end":                       "\x80\x02]",
		"not a code":                   "\x80\x02\xff.",
		"empty":                        "",
	}
}

func TestHostilePicklesAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "ran")
	for name, text := range hostile(path) {
		if v, err := NewReader(strings.NewReader(text), Options{}).Read(); err == nil {
			t.Errorf("%s: read as %d", name, v)
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("%s: its command was run", name)
		}
		// With names of classes allowed nothing is run either.
		r := NewReader(strings.NewReader(text), Options{Objects: true})
		if v, err := r.Read(); err == nil {
			if _, _, ok := r.Object(v); !ok && !strings.Contains(name, "eval") {
				t.Errorf("%s: read as %d", name, v)
			}
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatalf("%s: its command was run", name)
		}
	}
}

// TestMemoryIsBounded: no operation takes more than a few dozen bytes for each byte of the text, and tables end.
func TestMemoryIsBounded(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	const size = 16 << 20
	for name, op := range map[string]string{"dictionaries": "}0", "lists": "]0", "tuples": ")0", "marks": "(", "stack": "N",
		"memo": "N\x940", "references": "]\x940(h\x00h\x00h\x00h\x00t0", "numbers": "G12345678" + "0",
		"wide numbers": "\x8a\x0812345678" + "0", "copies": "22"} {
		text := "\x80\x04N" + strings.Repeat(op, size/len(op)) + "."
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := NewReader(strings.NewReader(text), Options{}).Read()
		runtime.ReadMemStats(&after)
		if used := after.TotalAlloc - before.TotalAlloc; used > 48*size {
			t.Errorf("%s: %d MiB taken in all for %d MiB (%v)", name, used>>20, size>>20, err)
		}
	}
}

func TestSelfContained(t *testing.T) {
	r, v := read(t, []byte("\x80\x02]q\x00h\x00a."), Options{})
	if items, ok := r.List(v); !ok || len(items) != 1 || items[0] != v {
		t.Errorf("a list that holds itself: %v", items)
	}
}

// FuzzRead: no text makes the machine panic.
func FuzzRead(f *testing.F) {
	for _, text := range hostile("/nonexistent/ran") {
		f.Add([]byte(text))
	}
	for _, text := range ofPython {
		raw, _ := hex.DecodeString(text)
		f.Add(raw)
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		for _, objects := range []bool{false, true} {
			r := NewReader(bytes.NewReader(text), Options{Objects: objects, Texts: []string{"a"}})
			if v, err := r.Read(); err == nil {
				r.Get(v, "a")
				r.List(v)
			}
		}
	})
}
