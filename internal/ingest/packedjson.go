package ingest

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
)

// readPackedJSON reads a compressed JSON document of the agent, of at most limit bytes when unpacked, into a value. what names it in
// errors; that of a missing file is fs.ErrNotExist.
func readPackedJSON(path, what string, limit int64, into any) error {
	packed, err := os.Open(path)
	if err != nil {
		return err
	}
	defer packed.Close()
	in, _, err := unpackHere(packed)
	if err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	text, err := io.ReadAll(io.LimitReader(in, limit))
	if err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	if err := json.Unmarshal(text, into); err != nil {
		return fmt.Errorf("reading %s: %w", what, err)
	}
	return nil
}
