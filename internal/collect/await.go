package collect

import (
	"context"
	"errors"
	"slices"
	"time"

	"bottleneck/internal/cpython"
	"bottleneck/internal/proc"
)

// How often, and until what age of the process, an interpreter is looked for that is not there yet.
const (
	lookEvery = 20 * time.Millisecond
	startsFor = 2 * time.Second
)

// AwaitPython waits until Python can be sampled in a process or in a child of it; where it cannot be, it says why. Only a
// process that has just been started is waited for: it may be about to run its interpreter, or a launcher its program.
func AwaitPython(ctx context.Context, pid int) string {
	for {
		expected, why := samplable(pid)
		if why == "" || !expected || !young(pid) {
			return why
		}
		next := time.NewTimer(lookEvery)
		select {
		case <-ctx.Done():
			next.Stop()
			return why
		case <-next.C:
		}
	}
}

// samplable says why neither a process nor a child of it can be sampled, "" where one can; expected says that this may change.
func samplable(pid int) (expected bool, why string) {
	mem := proc.OpenMemory(pid)
	defer mem.Close()
	_, err := cpython.Find(pid, mem)
	if err == nil {
		return false, ""
	}
	list, dumpErr := Dump(pid, DumpOptions{})
	if dumpErr == nil && slices.ContainsFunc(list, func(d DumpedProcess) bool { return d.Reason == "" }) {
		return false, "" // a launcher whose children run Python
	}
	return errors.Is(err, cpython.ErrNotPython) || errors.Is(err, cpython.ErrNotReady), whyNot(pid)
}

// young says whether a process was started so lately that its interpreter may still come.
func young(pid int) bool {
	st, err := proc.ReadStat(pid)
	return err == nil && st.State != 'Z' && sinceBoot()-time.Duration(st.StartTicks)*tick < startsFor
}

// tick is the unit of a process's start time: USER_HZ, which is 100 on every processor that is supported.
const tick = 10 * time.Millisecond
