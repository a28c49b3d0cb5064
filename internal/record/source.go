package record

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Bounds on kept program texts.
const (
	MaxSourceBytes = 2 << 20 // of one file
	MaxSources     = 500
)

// SourceIndex is source/index.json: the program text's file name in source/ (the text's SHA-256) by the path as frames name it.
type SourceIndex map[string]string

// SaveSources copies the program texts at paths into the session, each distinct text once. Paths that cannot be read
// (removed since, not a file: "<string>") are left out; err is about the session itself.
func SaveSources(dir string, paths []string) (saved int, err error) {
	index, err := ReadSourceIndex(dir)
	if err != nil {
		index = SourceIndex{}
	}
	folder := filepath.Join(dir, SourceDir)
	if err := os.MkdirAll(folder, DirMode); err != nil {
		return 0, fmt.Errorf("save sources: %w", err)
	}
	for _, path := range paths {
		if len(index) >= MaxSources {
			break
		}
		if _, have := index[path]; have || !filepath.IsAbs(path) {
			continue
		}
		text, err := readBounded(path, MaxSourceBytes)
		if err != nil {
			continue
		}
		sum := sha256.Sum256(text)
		name := hex.EncodeToString(sum[:])
		if err := WriteFile(filepath.Join(folder, name), text); err != nil {
			return saved, fmt.Errorf("save sources: %w", err)
		}
		index[path] = name
		saved++
	}
	if saved == 0 {
		return 0, nil
	}
	return saved, WriteJSON(filepath.Join(folder, "index.json"), index)
}

// ReadSourceIndex reads the index of kept program texts; an empty one where there is none.
func ReadSourceIndex(dir string) (SourceIndex, error) {
	index := SourceIndex{}
	err := ReadJSON(dir, filepath.Join(SourceDir, "index.json"), &index)
	if errors.Is(err, fs.ErrNotExist) {
		return SourceIndex{}, nil
	}
	return index, err
}

// ReadSource reads one kept text by its name in the index; a name that is not a plain SHA-256 is refused.
func ReadSource(dir, name string) ([]byte, error) {
	if b, err := hex.DecodeString(name); err != nil || len(b) != sha256.Size {
		return nil, fmt.Errorf("read source: bad name %q", name)
	}
	f, err := Open(dir, filepath.Join(SourceDir, name))
	if err != nil {
		return nil, fmt.Errorf("read source: %w", err)
	}
	return readAll(f, MaxSourceBytes)
}

// readBounded reads a program's text: a regular file of at most limit bytes.
func readBounded(path string, limit int64) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	if !info.Mode().IsRegular() || info.Size() > limit {
		return nil, fmt.Errorf("read %s: not a regular file of at most %d bytes", path, limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, limit))
}
