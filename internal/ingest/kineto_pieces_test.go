package ingest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"bottleneck/internal/kineto"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// readIn reads a text as one, or in pieces of a size by several goroutines.
func readIn(scan *kineto.Scanner, readers, size int) (*model.Session, error) {
	s := &model.Session{Strings: &model.Strings{}}
	b := newBuilder(scan, TraceOptions{})
	b.readers, b.pieceSize = readers, size
	if err := b.read("trace"); err != nil {
		return nil, err
	}
	b.store(s, "trace")
	return s, nil
}

// samePieces holds reading in pieces against reading as one text, from memory and from a stream.
func samePieces(t *testing.T, text []byte, readers, size int) {
	t.Helper()
	want, wantErr := readIn(kineto.NewBytesScanner(text), 1, 0)
	for name, scan := range map[string]*kineto.Scanner{"memory": kineto.NewBytesScanner(text),
		"stream": kineto.NewScanner(bytes.NewReader(text))} {
		got, err := readIn(scan, readers, size)
		if (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("from %s, %d readers, pieces of %d: error %v, as one text %v", name, readers, size, err, wantErr)
		}
		if err != nil {
			continue
		}
		if err := difference(got, want, name == "stream"); err != nil {
			t.Fatalf("from %s, %d readers, pieces of %d: %v", name, readers, size, err)
		}
	}
}

// difference says in what two sessions of one trace differ. What is lost of a damaged text depends on how much of it stood
// in the buffer, so that only undamaged ones are held against each other where one was streamed.
func difference(got, want *model.Session, streamed bool) error {
	if streamed && damaged(want) {
		return nil
	}
	for _, s := range []*model.Session{got, want} {
		if err := s.Check(); err != nil {
			return err
		}
	}
	g, w := reflect.ValueOf(got.Traces[0]).Elem(), reflect.ValueOf(want.Traces[0]).Elem()
	for i := range g.NumField() {
		if !reflect.DeepEqual(g.Field(i).Interface(), w.Field(i).Interface()) {
			return fmt.Errorf("%s differs", g.Type().Field(i).Name)
		}
	}
	if !reflect.DeepEqual(got.Inputs, want.Inputs) {
		return fmt.Errorf("%+v\nwant %+v", got.Inputs, want.Inputs)
	}
	if !reflect.DeepEqual(got.Strings, want.Strings) {
		return errors.New("texts differ")
	}
	return nil
}

func damaged(s *model.Session) bool {
	for _, d := range s.Inputs[0].Diagnostics {
		for kind := kineto.Truncated; kind <= kineto.Oversized; kind++ {
			if d.Kind == kind.String() {
				return true
			}
		}
	}
	return false
}

// TestPiecesEqualOne reads every real trace in pieces: columns, texts and diagnostics are those of the text as one.
func TestPiecesEqualOne(t *testing.T) {
	compared := 0
	for _, path := range realFiles(t) {
		if format := wantFormat(path); format != "kineto" && format != "chrome" && format != "autograd-profiler" ||
			strings.Contains(path, "truncated_gzip") || os.Getenv("BOTTLENECK_LONG_TESTS") == "" && tooLarge(t, path) {
			continue
		}
		text := realText(t, strings.TrimPrefix(path, realTraces))
		t.Run(strings.TrimPrefix(path, realTraces+"/"), func(t *testing.T) {
			samePieces(t, text, 2, len(text)/9+512)
			samePieces(t, text, 5, 8<<10)
		})
		compared++
	}
	if compared < 30 {
		t.Errorf("only %d files were compared", compared)
	}
}

// TestPiecesAfterDamage: from the first thing on that is no whole event the text is read as one, wherever it lies.
func TestPiecesAfterDamage(t *testing.T) {
	trace := testkit.NewTrace()
	for i := range 400 {
		trace.Op(fmt.Sprintf("aten::op%d", i%7), 1, int64(1000+10*i), 5, "External id", i+1, "Input Dims", [][]int{{i % 3, 3}, {}})
	}
	text := []byte(trace.Key("baseTimeNanoseconds", 1000).String())
	for _, wrong := range []string{`{"ph": "X", "name": "{"device": 1}", "pid": 1, "tid": 1, "ts": 1, "dur": 1},`,
		`}, {"ph": "B", "name": "x", "ts": 4`, "\x00", `]`, `"`,
		`{"ph": "B", "name": "x", "pid": 1, "tid": 9, "ts": 1}, {"ph": "E", "pid": 1, "tid": 9, "ts": 3},`,
		`{"ph": "X", "name": "}, {\"name\": 1", "pid": 1, "tid": 1, "ts": 1, "dur": 1},`} {
		for part := 1; part < 10; part++ {
			at := len(text) * part / 10
			at += bytes.Index(text[at:], []byte(`{"`))
			damagedText := append(append(append([]byte{}, text[:at]...), wrong...), text[at:]...)
			samePieces(t, damagedText, 3, 2000)
		}
	}
	for part := range 50 {
		samePieces(t, text[:len(text)*part/50], 2, 3000)
	}
}

// TestPiecesOfBrokenReader: the error of a reader that fails in the middle is the same, however the text is read.
func TestPiecesOfBrokenReader(t *testing.T) {
	text := testkit.NewTrace()
	for i := range 3000 {
		text.Op("aten::add", 1, int64(1000+10*i), 5, "External id", i+1)
	}
	broken := func() *kineto.Scanner {
		half := []byte(text.String())
		return kineto.NewScanner(io.MultiReader(bytes.NewReader(half[:len(half)/2]), iotest.ErrReader(errors.New("the disk is gone"))))
	}
	want, err := readIn(broken(), 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readIn(broken(), 2, 4000)
	if err != nil {
		t.Fatal(err)
	}
	if err := difference(got, want, false); err != nil {
		t.Fatal(err)
	}
	if len(got.Inputs[0].Diagnostics) == 0 {
		t.Fatal("nothing says that the file ended early")
	}
}

func FuzzPieces(f *testing.F) {
	trace := testkit.NewTrace().Op("aten::add", 1, 1000, 500, "External id", 1).Launch("gemm", 1, 1120, 10, 1500, 20,
		5).Memory(1, 1200, 512)
	f.Add([]byte(trace.Key("baseTimeNanoseconds", 1000).String()), uint16(100))
	f.Add(
		[]byte(`[{"name": "}, {\"ph\"", "ph": "X", "ts": 1, "dur": 2, "tid": 1, "pid": 1}, {"ph": "B", "ts": 1}, {"ph": "X", "ts": 3, "dur": 1}]`), uint16(30))
	f.Fuzz(func(t *testing.T, text []byte, size uint16) { samePieces(t, text, 2+int(size%3), 16+int(size)) })
}
