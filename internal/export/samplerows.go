package export

import (
	"fmt"
	"math"
	"path"
	"slices"

	"bottleneck/internal/model"
)

// needSamples is what formats of Python stacks say of a session without any.
const needSamples = "there are no Python samples: record with `bottleneck run` or `attach`"

// sampledProcesses are the processes that have samples, of the rank that was asked for.
func sampledProcesses(s *model.Session, opt Options) []*model.Process {
	var out []*model.Process
	for _, p := range s.Processes {
		if p.Samples.Len() > 0 && (opt.Rank == model.NoRank || p.Rank == opt.Rank) {
			out = append(out, p)
		}
	}
	return out
}

// processName is how a process is called where several stand in one file.
func processName(p *model.Process) string {
	switch {
	case p.Role == model.RoleRank:
		return fmt.Sprintf("rank %d (pid %d)", p.Rank, p.PID)
	case p.Role == model.RoleWorker && p.WorkerIndex >= 0:
		return fmt.Sprintf("worker %d (pid %d)", p.WorkerIndex, p.PID)
	case p.Rank != model.NoRank:
		return fmt.Sprintf("%s of rank %d (pid %d)", p.Role, p.Rank, p.PID)
	case p.Role == "":
		return fmt.Sprintf("pid %d", p.PID)
	}
	return fmt.Sprintf("%s (pid %d)", p.Role, p.PID)
}

// threadName is a thread's name with its number.
func threadName(s *model.Session, p *model.Process, thread int32) string {
	if name := s.Strings.Text(p.Samples.Threads[thread]); name != "" {
		return fmt.Sprintf("%s (%d)", name, thread)
	}
	return fmt.Sprintf("thread %d", thread)
}

// samplePeriod is the time that one sample stands for: what the sampler achieved, else what was asked.
func samplePeriod(p *model.Samples) model.Dur {
	hz := p.AchievedHz
	if hz <= 0 || math.IsNaN(hz) {
		hz = p.AskedHz
	}
	if hz <= 0 {
		hz = 100
	}
	return model.Dur(1e9 / hz)
}

// frameText is a frame as formats without columns name it: a function with its line, or with its library.
func frameText(s *model.Session, f *model.Frame) string {
	name, file := s.Strings.Text(f.Function), s.Strings.Text(f.File)
	if f.Native {
		return fmt.Sprintf("%s [%s]", name, path.Base(file))
	}
	return fmt.Sprintf("%s (%s:%d)", name, file, f.Line)
}

// framesOf are the frames of a stack, innermost first. A damaged table ends a stack, it does not loop.
func framesOf(st *model.Stacks, id model.StackID, to []model.FrameID) []model.FrameID {
	to = to[:0]
	for id >= 0 && int(id) < len(st.Frame) && len(to) <= len(st.Frame) {
		if f := st.Frame[id]; f >= 0 && int(f) < len(st.Frames) {
			to = append(to, f)
		}
		id = st.Parent[id]
	}
	return to
}

// threadsOf are the threads that were sampled, the main thread first.
func threadsOf(p *model.Process) []int32 {
	var out []int32
	for _, t := range p.Samples.Thread {
		if i, found := slices.BinarySearch(out, t); !found {
			out = slices.Insert(out, i, t)
		}
	}
	if i := slices.Index(out, int32(p.MainThread)); i > 0 {
		out = slices.Insert(slices.Delete(out, i, i+1), 0, int32(p.MainThread))
	}
	return out
}
