//go:build !unix

package collect

import (
	"os"
	"os/signal"
	"strconv"
)

// signalRelay receives Ctrl-C while the program runs; the console delivers it to the program by itself.
type signalRelay struct {
	incoming   chan os.Signal
	interrupts int
}

func newSignalRelay() *signalRelay {
	r := &signalRelay{incoming: make(chan os.Signal, 16)}
	signal.Notify(r.incoming, os.Interrupt)
	return r
}

func (r *signalRelay) stop() { signal.Stop(r.incoming) }

func (r *signalRelay) handle(_ os.Signal, program *os.Process) reaction {
	r.interrupts++
	if r.interrupts > 2 {
		_ = program.Kill()
	}
	return nothingMore
}

func (r *signalRelay) terminate(program *os.Process) { _ = program.Kill() }

func describeEnd(*os.ProcessState, *Outcome) {}

// SignalName names a signal by its number.
func SignalName(number int) string { return "signal " + strconv.Itoa(number) }

// EndBySignal does nothing where processes do not end by signals.
func EndBySignal(int) {}
