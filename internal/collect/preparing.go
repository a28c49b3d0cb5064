package collect

import (
	"os"
	"syscall"
	"time"
)

// stuckTime is how long a signal waits for preparations, which take milliseconds unless a file system hangs.
const stuckTime = 3 * time.Second

// WhilePreparing keeps signals from ending the launcher between what it writes for the program and the program's start. The function
// that it returns gives the number of a signal that asked the launcher to end meanwhile, 0 for none; the caller removes what it has
// written and ends by that signal. Where it is not called soon after the signal, stuck is called with the number.
func (r *Signals) WhilePreparing(stuck func(number int)) (asked func() int) {
	prepared, number := make(chan struct{}), make(chan int, 1)
	go func() {
		select {
		case sig := <-r.incoming:
			number <- signalNumber(sig)
			select {
			case <-prepared:
			case <-time.After(stuckTime):
				stuck(signalNumber(sig))
			}
		case <-prepared:
			number <- 0
		}
	}()
	return func() int {
		close(prepared)
		return <-number
	}
}

// signalNumber is what the system calls a signal.
func signalNumber(sig os.Signal) int {
	n, _ := sig.(syscall.Signal)
	return int(n)
}
