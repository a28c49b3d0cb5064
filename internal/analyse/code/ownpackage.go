package code

import (
	"strings"

	"bottleneck/internal/model"
)

// ownPackage is how the paths of an installed package begin that is the program itself: python -m runs a module of it, and no file of the
// user's was seen to run. PyTorch's own modules (its launcher, its benchmarks) are none. "" where there is no such package.
func ownPackage(strs *model.Strings, stacks *model.Stacks) string {
	ran := ""
	for _, frame := range stacks.Frames {
		if class := ClassifyFile(strs.Text(frame.File)); class == FileUser {
			return ""
		}
	}
	for id := range stacks.Frame {
		parent := stacks.Parent[id]
		if parent < 0 || int(parent) >= len(stacks.Frame) || !frameOf(stacks, model.StackID(id), strs, "<module>", "-packages/") ||
			!frameOf(stacks, parent, strs, "_run_code", "runpy") {
			continue
		}
		path := strings.ReplaceAll(strs.Text(stacks.Frames[stacks.Frame[id]].File), `\`, "/")
		if classOfInstalled(path) == FileTorch {
			continue
		}
		at := strings.LastIndex(path, "-packages/") + len("-packages/")
		if name, _, inside := strings.Cut(path[at:], "/"); inside {
			ran = path[:at] + name + "/"
		} else {
			ran = path // a module of one file
		}
	}
	return ran
}

// frameOf says that a stack's innermost frame is a function of a file with a part in its path.
func frameOf(stacks *model.Stacks, id model.StackID, strs *model.Strings, function, part string) bool {
	fr := stacks.Frame[id]
	if fr < 0 || int(fr) >= len(stacks.Frames) || strs.Text(stacks.Frames[fr].Function) != function {
		return false
	}
	return strings.Contains(strings.ReplaceAll(strs.Text(stacks.Frames[fr].File), `\`, "/"), part)
}

// IsOwn says that a file is of the package that is the program itself.
func (c *FrameClasses) IsOwn(path string) bool {
	return c.own != "" && strings.HasPrefix(strings.ReplaceAll(path, `\`, "/"), c.own)
}
