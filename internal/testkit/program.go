package testkit

import (
	"bottleneck/internal/model"
)

// Act is one stretch of a step: what the thread does, where, and for how long.
type Act struct {
	Ms    int
	State model.ThreadState
	Flags uint8
	Span  *model.SpanKind // an exact span of this kind covers it
	// Stack is "file:function:line" from the outermost frame to the innermost.
	Stack []Frame
}

// Frame is one call.
type Frame struct {
	File, Function string
	First, Line    int
}

// Python is an act in which the interpreter works.
func Python(ms int, stack ...Frame) Act {
	return Act{Ms: ms, State: model.StateCPU, Flags: model.SampleHoldsGIL, Stack: stack}
}

// Native is an act in native code that has released the interpreter's lock.
func Native(ms int, stack ...Frame) Act { return Act{Ms: ms, State: model.StateCPU, Stack: stack} }

// Blocked is an act in which the thread sleeps.
func Blocked(ms int, stack ...Frame) Act { return Act{Ms: ms, State: model.StateBlocked, Stack: stack} }

// In puts an act into an exact span.
func (a Act) In(kind model.SpanKind) Act { a.Span = &kind; return a }

// Program builds a process step by step.
type Program struct {
	S *model.Session
	P *model.Process
	T model.Time // now

	frames map[Frame]model.FrameID
	stacks map[stackKey]model.StackID
}

type stackKey struct {
	parent model.StackID
	frame  model.FrameID
}

// Epoch is when programs start.
const Epoch model.Time = 1_700_000_000_000_000_000

const ms = 1_000_000

// NewProgram starts a session with one process; more can be added with Add.
func NewProgram() *Program {
	s := &model.Session{Strings: &model.Strings{}, Sources: map[string]*model.Source{}}
	s.Environment = model.Environment{CPUs: 8, Torch: "2.15.0", Python: "3.13.0", Threads: map[string]string{"torch.get_num_threads": "4"}}
	s.Run = &model.Run{Command: []string{"python", "train.py"}, Start: Epoch, End: Epoch}
	p := (&Program{S: s}).Add(model.RoleMain, 100)
	return p
}

// Add starts another process of the same session.
func (p *Program) Add(role model.Role, pid int) *Program {
	q := &model.Process{PID: pid, PPID: 100, Role: role, Rank: model.NoRank, WorkerIndex: -1, Start: Epoch, MainThread: pid,
		Torch: "2.15.0", Agent: true}
	p.S.Processes = append(p.S.Processes, q)
	return &Program{S: p.S, P: q, T: Epoch, frames: map[Frame]model.FrameID{}, stacks: map[stackKey]model.StackID{}}
}

// Do lets the thread act outside of steps.
func (p *Program) Do(acts ...Act) {
	for _, a := range acts {
		start := p.T
		stack := p.stack(a.Stack)
		sm := &p.P.Samples
		for range a.Ms {
			sm.Time = append(sm.Time, p.T+ms/2)
			sm.Thread = append(sm.Thread, int32(p.P.PID))
			sm.Stack = append(sm.Stack, stack)
			sm.State = append(sm.State, a.State)
			sm.Flags = append(sm.Flags, a.Flags)
			p.T += ms
		}
		if a.Span != nil {
			sp := model.Span{Kind: *a.Span, Start: start, End: p.T, Thread: p.P.PID, Loader: -1}
			if *a.Span == model.SpanDataWait || *a.Span == model.SpanFetch {
				sp.Loader, sp.Value = 0, int64(len(p.P.Spans)) // one epoch: every batch has its own number
			}
			if n := len(a.Stack); n > 0 && *a.Span == model.SpanIO {
				sp.File, sp.Line, sp.Name = p.S.Strings.Intern(a.Stack[n-1].File), int32(a.Stack[n-1].Line),
					p.S.Strings.Intern("torch.save")
			}
			p.P.Spans = append(p.P.Spans, sp)
		}
	}
	p.P.End = max(p.P.End, p.T)
	p.S.Run.End = max(p.S.Run.End, p.T)
}

// Steps runs n steps of a kind in a phase, each with these acts.
func (p *Program) Steps(n int, phase model.PhaseKind, acts ...Act) {
	for range n {
		start := p.T
		p.Do(acts...)
		p.P.Steps = append(p.P.Steps, model.Step{Number: int64(len(p.P.Steps)), Kind: p.S.Strings.Intern("train"),
			Source: model.StepOptimizer, Phase: phase, Start: start, End: p.T, Thread: p.P.PID, Items: 32})
	}
}

func (p *Program) stack(frames []Frame) model.StackID {
	id := model.NoStack
	st := &p.P.Samples.Stacks
	for _, f := range frames {
		fr, ok := p.frames[f]
		if !ok {
			fr = model.FrameID(len(st.Frames))
			st.Frames = append(st.Frames, model.Frame{Function: p.S.Strings.Intern(f.Function), File: p.S.Strings.Intern(f.File),
				First: int32(f.First), Line: int32(f.Line)})
			p.frames[f] = fr
		}
		key := stackKey{id, fr}
		next, ok := p.stacks[key]
		if !ok {
			next = model.StackID(len(st.Frame))
			st.Frame = append(st.Frame, fr)
			st.Parent = append(st.Parent, id)
			p.stacks[key] = next
		}
		id = next
	}
	return id
}

// Event adds a row to the trace that ev is of, on its first lane: start and dur in ns, detail the index of its OpDetail or -1, parent the
// row that encloses it or model.NoEvent. It gives the row's id.
func (p *Program) Event(ev *model.Events, start model.Time, dur model.Dur, name string, kind model.Kind, parent model.EventID,
	detail int32) model.EventID {
	ev.Start, ev.Dur = append(ev.Start, start), append(ev.Dur, dur)
	ev.Name, ev.Kind = append(ev.Name, p.S.Strings.Intern(name)), append(ev.Kind, kind)
	ev.Lane, ev.Parent = append(ev.Lane, 0), append(ev.Parent, parent)
	ev.Link, ev.Op, ev.Detail = append(ev.Link, model.NoEvent), append(ev.Op, model.NoEvent), append(ev.Detail, detail)
	return model.EventID(ev.Len() - 1)
}
