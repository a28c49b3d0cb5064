package facts

import (
	"bottleneck/internal/analyse/cause/price"
	"strconv"
	"strings"

	"bottleneck/internal/analyse/account"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
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

// CrowdedOut says that the threads of the program and other programs together wanted more cores than there are, and how many cores the
// others kept busy, on average over the run.
func CrowdedOut(c *Facts) (busy float64, ok bool) {
	others := c.S.Environment.OthersBusyCores
	if others == nil || c.Cores <= 0 {
		return 0, false
	}
	wanted := min(TorchThreads(c)*float64(LocalRanks(c)), c.Cores)
	return *others, *others >= price.CrowdedCores && wanted+*others-c.Cores >= price.CrowdedCores
}

// LocalRanks is the number of processes on the accounted process's host that train at the same time, itself included: ranks, and others
// that take steps of their own while the accounted ones run, such as those of a program that starts its trainers by multiprocessing.
func LocalRanks(c *Facts) int {
	n := 0
	for _, p := range c.S.Processes {
		if p.Host == c.P.Host && (p == c.P || p.Role == model.RoleRank || c.trainsBeside(p)) {
			n++
		}
	}
	return max(n, 1)
}

// trainsBeside says that another process takes steps during at least half of the accounted stretch.
func (c *Facts) trainsBeside(p *model.Process) bool {
	if n := len(c.B.Windows); n == 0 || len(p.Steps) == 0 || p.Role == model.RoleWorker || p.Role == model.RoleCompile {
		return false
	}
	from, to := c.B.Windows[0].Start, c.B.Windows[len(c.B.Windows)-1].End
	return min(p.Steps[len(p.Steps)-1].End, to)-max(p.Steps[0].Start, from) >= (to-from)/2
}

// OwnCores is the accounted process's part of the cores, where others train beside it; 0 unknown.
func (c *Facts) OwnCores() float64 { return c.Cores / float64(LocalRanks(c)) }

// SharedOps is the time in ns per step in operators that several threads compute at once: on the CPU, and not small. All other work of the
// driving thread is its own alone. Where a device computes, the few operators beside those that launch its work are bookkeeping.
func (c *Facts) SharedOps() float64 {
	if TorchThreads(c) <= 1 || c.B.Part(account.PartGPUCompute) > 0 || c.OnlyLaunches() {
		return 0
	}
	small := 0.0
	if o := c.B.Ops; o != nil && o.Time > 0 {
		small = min(o.SmallTime/o.Time, 1)
	}
	return c.PerStep(c.B.Part(account.PartOps)) * (1 - max(small, c.Launching))
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
