package record

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/klauspost/compress/gzip"
)

// Compress replaces the file at path by path+".gz", which appears whole or not at all. When ctx ends it gives up and
// leaves the plain file.
func Compress(ctx context.Context, path string) (err error) {
	in, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("compress %s: %w", path, err)
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".gz.tmp-*")
	if err != nil {
		return fmt.Errorf("compress %s: %w", path, err)
	}
	defer func() {
		_ = out.Close()
		if err != nil {
			_ = os.Remove(out.Name())
			err = fmt.Errorf("compress %s: %w", path, err)
		}
	}()
	if err := compressTo(ctx, out, in); err != nil {
		return err
	}
	if err := out.Close(); err != nil {
		return err
	}
	if info, err := in.Stat(); err == nil {
		_ = os.Chtimes(out.Name(), info.ModTime(), info.ModTime()) // age decides what is dropped first
	}
	if err := os.Rename(out.Name(), path+".gz"); err != nil {
		return err
	}
	return os.Remove(path)
}

func compressTo(ctx context.Context, out io.Writer, in io.Reader) error {
	buffered := bufio.NewWriterSize(out, 1<<18)
	zip, err := gzip.NewWriterLevel(buffered, gzip.BestSpeed)
	if err != nil {
		return err
	}
	if _, err := io.CopyBuffer(zip, &contextReader{ctx, in}, make([]byte, 1<<18)); err != nil {
		return err
	}
	if err := zip.Close(); err != nil {
		return err
	}
	return buffered.Flush()
}

// contextReader fails once its context has ended.
type contextReader struct {
	ctx context.Context
	r   io.Reader
}

func (c *contextReader) Read(p []byte) (int, error) {
	if err := c.ctx.Err(); err != nil {
		return 0, err
	}
	return c.r.Read(p)
}
