package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// gzipped and zstded pack a text; both may be joined to make longer ones.
func gzipped(text []byte) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	_, _ = z.Write(text)
	_ = z.Close()
	return b.Bytes()
}

func zstded(text []byte) []byte {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // no option can fail
	}
	defer z.Close()
	return z.EncodeAll(text, nil)
}

// gzippedTimes and zstdedTimes pack a piece many times over, of which only a part is ever in memory.
func gzippedTimes(piece string, times int) []byte {
	var b bytes.Buffer
	z, _ := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	writeTimes(z, piece, times)
	_ = z.Close()
	return b.Bytes()
}

func zstdedTimes(piece string, times int) []byte {
	var b bytes.Buffer
	z, err := zstd.NewWriter(&b, zstd.WithEncoderConcurrency(1))
	if err != nil {
		panic(err) // no option can fail
	}
	writeTimes(z, piece, times)
	_ = z.Close()
	return b.Bytes()
}

func writeTimes(w io.Writer, piece string, times int) {
	together := max(1, min(times, (64<<10)/len(piece)))
	block := []byte(strings.Repeat(piece, together))
	for ; times > 0; times -= together {
		_, _ = w.Write(block[:min(times, together)*len(piece)])
	}
}

// member is one entry of an archive.
type member struct {
	name, link string
	kind       byte // as tar has it; 0 a file
	text       []byte
	times      int // how often text stands in it; 0 once
}

func zipped(members ...member) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for _, m := range members {
		if w, err := z.Create(m.name); err == nil {
			_, _ = w.Write(m.text)
		}
	}
	_ = z.Close()
	return b.Bytes()
}

func tarred(members ...member) []byte {
	var b bytes.Buffer
	writeTar(&b, members...)
	return b.Bytes()
}

func writeTar(to io.Writer, members ...member) {
	w := tar.NewWriter(to)
	for _, m := range members {
		kind := m.kind
		if kind == 0 {
			kind = tar.TypeReg
		}
		h := &tar.Header{Name: m.name, Linkname: m.link, Typeflag: kind, Size: int64(len(m.text) * max(1, m.times)), Mode: 0o644,
			Format: tar.FormatPAX}
		if kind != tar.TypeReg {
			h.Size = 0
		}
		if w.WriteHeader(h) != nil || kind != tar.TypeReg {
			continue
		}
		for range max(1, m.times) {
			_, _ = w.Write(m.text)
		}
	}
	_ = w.Close()
}

// plain undoes gzip and zstd, once, as far as the text is whole; what is neither stays.
func plain(data []byte, limit int64) []byte {
	var r io.Reader
	switch {
	case bytes.HasPrefix(data, []byte{0x1F, 0x8B}):
		z, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			return data
		}
		r = z
	case bytes.HasPrefix(data, []byte{0x28, 0xB5, 0x2F, 0xFD}):
		z, err := zstd.NewReader(bytes.NewReader(data), zstd.WithDecoderConcurrency(1))
		if err != nil {
			return data
		}
		defer z.Close()
		r = z
	default:
		return data
	}
	text, _ := io.ReadAll(io.LimitReader(r, limit))
	return text
}

// copyTree copies a folder with its links and pipes as they are.
func copyTree(from, to string) error {
	return filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := filepath.Join(to, rel)
		switch {
		case d.IsDir():
			return os.MkdirAll(target, 0o755)
		case d.Type()&fs.ModeSymlink != 0:
			link, err := os.Readlink(path)
			if err != nil {
				return err
			}
			return os.Symlink(link, target)
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(target, text, 0o644)
	})
}

// filesOf lists the regular files below a folder by their names in it.
func filesOf(dir string) []string {
	var list []string
	_ = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if rel, rerr := filepath.Rel(dir, path); err == nil && rerr == nil && d.Type().IsRegular() {
			list = append(list, rel)
		}
		return nil
	})
	return list
}
