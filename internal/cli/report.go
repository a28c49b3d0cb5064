package cli

import (
	"context"
	"fmt"
	"io"
)

// print writes the report of paths.
func (o *reportOptions) print(_ context.Context, a *app, w io.Writer, paths []string, shown string, _ bool) error {
	_, err := fmt.Fprintf(w, "bottleneck: the session is %s\n", shown)
	return err
}
