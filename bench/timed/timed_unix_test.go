//go:build unix

package timed

import (
	"context"
	"testing"
	"time"
)

// A command whose time is up before it starts is one that took too long.
func TestTimeUpBeforeTheStart(t *testing.T) {
	ctx, cancel := context.WithDeadline(context.Background(), time.Now())
	defer cancel()
	if _, err := (Command{Args: []string{"true"}, Limit: time.Minute}).Run(ctx); err == nil {
		t.Error("no error")
	}
}
