package facts

import (
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
	"strconv"
	"strings"
)

// TorchThreads is the number of intra-op threads that the program uses; the number of usable cores where that is unknown.
func TorchThreads(c *Facts) float64 {
	for _, key := range []string{"torch.get_num_threads", "torch.num_threads", "num_threads", "OMP_NUM_THREADS", "MKL_NUM_THREADS"} {
		if n, err := strconv.ParseFloat(strings.TrimSpace(c.S.Environment.Threads[key]), 64); err == nil && n >= 1 {
			return n
		}
	}
	return max(c.Cores, 1)
}

// LocalRanks is the number of training processes on the accounted process's host.
func LocalRanks(c *Facts) int {
	n := 0
	for _, p := range c.S.Processes {
		if p.Host == c.P.Host && (p == c.P || p.Role == model.RoleRank) {
			n++
		}
	}
	return max(n, 1)
}

// smallSHM is the size of shared memory in bytes under which batches of DataLoader workers easily do not fit; a container has
// 64 MiB unless it asks for more.
const smallSHM = 256 << 20

// MoreSHM is how a program gets more shared memory.
var MoreSHM = wording.With("how", wording.Say("machine.shm-larger"))

// RoomForWorkers warns where more workers are advised and shared memory is small; nothing where it is not, or its size is unknown.
func (c *Facts) RoomForWorkers() []wording.Text {
	size := c.S.Environment.SHMBytes
	if size == nil || *size >= smallSHM {
		return nil
	}
	return []wording.Text{wording.Say("machine.caveat-room", wording.Size("size", float64(*size)), MoreSHM)}
}
