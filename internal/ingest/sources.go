package ingest

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"bottleneck/internal/model"
)

// source is one thing to read.
type source struct {
	path      string
	number    int   // in order
	size      int64 // as stored; 0 unknown
	open      func() (io.ReadCloser, error)
	packed    bool // what open gives was compressed
	found     bool // in a directory or archive: the user did not name it
	input     bool // a stream, which can be read once; without open it is standard input
	directory func(ctx context.Context, dir string, opt Options, s *model.Session) error
}

// DirectoryFormat is a directory that is more than the files in it.
type DirectoryFormat struct {
	Match func(dir string) bool
	Open  func(ctx context.Context, dir string, opt Options, s *model.Session) error
}

var directoryFormats []DirectoryFormat

// RegisterDirectory adds a kind of directory that Open recognises. It is called from init functions of this package.
func RegisterDirectory(f DirectoryFormat) { directoryFormats = append(directoryFormats, f) }

// wholeDirectory is a directory that is read as a whole; ok is false for others.
func wholeDirectory(path string) (of source, ok bool) {
	for _, format := range directoryFormats {
		if format.Match(path) {
			return source{path: path, directory: format.Open}, true
		}
	}
	return source{}, false
}

// Bounds of what is searched below a directory or in an archive.
const (
	maxFiles = 1 << 20
	maxDepth = 16
)

// expand lists what is to be read of paths.
func expand(paths []string) ([]source, error) {
	var all []source
	for _, path := range paths {
		list, err := expandOne(path)
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

func expandOne(path string) ([]source, error) {
	if path == "-" {
		return []source{{path: path, input: true}}, nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, &UnusableError{Path: path, Reason: plainReason(err), err: err}
	}
	switch {
	case info.IsDir():
		return walk(path)
	case !info.Mode().IsRegular() && (path == "/dev/stdin" || path == "/dev/fd/0"):
		return []source{{path: path, input: true}}, nil
	case !info.Mode().IsRegular(): // a pipe, such as <(zcat trace.json.gz), is opened and read once
		return []source{{path: path, input: true, open: openFile(path)}}, nil
	}
	return fileSources(path, info.Size(), false)
}

// plainReason drops operation and path, which the message already has.
func plainReason(err error) string {
	var pathErr *fs.PathError
	if errors.As(err, &pathErr) {
		return pathErr.Err.Error()
	}
	return err.Error()
}

func (o *opening) standardInput() (io.ReadCloser, error) {
	if o.opt.Stdin == nil {
		return nil, errors.New("there is no standard input")
	}
	return io.NopCloser(o.opt.Stdin), nil
}

func openFile(path string) func() (io.ReadCloser, error) {
	return func() (io.ReadCloser, error) { return os.Open(path) }
}

// walk lists the files below a directory in the order of their names. Links to files and to sessions count, links to other
// directories are not followed.
func walk(dir string) ([]source, error) {
	var list []source
	ofDirectory := func(path string) bool {
		whole, ok := wholeDirectory(path)
		if ok {
			list = append(list, whole)
		}
		return ok
	}
	root := dir
	if at, err := os.Lstat(dir); err == nil && at.Mode()&fs.ModeSymlink != 0 {
		root += string(filepath.Separator) + "." // the directory that the link names
	}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if path == root {
			path = dir
		}
		if err != nil {
			if path == dir {
				return err
			}
			return nil
		}
		if d.Type()&fs.ModeSymlink != 0 {
			if to, err := os.Stat(path); err == nil {
				d = fs.FileInfoToDirEntry(to)
			}
			if d.IsDir() {
				ofDirectory(path)
				return nil
			}
		}
		if d.IsDir() {
			if ofDirectory(path) {
				return fs.SkipDir
			}
			if path != dir && (strings.HasPrefix(d.Name(), ".") || strings.Count(path[len(dir):], string(filepath.Separator)) > maxDepth) {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil || !info.Mode().IsRegular() || strings.HasPrefix(filepath.Base(path), ".") {
			return nil
		}
		files, err := fileSources(path, info.Size(), true)
		list = append(list, files...)
		if len(list) > maxFiles {
			return fmt.Errorf("more than %d files", maxFiles)
		}
		if err != nil {
			return nil // a stray archive that cannot be read
		}
		return nil
	})
	if err != nil {
		return nil, &UnusableError{Path: dir, Reason: plainReason(err), err: err}
	}
	return list, nil
}

// fileSources is a file, or the members of an archive.
func fileSources(path string, size int64, found bool) ([]source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &UnusableError{Path: path, Reason: plainReason(err), err: err}
	}
	defer f.Close()
	var head [4]byte
	n, _ := io.ReadFull(f, head[:])
	if bytes.HasPrefix(head[:n], []byte("PK\x03\x04")) {
		return zipSources(path)
	}
	return []source{{path: path, size: size, open: openFile(path), found: found}}, nil
}

// wanted leaves out what is no file or only an operating system's note about one.
func wanted(name string, mode fs.FileMode) bool {
	base := name[strings.LastIndexByte(name, '/')+1:]
	return mode.IsRegular() && base != "" && !strings.HasPrefix(base, ".") && !strings.HasPrefix(name, "__MACOSX/")
}

// isTar recognises a tar archive by its first header.
func isTar(head []byte) bool { return len(head) > 262 && string(head[257:262]) == "ustar" }

// tarMember is the file at which an archive stands. Who reads ahead of a file that turned out to be damaged may still do so when the
// archive goes on to the next one: it gets an end then.
type tarMember struct {
	sync.Mutex
	archive *tar.Reader // nil at its end
}

func (m *tarMember) Read(p []byte) (int, error) {
	m.Lock()
	defer m.Unlock()
	if m.archive == nil {
		return 0, io.EOF
	}
	return m.archive.Read(p)
}

func (m *tarMember) end() {
	m.Lock()
	defer m.Unlock()
	m.archive = nil
}

// readTar reads the members of a tar archive one after the other.
func readTar(o *opening, src source, r io.Reader) (func() error, error) {
	archive := tar.NewReader(r)
	var adds []func() error
	for files := 0; files < maxFiles; {
		header, err := archive.Next()
		if err != nil {
			if err != io.EOF && len(adds) == 0 {
				return nil, &UnusableError{Path: src.path, Reason: "a tar archive that cannot be read: " + err.Error(), err: err}
			}
			break
		}
		if !wanted(header.Name, header.FileInfo().Mode()) {
			continue
		}
		files++
		member := &tarMember{archive: archive}
		plain, err := unpack(member)
		if err != nil {
			continue
		}
		add, err := o.readText(source{path: src.path + "/" + header.Name, size: header.Size, found: true}, plain)
		plain.Close()
		member.end()
		if err == nil && add != nil {
			adds = append(adds, add)
		} else if err != nil && !errors.As(err, new(*UnusableError)) {
			return nil, err
		}
	}
	if len(adds) == 0 {
		return nil, &UnusableError{Path: src.path, Reason: "a tar archive without any trace or profile"}
	}
	return func() error {
		for _, add := range adds {
			if err := add(); err != nil {
				return err
			}
		}
		return nil
	}, nil
}
