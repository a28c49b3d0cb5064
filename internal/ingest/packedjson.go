package ingest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"path/filepath"

	"bottleneck/internal/record"
)

// maxSmallLists is how many lists a document may hold however short it is.
const maxSmallLists = 1 << 16

// readPackedJSON reads a compressed JSON document of the agent, of at most limit bytes when unpacked, into a value. what names it in
// errors; that of a missing file is fs.ErrNotExist.
func readPackedJSON(path, what string, limit int64, into any) error {
	packed, err := record.OpenIn(filepath.Dir(path), filepath.Base(path))
	if err != nil {
		return err
	}
	defer packed.Close()
	in, _, err := unpackGuarded(packed, record.GuardFloor, record.GuardRatio)
	if err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	text, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err == nil && int64(len(text)) > limit {
		err = fmt.Errorf("larger than %d MiB", limit>>20)
	}
	if err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	if bytes.Count(text, []byte{'['}) > maxSmallLists+len(text)/8 { // empty lists cost more memory than text
		return fmt.Errorf("reading %s: it is full of empty lists", what)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	return nil
}
