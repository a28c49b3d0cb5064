package python

import (
	"strings"

	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// ofLibrary says in a finding about Python code whose code it is, where most of the time of its samples (indices of attributed ones)
// is spent in one library that is called there: another cure than for code of the user's own.
func ofLibrary(c *facts.Facts, f *finding.Finding, members []int) {
	times, all := map[string]float64{}, 0.0
	name := ""
	for _, m := range members {
		w := c.B.Samples[m].Weight
		all += w
		if lib := calledLibrary(c, c.P.Samples.Stack[c.B.Samples[m].Index]); lib != "" {
			if times[lib] += w; name == "" || times[lib] > times[name] || times[lib] == times[name] && lib < name {
				name = lib
			}
		}
	}
	share := times[name] / max(all, 1)
	if name == "" || share < price.LibraryShare {
		return
	}
	library := wording.Named("library", name)
	f.Title = wording.Say("python.title-library", wording.With("share", c.ShareOf(f.Share, members)), library)
	f.Evidence = append(f.Evidence, wording.Say("python.of-library", wording.Share("share", share), library))
	f.Fix.Advice = []wording.Text{wording.Say("python.fix-library", library)}
	f.Caveat = []wording.Text{wording.Say("python.caveat-library", library)}
	ofFramework(c, f, members, name)
}

// calledLibrary is the library that a stack's innermost user frame called: the package, or the module of the standard library, of the
// frame below it. It is empty where the user's own code runs, or PyTorch's.
func calledLibrary(c *facts.Facts, id model.StackID) string {
	called := ""
	c.C.Walk(id, func(fr model.FrameID) bool {
		file := c.C.Stacks.Frames[fr].File
		switch c.C.File(file) {
		case code.FileUser:
			return false
		case code.FileTorch:
			called = ""
		case code.FileLibrary, code.FileFramework:
			called = libraryOf(c.Text(file))
		}
		return true
	})
	return called
}

// libraryOf is the package or module of an installed file's path; "" where the path does not tell.
func libraryOf(path string) string {
	path = strings.ReplaceAll(path, `\`, "/")
	for _, dir := range []string{"-packages/", "/pythonlib/", "/lib-dynload/"} {
		if i := strings.LastIndex(path, dir); i >= 0 {
			return moduleName(path[i+len(dir):])
		}
	}
	if i := strings.LastIndex(path, "/python"); i >= 0 { // lib/python3.13/json/encoder.py
		if _, rest, ok := strings.Cut(path[i+1:], "/"); ok {
			return moduleName(rest)
		}
	}
	return ""
}

// moduleName is the first part of a path inside of a folder of modules.
func moduleName(path string) string {
	name, _, _ := strings.Cut(path, "/")
	return strings.TrimSuffix(name, ".py")
}
