package record

import (
	"archive/tar"
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

// PackSuffix ends the names of packed sessions: a tar archive, compressed with zstd, whose first entry is the manifest.
const PackSuffix = ".tar.zst"

// Bounds of what is taken out of a packed session.
const (
	maxPackedFiles = 1 << 20
	maxPackedBytes = 64 << 30
)

// Pack writes the session directory dir as one archive to w and returns the files that it left out, by their names in the session. redact,
// when not nil, keeps of every file and file name only what says nothing about anybody (FileName says which files go as a whole). The
// agent's own files and half-written ones are never packed, nor anything that Open would not open.
func Pack(ctx context.Context, w io.Writer, dir string, redact *Redactor) (left []string, err error) {
	if _, err := Stat(dir, ManifestName); err != nil {
		return nil, fmt.Errorf("pack %s: no session: %w", dir, err)
	}
	inside, err := filepath.EvalSymlinks(dir) // a link is not walked
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", dir, err)
	}
	zip, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(4<<20))
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", dir, err)
	}
	p := &packer{ctx: ctx, dir: inside, out: tar.NewWriter(zip), redact: redact, root: packRoot(dir, redact)}
	err = p.all()
	err = errors.Join(err, p.out.Close(), zip.Close())
	if err != nil {
		return nil, fmt.Errorf("pack %s: %w", dir, err)
	}
	return p.left, nil
}

func packRoot(dir string, redact *Redactor) string {
	if redact != nil {
		return "session"
	}
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "session"
	}
	return SafeName(filepath.Base(abs))
}

type packer struct {
	ctx    context.Context
	dir    string
	root   string
	out    *tar.Writer
	redact *Redactor
	left   []string
}

// all packs the manifest, by which a packed session is recognised, and then the rest in order of name.
func (p *packer) all() error {
	if err := p.file(ManifestName); err != nil {
		return err
	}
	return filepath.WalkDir(p.dir, func(full string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if err := p.ctx.Err(); err != nil {
			return err
		}
		name, err := filepath.Rel(p.dir, full)
		if err != nil {
			return err
		}
		skipDir := name == AgentDir || p.redact != nil && name == SourceDir
		switch {
		case d.IsDir() && skipDir:
			return fs.SkipDir
		case d.IsDir(), name == ManifestName, strings.HasPrefix(d.Name(), "."):
			return nil
		}
		return p.file(name)
	})
}

// file packs one file, or notes that it is left out. Redacted content is made in a temporary file first, because an archive states sizes
// up front.
func (p *packer) file(name string) error {
	inside := filepath.ToSlash(name)
	entry := inside
	if p.redact != nil {
		entry = p.redact.FileName(inside)
	}
	if entry == "" {
		p.left = append(p.left, inside)
		return nil
	}
	in, err := Open(p.dir, name)
	switch {
	case errors.Is(err, ErrNotRegular) && name != ManifestName:
		p.left = append(p.left, inside)
		return nil
	case errors.Is(err, fs.ErrNotExist) && name != ManifestName:
		return nil // gone meanwhile
	case err != nil:
		return err
	}
	defer in.Close()
	if p.redact != nil {
		redacted, err := p.redact.file(&contextReader{p.ctx, in}, name)
		if err != nil {
			return fmt.Errorf("redact %s: %w", name, err)
		}
		defer os.Remove(redacted.Name())
		defer redacted.Close()
		in = redacted
	}
	return p.entry(path.Join(p.root, entry), in)
}

// entry writes one entry of the archive.
func (p *packer) entry(name string, in *os.File) error {
	info, err := in.Stat()
	if err != nil {
		return err
	}
	header := tar.Header{Typeflag: tar.TypeReg, Name: name, Mode: 0o600, Size: info.Size(), ModTime: info.ModTime(), Format: tar.FormatPAX}
	if err := p.out.WriteHeader(&header); err != nil {
		return err
	}
	// A file that grows while it is packed contributes what it held before.
	if _, err := io.CopyN(p.out, in, info.Size()); err != nil {
		return err
	}
	return nil
}

// openArchive opens a tar archive, plain or compressed with zstd or gzip.
func openArchive(r io.Reader) (*tar.Reader, func(), error) {
	stored := &Counter{R: r}
	guard := func(plain io.Reader) *tar.Reader {
		return tar.NewReader(&Guard{Plain: plain, Stored: stored, Floor: packFloor, Ratio: packRatio})
	}
	in := bufio.NewReaderSize(stored, 1<<16)
	magic, _ := in.Peek(4)
	switch {
	case string(magic) == "\x28\xb5\x2f\xfd":
		z, err := zstd.NewReader(in, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(128<<20))
		if err != nil {
			return nil, nil, err
		}
		return guard(z), z.Close, nil
	case len(magic) > 2 && magic[0] == 0x1f && magic[1] == 0x8b:
		z, err := gzip.NewReader(in)
		if err != nil {
			return nil, nil, err
		}
		return guard(z), func() { _ = z.Close() }, nil
	}
	return tar.NewReader(in), func() {}, nil
}

// IsPacked says whether the file at path is a packed session: an archive whose first entry is a manifest one level down.
func IsPacked(file string) bool {
	info, err := os.Stat(file)
	if err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(file)
	if err != nil {
		return false
	}
	defer f.Close()
	archive, done, err := openArchive(f)
	if err != nil {
		return false
	}
	defer done()
	header, err := archive.Next()
	return err == nil && path.Base(header.Name) == ManifestName && strings.Count(path.Clean(header.Name), "/") == 1
}

// Unpack extracts a packed session below dir and returns the session directory. Entries that would leave dir, links and
// special files are refused.
func Unpack(ctx context.Context, file, dir string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", fmt.Errorf("unpack %s: %w", file, err)
	}
	defer f.Close()
	archive, done, err := openArchive(f)
	if err != nil {
		return "", fmt.Errorf("unpack %s: %w", file, err)
	}
	defer done()
	root := ""
	left := int64(maxPackedBytes)
	for n := 0; ; n++ {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err == nil && n >= maxPackedFiles {
			err = errors.New("too many files")
		}
		if err == nil {
			err = ctx.Err()
		}
		if err != nil {
			if root != "" && ctx.Err() == nil && !errors.Is(err, ErrBomb) {
				break // cut off: what came before is a session all the same
			}
			return "", fmt.Errorf("unpack %s: %w", file, err)
		}
		first, err := extract(archive, header, dir, &left)
		if err != nil {
			return "", fmt.Errorf("unpack %s: %w", file, err)
		}
		if root == "" {
			root = first
		}
	}
	if root == "" {
		return "", fmt.Errorf("unpack %s: the archive is empty", file)
	}
	return filepath.Join(dir, root), nil
}

// extract writes one entry below dir and returns the first part of its name.
func extract(archive *tar.Reader, header *tar.Header, dir string, left *int64) (string, error) {
	name := filepath.FromSlash(path.Clean(header.Name))
	if !filepath.IsLocal(name) {
		return "", fmt.Errorf("entry %q lies outside of the archive", header.Name)
	}
	first, _, _ := strings.Cut(filepath.ToSlash(name), "/")
	if header.Typeflag == tar.TypeDir {
		return first, nil
	}
	if header.Typeflag != tar.TypeReg {
		return "", fmt.Errorf("entry %q is not a file", header.Name)
	}
	if *left -= header.Size; *left < 0 {
		return "", errors.New("it is too large")
	}
	target := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(target), DirMode); err != nil {
		return "", err
	}
	f, err := os.OpenFile(target, os.O_CREATE|os.O_EXCL|os.O_WRONLY, FileMode)
	if err != nil {
		return "", err
	}
	_, err = io.Copy(f, archive)
	err = errors.Join(err, f.Close())
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil // a cut archive: the reader of the file salvages it
	}
	_ = os.Chtimes(target, header.ModTime, header.ModTime)
	return first, err
}
