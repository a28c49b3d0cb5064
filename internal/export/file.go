package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/gzip"

	"bottleneck/internal/model"
)

// WriteFile writes a session to path: a directory for formats that have WriteDir, else a file, gzipped where the path ends
// in ".gz". A regular file appears whole or not at all; pipes and devices are written as they are.
func WriteFile(ctx context.Context, s *model.Session, f Format, path string, opt Options) error {
	opt.Path = path
	if f.WriteDir != nil {
		return f.WriteDir(ctx, s, path, opt)
	}
	return replaceFile(path, func(w io.Writer) error { return f.Write(ctx, s, w, opt) })
}

// replaceFile writes beside path and renames, so that a failure leaves what was there.
func replaceFile(path string, write func(io.Writer) error) error {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		if info.IsDir() {
			return fmt.Errorf("write %s: it is a directory", path)
		}
		return writeInPlace(path, write)
	}
	f, err := createBeside(path)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	err = errors.Join(compressed(f, path, write), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		var unavailable *UnavailableError
		if errors.As(err, &unavailable) {
			return err
		}
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

func writeInPlace(path string, write func(io.Writer) error) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return errors.Join(compressed(f, path, write), f.Close())
}

// createBeside makes a new file in path's directory with the permissions that the user's umask gives.
func createBeside(path string) (*os.File, error) {
	for n := range 100 {
		name := filepath.Join(filepath.Dir(path), fmt.Sprintf(".%s.%d-%d", filepath.Base(path), os.Getpid(), n))
		f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if !errors.Is(err, os.ErrExist) {
			return f, err
		}
	}
	return nil, errors.New("no free name for a temporary file")
}

// compressed passes w, through gzip where the path asks for it.
func compressed(w io.Writer, path string, write func(io.Writer) error) error {
	if !strings.HasSuffix(path, ".gz") {
		return write(w)
	}
	z, err := gzip.NewWriterLevel(w, gzip.BestSpeed)
	if err != nil {
		return err
	}
	return errors.Join(write(z), z.Close())
}
