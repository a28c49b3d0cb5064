package code

import (
	"regexp"

	"bottleneck/internal/model"
)

// lockEntered matches source lines that enter a context manager which is there already: a lock, a condition, a semaphore. Those
// that torch has are made on the line.
var lockEntered = regexp.MustCompile(`^\s*with\s+[\w.\[\]'"]+\s*:`)

// EntersLock says whether a line enters a lock, a condition or a semaphore by "with".
func EntersLock(line string) bool { return lockEntered.MatchString(line) }

// lockTaken matches source lines that wait for a lock by its method.
var lockTaken = regexp.MustCompile(`\.acquire\s*\(`)

// TakesLock says that a stack ends in a user's line that takes a lock: a thread that sleeps there waits for another one.
func (c *FrameClasses) TakesLock(id model.StackID) bool {
	text := c.LeafLine(c.Info(id))
	return EntersLock(text) || lockTaken.MatchString(text)
}

// LeafLine is the text of a user's line that a stack ends in, empty where it ends elsewhere.
func (c *FrameClasses) LeafLine(info StackInfo) string {
	if !info.UserLeaf {
		return ""
	}
	return c.line(info.User)
}
