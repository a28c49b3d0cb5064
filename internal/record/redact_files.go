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

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"bottleneck/internal/model"
)

// file makes the redacted content of one file of a session in a temporary file.
func (r *Redactor) file(in io.Reader, name string) (*os.File, error) {
	out, err := temporary()
	if err != nil {
		return nil, err
	}
	buffered := bufio.NewWriterSize(out, 1<<18)
	err = r.content(buffered, in, filepath.ToSlash(name))
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

// temporary makes the file that redacted content is collected in. It has no name any more, so that nothing is left of it when the process
// is killed; where the system does not allow that the caller removes it.
func temporary() (*os.File, error) {
	f, err := os.CreateTemp("", "bottleneck-redact-*")
	if err == nil {
		_ = os.Remove(f.Name())
	}
	return f, err
}

// content redacts by the rule of the file's name.
func (r *Redactor) content(w io.Writer, in io.Reader, name string) error {
	base := name[strings.LastIndexByte(name, '/')+1:]
	if base == SamplesName {
		return r.samples(w, in)
	}
	u := ruleOf(base, base == name)
	if u == nil {
		return nil
	}
	if name == ManifestName {
		return r.manifest(w, in)
	}
	if !strings.HasSuffix(base, ".gz") {
		return r.document(w, in, u)
	}
	out, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	stored := &Counter{R: in}
	if plain, err := gzip.NewReader(bufio.NewReader(stored)); err == nil { // what cannot be decompressed is left out
		guarded := &Guard{Plain: plain, Stored: stored, Floor: traceFloor, Ratio: traceRatio}
		if err := r.document(out, guarded, u); err != nil {
			return err
		}
	}
	return out.Close()
}

// manifest is the redacted manifest, which says that it is one.
func (r *Redactor) manifest(w io.Writer, in io.Reader) error {
	var text bytes.Buffer
	if err := r.document(&text, io.LimitReader(in, MaxJSONBytes), ruleOf(ManifestName, true)); err != nil {
		return err
	}
	doc := map[string]any{}
	if json.Unmarshal(text.Bytes(), &doc) != nil {
		doc = map[string]any{} // damaged
	}
	doc["redacted"] = true
	return json.NewEncoder(w).Encode(doc)
}

// samples reads a file of Python stacks and writes it anew, so that only what is read can stay.
func (r *Redactor) samples(w io.Writer, in io.Reader) error {
	zip, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		return err
	}
	defer zip.Close()
	var failed error
	err = ReadSamples(in, func(b *SampleBatch) error {
		r.batch(b)
		out := zip.EncodeAll(b.chunk().encode(nil), make([]byte, 4))
		binary.LittleEndian.PutUint32(out, uint32(len(out)-4))
		_, failed = w.Write(out)
		return failed
	})
	if failed != nil {
		return fmt.Errorf("redact samples: %w", err)
	}
	return nil // of a damaged file what comes before the damage
}

// batch redacts the texts of a batch.
func (r *Redactor) batch(b *SampleBatch) {
	p := &b.Process
	p.Host = r.name("host", p.Host)
	for i := range p.Args {
		p.Args[i] = r.argument(p.Args[i])
	}
	p.Executable, _ = r.path(p.Executable)
	p.Python = version.text(r, p.Python)
	p.Role = model.Role(role.text(r, string(p.Role)))
	frames := make([]SampleFrame, len(b.Locations)) // the file's own are shared by the batches of a chunk
	for i, f := range b.Locations {
		file, public := r.path(f.File)
		f.Function, f.File = r.function(f.Function, public), file
		frames[i] = f
	}
	b.Locations = frames
	for i := range b.Samples {
		if b.Samples[i].Name != "" {
			b.Samples[i].Name = r.thread(b.Samples[i].Name)
		}
	}
}
