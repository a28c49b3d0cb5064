package record

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"google.golang.org/protobuf/encoding/protowire"
)

// maxRedactString bounds one JSON string; a longer one is replaced as a whole.
const maxRedactString = 1 << 20

// file makes the redacted content of one file of a session, at its beginning.
func (r *Redactor) file(in *os.File, name string) (*os.File, error) {
	out, err := temporary()
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewWriterSize(out, 1<<18)
	err = r.content(buffered, in, filepath.Base(name))
	err = errors.Join(err, buffered.Flush())
	if err == nil {
		_, err = out.Seek(0, io.SeekStart)
	}
	if err != nil {
		_ = out.Close()
		_ = os.Remove(out.Name())
		return nil, err
	}
	return out, nil
}

// content chooses the way by the file's name; a file that is nothing known is not handed out.
func (r *Redactor) content(w io.Writer, in io.Reader, base string) error {
	switch {
	case base == ManifestName || base == LauncherName || base == ProcessName:
		text, err := io.ReadAll(io.LimitReader(in, MaxJSONBytes))
		if err != nil {
			return err
		}
		text, err = r.document(text)
		if err != nil {
			text = []byte("{}") // damaged: nothing of it can be trusted to be harmless
		}
		_, err = w.Write(text)
		return err
	case base == SamplesName:
		return r.samples(w, in)
	case strings.HasSuffix(base, ".json.gz") || strings.HasSuffix(base, ".jsonl.gz"):
		return r.zipped(w, in)
	case strings.HasSuffix(base, ".json"):
		return r.strings(w, bufio.NewReaderSize(in, 1<<18))
	}
	return nil
}

// zipped redacts gzipped JSON. What cannot be decompressed is left out.
func (r *Redactor) zipped(w io.Writer, in io.Reader) error {
	out, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if plain, err := gzip.NewReader(bufio.NewReader(in)); err == nil {
		if err := r.strings(out, bufio.NewReaderSize(plain, 1<<18)); err != nil {
			return err
		}
	}
	return out.Close()
}

// strings copies JSON text of any size and replaces inside of its strings. After the key of a host or of a command the
// whole value goes, as in documents.
func (r *Redactor) strings(w io.Writer, in *bufio.Reader) error {
	out := bufio.NewWriterSize(w, 1<<18)
	s := &stringCopier{r: r, in: in, out: out}
	for {
		b, err := in.ReadByte()
		if err != nil {
			break // damaged input ends here; what came before is handed on
		}
		if err := s.step(b); err != nil {
			break
		}
	}
	return out.Flush()
}

// stringCopier knows which key the next string belongs to.
type stringCopier struct {
	r    *Redactor
	in   *bufio.Reader
	out  *bufio.Writer
	last string // the last string, a key if ':' follows
	kind string // kind of the value to come
	deep int    // brackets opened since kind was set
}

func (s *stringCopier) step(b byte) error {
	switch b {
	case '"':
		return s.text()
	case ':':
		if s.deep == 0 {
			s.kind = keyed[s.last]
		}
	case '[', '{':
		if s.kind != "" {
			s.deep++
		}
	case ']', '}':
		if s.deep > 0 {
			s.deep--
		}
		if s.deep == 0 {
			s.kind = ""
		}
	case ',', '\n':
		if s.deep == 0 {
			s.kind = ""
		}
	}
	return s.out.WriteByte(b)
}

// text reads one string, whose opening quote was read, and writes its replacement. A key stays as it is.
func (s *stringCopier) text() error {
	raw := []byte{'"'}
	for escaped := false; ; {
		b, err := s.in.ReadByte()
		if err != nil {
			return err
		}
		if len(raw) < maxRedactString {
			raw = append(raw, b)
		}
		if b == '"' && !escaped {
			break
		}
		escaped = b == '\\' && !escaped
	}
	if len(raw) >= maxRedactString {
		_, err := s.out.WriteString(`"…"`)
		return err
	}
	plain, ok := unquote(raw)
	if !ok {
		_, err := s.out.WriteString(`"…"`)
		return err
	}
	if next, err := s.in.Peek(1); err == nil && next[0] == ':' {
		s.last = plain
		_, err := s.out.Write(raw)
		return err
	}
	replaced := s.r.byKind(s.kind, plain)
	if replaced == plain {
		_, err := s.out.Write(raw)
		return err
	}
	_, err := s.out.Write(quote(replaced))
	return err
}

// quote writes a JSON string as Kineto does, with <, > and & as they are.
func quote(s string) []byte {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(s) // a string always has a JSON form
	return bytes.TrimRight(b.Bytes(), "\n")
}

func unquote(raw []byte) (string, bool) {
	var s string
	if !utf8.Valid(raw) {
		raw = []byte(strings.ToValidUTF8(string(raw), "\uFFFD"))
	}
	return s, json.Unmarshal(raw, &s) == nil
}

// samples redacts a file of Python stacks, chunk by chunk (docs/session.md).
func (r *Redactor) samples(w io.Writer, in io.Reader) error {
	decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(256<<20))
	if err != nil {
		return err
	}
	defer decoder.Close()
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		return err
	}
	defer encoder.Close()
	for {
		var size [4]byte
		if _, err := io.ReadFull(in, size[:]); err != nil {
			return nil // the end, or a chunk that was being written
		}
		n := binary.LittleEndian.Uint32(size[:])
		if n > 64<<20 {
			return fmt.Errorf("a chunk of %d bytes", n)
		}
		packed := make([]byte, n)
		if _, err := io.ReadFull(in, packed); err != nil {
			return nil
		}
		plain, err := decoder.DecodeAll(packed, nil)
		if err != nil {
			continue
		}
		packed = encoder.EncodeAll(r.message(plain, profilesData, r.Text), nil)
		binary.LittleEndian.PutUint32(size[:], uint32(len(packed)))
		if _, err := w.Write(append(size[:], packed...)); err != nil {
			return err
		}
	}
}

// shape says which fields of a message are messages with texts inside; a nil shape is a text.
type shape map[protowire.Number]shape

var (
	anyShape     = shape{anyString: nil}
	keyShape     = shape{keyValueValue: anyShape}
	profilesData = shape{
		dataDictionary: {dictStrings: nil, dictAttributes: {keyValueValue: anyShape}},
		dataResources:  {resProfilesResource: {resourceAttributes: keyShape}},
	}
)

func init() { anyShape[anyArray] = shape{arrayValues: anyShape} }

// message rewrites the texts of a message by replace; everything else is copied as it is, fields we do not know included.
func (r *Redactor) message(b []byte, s shape, replace func(string) string) []byte {
	var out []byte
	if _, attribute := s[keyValueValue]; attribute {
		replace = r.attribute(b, replace)
	}
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return out
		}
		inner, known := s[number]
		if !known || kind != protowire.BytesType {
			size := protowire.ConsumeFieldValue(number, kind, b[n:])
			if size < 0 {
				return out
			}
			out, b = append(out, b[:n+size]...), b[n+size:]
			continue
		}
		body, size := protowire.ConsumeBytes(b[n:])
		if size < 0 {
			return out
		}
		out = protowire.AppendTag(out, number, kind)
		if inner == nil {
			out = protowire.AppendString(out, replace(string(body)))
		} else {
			out = protowire.AppendBytes(out, r.message(body, inner, replace))
		}
		b = b[n+size:]
	}
	return out
}

// attribute chooses how the value of a KeyValue message is replaced, by its key.
func (r *Redactor) attribute(b []byte, otherwise func(string) string) func(string) string {
	number, kind, n := protowire.ConsumeTag(b)
	if n < 0 || number != keyValueKey || kind != protowire.BytesType {
		return otherwise
	}
	key, size := protowire.ConsumeString(b[n:])
	switch {
	case size < 0:
		return otherwise
	case key == attrArgs:
		return r.argument
	case key == attrHost:
		return func(s string) string { return r.name("host", s) }
	}
	return otherwise
}
