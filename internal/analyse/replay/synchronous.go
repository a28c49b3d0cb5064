package replay

import (
	"slices"
	"strconv"

	"bottleneck/internal/model"
)

// synchronousLaunch is the variable that lets each call that gives a device work return only once that work is done.
const synchronousLaunch = "CUDA_LAUNCH_BLOCKING"

// Causes whose price is time that an ordinary run may spend beside the device's work. Idle devices tell of the last two; the steps of a
// program, timed without a profiler, hold what it did itself.
var (
	besideDevice = []string{"alloc", "comm-exposed", "copy", "launch", "sync"}
	whileIdle    = []string{"input", "python"}
)

// Synchronous says that a session's program used a device and waited at each launch for the work that it launched. Then nothing runs
// beside the device: calls hold the time of their kernels, and how much of it an ordinary run hides cannot be known.
func Synchronous(s *model.Session) bool {
	n, err := strconv.Atoi(s.Environment.Threads[synchronousLaunch])
	return err == nil && n != 0 && usesDevice(s)
}

func usesDevice(s *model.Session) bool {
	return len(s.Environment.GPUs) > 0 ||
		slices.ContainsFunc(s.Traces, func(t *model.Trace) bool { return t.Features.Device }) ||
		slices.ContainsFunc(s.Processes, (*model.Process).TimedOnDevice)
}

// Hides says that a session was synchronous and that a cause's price is therefore not known from it; traced: the price would be of what
// its traces say of devices, and not of a program's own steps. All that prices a cause asks here.
func Hides(s *model.Session, cause string, traced bool) bool {
	return (slices.Contains(besideDevice, cause) || traced && slices.Contains(whileIdle, cause)) && Synchronous(s)
}
