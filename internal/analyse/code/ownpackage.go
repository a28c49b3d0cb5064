package code

import (
	"cmp"
	"slices"
	"strings"

	"bottleneck/internal/model"
)

// ownPackage is how the paths of an installed package begin that is the program itself: python -m runs a module of it, and no file of the
// user's was seen to run, or one line of the user's has it do all training. PyTorch's own modules (its launcher, its benchmarks) are none.
// It is "" where there is no such package. from is that line, where there is one.
func ownPackage(strs *model.Strings, samples *model.Samples, sources map[string]*model.Source) (ran string, from model.Frame) {
	stacks := &samples.Stacks
	for _, frame := range stacks.Frames {
		if class := ClassifyFile(strs.Text(frame.File)); class == FileUser {
			return trainingPackage(strs, samples, sources)
		}
	}
	for id := range stacks.Frame {
		parent := stacks.Parent[id]
		if parent < 0 || int(parent) >= len(stacks.Frame) || !frameOf(stacks, model.StackID(id), strs, "<module>", "-packages/") ||
			!frameOf(stacks, parent, strs, "_run_code", "runpy") {
			continue
		}
		path := strs.Text(stacks.Frames[stacks.Frame[id]].File)
		if classOfInstalled(path) == FileTorch {
			continue
		}
		ran = packageOf(path)
	}
	return ran, from
}

// packageOf is how the paths of the package begin that an installed file is of, "" for other files.
func packageOf(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	at := strings.LastIndex(path, "-packages/")
	if at < 0 {
		return ""
	}
	at += len("-packages/")
	if name, _, inside := strings.Cut(path[at:], "/"); inside {
		return path[:at] + name + "/"
	}
	return path // a module of one file
}

// calledFrom is what a stack tells of the user's innermost frame in it and of the package that this frame calls.
type calledFrom struct {
	user   model.FrameID
	called string // the package, "" where none is called yet
	back   string // the package that has called this frame, "" for none
	learns bool   // autograd's backward pass or an optimizer's step runs in the call
}

// frameKind is what trainingPackage needs to know of a frame, wherever it stands.
type frameKind struct {
	class     FileClass
	installed string // the package that it is of
	learns    bool
}

func kindOf(strs *model.Strings, f *model.Frame) frameKind {
	path := strs.Text(f.File)
	return frameKind{ClassifyFile(path), packageOf(path), learns(path, strs.Text(f.Function))}
}

// trainers are packages that people give their own layers, data and hooks to: the user's line is the place, whether or not a sample has
// seen one of these.
var trainers = []string{"/transformers/", "/trl/", "/sentence_transformers/", "/fastai/", "/skorch/", "/keras/"}

// callsBackLeast (a guess) is the share of a package's samples in code of the user's that it calls, from which the program is the user's.
const callsBackLeast = 0.02

// trainingPackage is the package that a line of the user's calls once and that does all training by itself: backward passes and optimizers
// run in it only, and it spends next to nothing in code of the user's.
func trainingPackage(strs *model.Strings, samples *model.Samples, sources map[string]*model.Source) (found string, place model.Frame) {
	stacks := &samples.Stacks
	kinds := make([]frameKind, len(stacks.Frames))
	for i := range stacks.Frames {
		kinds[i] = kindOf(strs, &stacks.Frames[i])
	}
	seen := make([]calledFrom, len(stacks.Frame))
	for id, fr := range stacks.Frame {
		at := calledFrom{user: -1}
		if parent := stacks.Parent[id]; parent >= 0 && int(parent) < id {
			at = seen[parent]
		}
		if fr < 0 || int(fr) >= len(stacks.Frames) {
			return "", model.Frame{}
		}
		switch kind := &kinds[fr]; {
		case kind.class == FileUser:
			at = calledFrom{user: fr, back: cmp.Or(at.back, at.called)}
		case kind.class == FileTorch:
			at.learns = at.learns || kind.learns
		case at.called == "" && at.user >= 0:
			at.called = kind.installed
		}
		seen[id] = at
		if !at.learns {
			continue
		}
		if at.user < 0 || at.called == "" || found != "" && (found != at.called ||
			place.File != stacks.Frames[at.user].File || place.Line != stacks.Frames[at.user].Line) {
			return "", model.Frame{}
		}
		found, place = at.called, stacks.Frames[at.user]
	}
	in, back := 0, 0
	for _, id := range samples.Stack {
		if id >= 0 && int(id) < len(seen) {
			if seen[id].called == found {
				in++
			}
			if seen[id].back == found {
				back++
			}
		}
	}
	trains := func(name string) bool { return strings.Contains(found, name) }
	if found == "" || classOfInstalled(found) != FileLibrary || slices.ContainsFunc(trainers, trains) ||
		float64(back) > callsBackLeast*float64(in+back) || LoopAround(sources[strs.Text(place.File)], int(place.Line)) > 0 {
		return "", model.Frame{}
	}
	return found, place
}

// learns says that a function of PyTorch's, by its file and its name or qualified name, is autograd's backward pass or an optimizer's
// step.
func learns(path, function string) bool {
	switch function[strings.LastIndexByte(function, '.')+1:] {
	case "step":
		return strings.Contains(path, "/torch/optim/")
	case "backward", "grad":
		return strings.HasSuffix(path, "/torch/autograd/__init__.py")
	}
	return false
}

// OwnCalledFrom is the line of the user's that has a package do all training, whose lines then are the program's own; ok is false without.
func (c *FrameClasses) OwnCalledFrom() (from model.Frame, ok bool) {
	return c.ownFrom, c.ownFrom.Line > 0
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
