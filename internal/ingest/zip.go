package ingest

import (
	"archive/zip"
	"errors"
	"io"
	"os"
	"sync"

	"bottleneck/internal/record"
)

// zipFile is a zip archive whose list of members is read once. Its file is open while members are.
type zipFile struct {
	path    string
	mu      sync.Mutex
	file    *os.File
	members int // that are open
	size    int64
	zip     *zip.Reader
}

func openZip(path string) (*zipFile, error) {
	z := &zipFile{path: path}
	if err := z.hold(); err != nil {
		return nil, err
	}
	defer z.release()
	info, err := z.file.Stat()
	if err != nil {
		return nil, err
	}
	z.size = info.Size()
	z.zip, err = zip.NewReader(z, z.size)
	return z, err
}

// hold opens the file, or counts one more who needs it.
func (z *zipFile) hold() (err error) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.members == 0 {
		if z.file, err = os.Open(z.path); err != nil {
			return err
		}
	}
	z.members++
	return nil
}

func (z *zipFile) release() error {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.members--; z.members > 0 {
		return nil
	}
	return z.file.Close()
}

// ReadAt reads the file, which somebody holds.
func (z *zipFile) ReadAt(p []byte, at int64) (int, error) { return z.file.ReadAt(p, at) }

// zipMember is an open member.
type zipMember struct {
	io.Reader
	inner   io.Closer
	archive *zipFile
}

func (m zipMember) Close() error { return errors.Join(m.inner.Close(), m.archive.release()) }

func (z *zipFile) open(f *zip.File) (io.ReadCloser, error) {
	if err := z.hold(); err != nil {
		return nil, err
	}
	r, err := f.Open()
	if err != nil {
		_ = z.release()
		return nil, err
	}
	stored := &record.Counter{N: int64(min(f.CompressedSize64, uint64(z.size)))}
	return zipMember{&record.Guard{Plain: r, Stored: stored, Floor: bombFloor, Ratio: bombRatio}, r, z}, nil
}

// zipSources lists the members of a zip archive.
func zipSources(path string) ([]source, error) {
	z, err := openZip(path)
	if err != nil {
		return nil, &UnusableError{Path: path, Reason: "a zip archive that cannot be read: " + err.Error(), err: err}
	}
	var list []source
	for _, member := range z.zip.File {
		if !wanted(member.Name, member.Mode()) || len(list) >= maxFiles {
			continue
		}
		list = append(list, source{path: path + "/" + member.Name, size: int64(member.CompressedSize64), found: true,
			open: func() (io.ReadCloser, error) { return z.open(member) }})
	}
	if len(list) == 0 {
		return nil, &UnusableError{Path: path, Reason: "a zip archive without files"}
	}
	return list, nil
}
