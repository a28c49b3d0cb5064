package record

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// ErrNotRegular says that something in a session is no file that is read: a pipe, a device, a link that leads out of the session.
var ErrNotRegular = errors.New("no regular file inside of the session (a link that leads out, a pipe, a device)")

// Open opens a file of the session directory dir for reading; name is relative to dir. A session may come from anywhere, so a file is
// opened only where it is a regular one inside of dir, links resolved, and opening a pipe does not wait. Errors are of type *fs.PathError:
// that of a missing file satisfies fs.ErrNotExist, that of anything but a file wraps ErrNotRegular.
func Open(dir, name string) (*os.File, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if _, err := regular(root, name); err != nil { // opening a device may already act on it
		return nil, err
	}
	f, err := root.OpenFile(name, os.O_RDONLY|openNonBlocking, 0)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		f.Close()
		return nil, &fs.PathError{Op: "open", Path: filepath.Join(dir, name), Err: ErrNotRegular}
	}
	return f, nil
}

// Stat describes a file that Open would open.
func Stat(dir, name string) (fs.FileInfo, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return regular(root, name)
}

// regular describes a regular file below root.
func regular(root *os.Root, name string) (fs.FileInfo, error) {
	info, err := root.Stat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, err
	case err == nil && info.Mode().IsRegular():
		return info, nil
	}
	var path *fs.PathError
	if errors.As(err, &path) && errors.Is(err, fs.ErrPermission) {
		return nil, err
	}
	return nil, &fs.PathError{Op: "open", Path: filepath.Join(root.Name(), name), Err: ErrNotRegular}
}

// OpenIn is Open of a file in a launcher's or process's folder, which is given by its full path as Folders lists them.
func OpenIn(folder, name string) (*os.File, error) {
	return Open(filepath.Dir(folder), filepath.Join(filepath.Base(folder), name))
}

// StatIn is Stat of a file in a launcher's or process's folder.
func StatIn(folder, name string) (fs.FileInfo, error) {
	return Stat(filepath.Dir(folder), filepath.Join(filepath.Base(folder), name))
}

// readAll reads at most limit bytes of a session's file; a longer one is an error.
func readAll(f *os.File, limit int64) ([]byte, error) {
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	if int64(len(data)) > limit {
		return nil, fmt.Errorf("read %s: larger than %d MiB", f.Name(), limit>>20)
	}
	return data, nil
}
