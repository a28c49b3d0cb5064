package model

// ThreadState is what a thread did when it was sampled.
type ThreadState uint8

// States of a sampled thread.
const (
	StateUnknown ThreadState = iota
	StateCPU                 // on a CPU or runnable
	StateGILWait             // waits for the GIL
	StateBlocked             // in a system call or lock
	StateIdle                // waits for work (a known idle frame)
)

// Flags of a sample.
const (
	SampleHoldsGIL   uint8 = 1 << iota
	SampleGC               // garbage collection runs
	SampleInNative         // the innermost frame called into C
	SampleInProcess        // taken by the agent's fallback, not from outside
	SampleDiskWait         // in uninterruptible sleep
	SampleAttached         // runs Python, or C code that has not let go of the interpreter, where no GIL is to be held
	SampleTimedSleep       // sleeps for a set time and, the kernel says, for nothing else
	SampleOwnLock          // waits in a lock that only threads of its own process can let go of
)

// SampleRunsPython is set in samples of threads that run Python, or C code that has not let go of the interpreter: those
// that hold the GIL, and in an interpreter without one those that are attached.
const SampleRunsPython = SampleHoldsGIL | SampleAttached

// Samples are the Python stacks of one process, in columns of equal length, in order of time.
type Samples struct {
	Time   []Time
	Thread []int32 // native thread id
	Stack  []StackID
	State  []ThreadState
	Flags  []uint8

	// Native are the same stacks with native frames between the Python frames, nil where none were recorded. A sample
	// whose native frames could not be read has the same number in both columns.
	Native []StackID

	Stacks  Stacks
	Threads map[int32]Str // names of threads, by native thread id

	AskedHz, AchievedHz float64
	Late, Failed        int64 // wake-ups that came late; samples lost (torn, unreadable)

	// Foreign names the format of another profiler's file that the samples come from, "" for our own. Such samples have no
	// thread states; where the file holds sums only, their times are no more than an order.
	Foreign string
}

// Len is the number of samples.
func (s *Samples) Len() int { return len(s.Time) }

// WithNative are the stacks with all that is known of them: native frames too, where those were recorded.
func (s *Samples) WithNative() []StackID {
	if s.Native != nil {
		return s.Native
	}
	return s.Stack
}

// Stacks is a tree of call stacks: each stack is its innermost frame and the stack of the caller.
type Stacks struct {
	Frame  []FrameID
	Parent []StackID // NoStack for the outermost frame
	Frames []Frame
}

// Frame is one line of one function.
type Frame struct {
	Function Str // qualified name where the interpreter has one
	File     Str
	First    int32 // the function's first line
	Line     int32 // the running line; 0 unknown
	Native   bool
}
