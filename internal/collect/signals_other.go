//go:build !unix

package collect

import (
	"os"
	"os/signal"
	"strconv"
)

// Signals receives Ctrl-C while the program runs, and shortly before; the console delivers it to the program by itself.
type Signals struct {
	incoming   chan os.Signal
	interrupts int
}

// TakeSignals starts receiving.
func TakeSignals() *Signals {
	r := &Signals{incoming: make(chan os.Signal, 16)}
	signal.Notify(r.incoming, os.Interrupt)
	return r
}

func (r *Signals) stop() { signal.Stop(r.incoming) }

func (r *Signals) handle(_ os.Signal, program *os.Process) reaction {
	r.interrupts++
	if r.interrupts > 2 {
		_ = program.Kill()
	}
	return nothingMore
}

func (r *Signals) terminate(program *os.Process) { _ = program.Kill() }

func describeEnd(*os.ProcessState, *Outcome) {}

// SignalName names a signal by its number.
func SignalName(number int) string { return "signal " + strconv.Itoa(number) }

// EndBySignal does nothing where processes do not end by signals.
func EndBySignal(int) {}
