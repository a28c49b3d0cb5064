package record

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// MaxJSONBytes bounds a manifest, launcher or index file: none that we write comes near.
const MaxJSONBytes = 16 << 20

// WriteFile puts data at path in one step: a reader sees the old content or the new one, never a part.
func WriteFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".tmp-*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	_, err = f.Write(data)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}

// WriteJSON is WriteFile of v as indented JSON.
func WriteJSON(path string, v any) error {
	data, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		return fmt.Errorf("encode %s: %w", path, err)
	}
	return WriteFile(path, append(data, '\n'))
}

// ReadJSON decodes the file name of the session directory dir, of at most MaxJSONBytes, into v; Open says which files are read. The error
// of a missing file satisfies fs.ErrNotExist.
func ReadJSON(dir, name string, v any) error {
	f, err := Open(dir, name)
	if err != nil {
		return fmt.Errorf("read %s: %w", filepath.Join(dir, name), err)
	}
	data, err := readAll(f, MaxJSONBytes)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("read %s: %w", filepath.Join(dir, name), err)
	}
	return nil
}

// ReadJSONIn is ReadJSON of a file in a launcher's or process's folder, which is given by its full path.
func ReadJSONIn(folder, name string, v any) error {
	return ReadJSON(filepath.Dir(folder), filepath.Join(filepath.Base(folder), name), v)
}
