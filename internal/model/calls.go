package model

// Calls are exact counts and times of Python functions, as cProfile and its relatives record them: no time stamps and no
// threads, only sums. Functions are in the order in which they were first seen.
type Calls struct {
	Input     int // index in Session.Inputs; -1 where the calls were derived
	Process   int // index in Session.Processes; -1 for a file from elsewhere
	Functions []CallFunction
	Lines     []CallLine // where single lines were timed
	LineCost  Dur        // what counting one hit of a line took; 0 where nobody measured it
	Actions   []ActionCalls
}

// ActionCalls are the functions that ran within calls of one of a trainer's actions, on its thread: those that returned
// before its end. A function that was running when the action began has no cumulative time in it, since calls of it are recursive.
type ActionCalls struct {
	Name      string
	Measured  int64          // calls of the action that were measured
	Functions []CallFunction // without callers
}

// CallLine is what a line-by-line profiler counted of one line: how often it ran, and the time until the next line of the
// same function, calls included.
type CallLine struct {
	File, Function string
	First          int32 // first line of the function; 0 unknown
	Line           int32
	Hits           int64
	Time           Dur
}

// CallFunction is one function of a Calls. File is "~" and Line 0 for functions written in C.
type CallFunction struct {
	File, Name string
	Line       int32
	Primitive  int64 // calls that were not made while the function was already running
	Calls      int64
	Own        Dur // time in the function itself ("tottime")
	Cumulative Dur // with everything it called; of recursive functions the outermost activation only
	Callers    []CallEdge
}

// CallEdge is what one caller contributed to a function.
type CallEdge struct {
	Caller           int32 // index in Calls.Functions
	Primitive, Calls int64
	Own, Cumulative  Dur
}

// Total is the time of all functions together.
func (c *Calls) Total() Dur {
	var sum Dur
	for i := range c.Functions {
		sum += c.Functions[i].Own
	}
	return sum
}
