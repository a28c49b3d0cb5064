package turns

import (
	"bottleneck/internal/collect"
	"context"
	"time"
)

// look is over how long the machine is looked at, and quiet how many cores others may keep busy in it.
const (
	look  = 200 * time.Millisecond
	quiet = 0.25
)

// settle waits until other programs keep less than quiet cores busy, no longer than a limit. Where the system does not tell, it does not
// wait.
func settle(ctx context.Context, limit time.Duration) {
	for until := time.Now().Add(limit); time.Now().Before(until); {
		before, begin := collect.ReadMachine(), time.Now()
		select {
		case <-ctx.Done():
			return
		case <-time.After(look):
		}
		after := collect.ReadMachine()
		if before.CPUBusyNS == nil || after.CPUBusyNS == nil {
			return
		}
		if float64(*after.CPUBusyNS-*before.CPUBusyNS) < quiet*float64(time.Since(begin)) {
			return
		}
	}
}
