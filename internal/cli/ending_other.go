//go:build !unix

package cli

import (
	"context"
	"os"
	"os/signal"
)

// untilSignal is a context that ends when this process is asked to end.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	return signal.NotifyContext(ctx, os.Interrupt)
}
