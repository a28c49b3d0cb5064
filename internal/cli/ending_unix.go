//go:build unix

package cli

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

// untilSignal is a context that ends when this process is asked to end. Under nohup it outlives its terminal.
func untilSignal(ctx context.Context) (context.Context, context.CancelFunc) {
	signals := []os.Signal{syscall.SIGINT, syscall.SIGTERM}
	if !signal.Ignored(syscall.SIGHUP) {
		signals = append(signals, syscall.SIGHUP)
	}
	return signal.NotifyContext(ctx, signals...)
}
