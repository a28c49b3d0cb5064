package facts

import (
	"strconv"
	"strings"

	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
)

// environmentStep is what libraries of environments call the method that an agent acts by (gym, Gymnasium, dm_env, PettingZoo).
const environmentStep = "step"

// StepsEnvironment says that the user's code called a library's step in a stack.
func (c *Facts) StepsEnvironment(id model.StackID) bool {
	called := "" // what the frame at hand calls, where a library has it
	steps := false
	c.C.Walk(id, func(fr model.FrameID) bool {
		f := &c.C.Stacks.Frames[fr]
		class := c.C.File(f.File)
		if class == code.FileUser {
			steps = called == environmentStep
			return false
		}
		called = ""
		if class == code.FileLibrary {
			name := c.Text(f.Function)
			called = name[strings.LastIndexByte(name, '.')+1:]
		}
		return true
	})
	return steps
}

// AtLeast says that a version is as new as a major and a minor number, or not known.
func AtLeast(version string, major, minor int) bool {
	first, rest, _ := strings.Cut(version, ".")
	second, _, _ := strings.Cut(rest, ".")
	a, err := strconv.Atoi(first)
	b, err2 := strconv.Atoi(second)
	return err != nil || err2 != nil || a > major || a == major && b >= minor
}
