package page

import (
	"cmp"
	"fmt"
	"path"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
	"bottleneck/internal/report"
)

// sampleTree is the tree of the Python samples of all processes, without threads that wait for work.
func sampleTree(s *model.Session, native bool) *tree {
	t := newTree("all samples")
	var sampled []*model.Process
	for _, p := range s.Processes {
		if p.Samples.Len() > 0 {
			sampled = append(sampled, p)
		}
	}
	for _, p := range sampled {
		stacks := report.SampledStacks(s, p, report.SampleChoice{}, native)
		threads := map[int32]bool{}
		for _, st := range stacks {
			threads[st.Thread] = true
		}
		root := int32(0)
		if len(sampled) > 1 {
			root = t.child(0, frame{name: processName(p)})
		}
		addStacks(t, s, p, stacks, root, len(threads) > 1)
	}
	t.sum()
	return t
}

// addStacks adds a process's stacks below a node, with a box for each thread where there are several.
func addStacks(t *tree, s *model.Session, p *model.Process, stacks []report.ThreadStack, root int32, byThread bool) {
	var frames []model.FrameID
	classes := code.NewFrameClasses(s, p)
	for _, st := range stacks {
		node := root
		if byThread {
			node = t.child(root, frame{name: threadName(s, p, st.Thread)})
		}
		frames = framesOf(&p.Samples.Stacks, st.Stack, frames)
		for i := len(frames) - 1; i >= max(0, len(frames)-maxDepth); i-- {
			// our own hooks say nothing of the program
			if f := &p.Samples.Stacks.Frames[frames[i]]; classes.File(f.File) != code.FileAgent {
				node = t.child(node, frameName(s, f))
			}
		}
		t.nodes[node].self += st.Ns
	}
}

func frameName(s *model.Session, f *model.Frame) frame {
	name, file := s.Strings.Text(f.Function), s.Strings.Text(f.File)
	if f.Native {
		return frame{name: fmt.Sprintf("%s [%s]", name, path.Base(file))}
	}
	return frame{name: name, place: placeText(file, int(cmp.Or(f.First, f.Line)))}
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

// processName is how a process is called among others.
func processName(p *model.Process) string {
	switch {
	case p.Role == model.RoleRank:
		return fmt.Sprintf("rank %d (pid %d)", p.Rank, p.PID)
	case p.Role == model.RoleWorker && p.WorkerIndex >= 0 && p.Rank != model.NoRank:
		return fmt.Sprintf("worker %d of rank %d (pid %d)", p.WorkerIndex, p.Rank, p.PID)
	case p.Role == model.RoleWorker && p.WorkerIndex >= 0:
		return fmt.Sprintf("worker %d (pid %d)", p.WorkerIndex, p.PID)
	case p.Role == "":
		return fmt.Sprintf("pid %d", p.PID)
	}
	return fmt.Sprintf("%s (pid %d)", p.Role, p.PID)
}

func threadName(s *model.Session, p *model.Process, thread int32) string {
	if name := s.Strings.Text(p.Samples.Threads[thread]); name != "" {
		return fmt.Sprintf("%s (%d)", name, thread)
	}
	return fmt.Sprintf("thread %d", thread)
}
