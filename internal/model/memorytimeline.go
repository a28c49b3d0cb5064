package model

import "fmt"

// MemoryTimeline is torch's own account of one device's memory in a window, worked out in the program from what no trace
// file holds: which tensor an address belonged to.
type MemoryTimeline struct {
	Device  string // as torch prints it: "cpu", "cuda:0"
	Actions []MemoryAction
}

// MemoryAction is one change of the memory in use.
type MemoryAction struct {
	Time     int64 // Unix nanoseconds; -1 before the recording
	Action   int8  // torch's Action: 1 was there before, 2 created, 3 its version counted up, 4 destroyed
	Category int8  // 0 parameter, 1 optimizer state, 2 input, 3 temporary, 4 activation, 5 gradient, 6 autograd detail, 7 unknown
	Bytes    int64 // with its sign: what the category's memory changes by
}

// MemoryCategories is the number of categories.
const MemoryCategories = 8

func checkTimelines(timelines []MemoryTimeline) error {
	for _, m := range timelines {
		for i, a := range m.Actions {
			if a.Time < -1 || a.Action < 1 || a.Action > 4 || a.Category < 0 || a.Category >= MemoryCategories {
				return fmt.Errorf("memory timeline of %q: action %d is %+v", m.Device, i, a)
			}
		}
	}
	return nil
}
