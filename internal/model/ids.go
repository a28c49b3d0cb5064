package model

import "time"

// Time is an instant on the session clock: nanoseconds since the Unix epoch. Every reader converts to it
// (the agent's and the sampler's monotonic times by their clock pairs, Kineto's by baseTimeNanoseconds).
type Time int64

// Sub is the time from o to t.
func (t Time) Sub(o Time) Dur { return Dur(t - o) }

// Dur is a length of time in nanoseconds.
type Dur int64

// Std converts to the standard library's type.
func (d Dur) Std() time.Duration { return time.Duration(d) }

// Ms gives milliseconds, for display and for ratios; never for further arithmetic on time stamps.
func (d Dur) Ms() float64 { return float64(d) / 1e6 }

// Seconds gives seconds, likewise for display and ratios only.
func (d Dur) Seconds() float64 { return float64(d) / 1e9 }

// Str is an interned string: an index into Session.Strings. 0 is the empty string.
type Str uint32

// EventID is a row of Trace.Events; NoEvent where there is none.
type EventID int32

// LaneID is a row of Trace.Lanes: a CPU thread or a device stream.
type LaneID int32

// StackID is a row of Stacks; NoStack where there is none.
type StackID int32

// FrameID is a row of Stacks.Frames.
type FrameID int32

// What stands where there is nothing.
const (
	NoEvent EventID = -1
	NoLane  LaneID  = -1
	NoStack StackID = -1
	NoRank          = -1
)
