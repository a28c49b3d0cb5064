package python

import (
	"path"
	"strings"

	"bottleneck/internal/analyse/account"
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
	if needed(c, members) {
		f.Fix.Advice = []wording.Text{wording.Say("python.fix-library-loss", library)}
		if at, part := insideLibrary(c, members); part > 0 {
			f.Evidence = append(f.Evidence, wording.Say("python.inside", wording.Share("share", part/max(all, 1)),
				wording.Named("function", finding.ShortFunction(c.Text(at.Name))), wording.Named("file", path.Base(c.Text(at.File)))))
		}
	}
	f.Caveat = []wording.Text{wording.Say("python.caveat-library", library)}
	ofRoundTrip(c, f, members, library)
	ofFramework(c, f, members, name)
}

// ofEnvironment says in a finding about Python code that most of it steps environments, which an agent cannot do less often.
func ofEnvironment(c *facts.Facts, f *finding.Draft, sp facts.Spot) {
	steps, all := 0.0, 0.0
	for _, m := range sp.Members {
		all += c.B.Samples[m].Weight
		if c.StepsEnvironment(c.P.Samples.Stack[c.B.Samples[m].Index]) {
			steps += c.B.Samples[m].Weight
		}
	}
	if 2*steps <= all {
		return
	}
	f.Title = wording.Say("python.title-environment", wording.With("share", c.ShareOf(f.Share, sp.Members)))
	f.Step = f.By(price.Environments).Times(c.PerStep(sp.Unit))
	f.Run = c.OverRun(f.Step)
	f.Fix.Advice = []wording.Text{wording.Say("python.fix-environment")}
}

// needed says that the loss depends on what most of some accounted samples compute: no step can do without it.
func needed(c *facts.Facts, members []int) bool {
	of := map[int]bool{}
	for _, m := range members {
		of[m] = true
	}
	loss, all, held := partsOfLoss(c), 0.0, 0.0
	for _, ch := range facts.ChainsOf(c.C, &c.P.Samples, c.B.Samples, func(k int, _ *account.Attributed) bool { return of[k] }) {
		if all += ch.Weight; len(ch.Frames) > 0 && loss.holds(ch.Frames, len(ch.Frames)-1, false) {
			held += ch.Weight
		}
	}
	return 2*held > all
}

// insideLibrary is the library's function in which most of some accounted samples are, itself, and their weight in ns.
func insideLibrary(c *facts.Facts, members []int) (at facts.FuncKey, part float64) {
	times := map[facts.FuncKey]float64{}
	for _, m := range members {
		c.C.Walk(c.P.Samples.Stack[c.B.Samples[m].Index], func(fr model.FrameID) bool {
			frame := &c.C.Stacks.Frames[fr]
			if class := c.C.File(frame.File); class == code.FileLibrary || class == code.FileFramework {
				times[facts.KeyOf(frame)] += c.B.Samples[m].Weight
				return false
			}
			return true
		})
	}
	for key, t := range times {
		if t > part || t == part && key.Compare(at) < 0 {
			at, part = key, t
		}
	}
	return at, part
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
func libraryOf(file string) string {
	file = strings.ReplaceAll(file, `\`, "/")
	for _, dir := range []string{"-packages/", "/pythonlib/", "/lib-dynload/"} {
		if i := strings.LastIndex(file, dir); i >= 0 {
			return moduleName(file[i+len(dir):])
		}
	}
	if i := strings.LastIndex(file, "/python"); i >= 0 { // lib/python3.13/json/encoder.py
		if _, rest, ok := strings.Cut(file[i+1:], "/"); ok {
			return moduleName(rest)
		}
	}
	return ""
}

// moduleName is the first part of a path inside of a folder of modules.
func moduleName(file string) string {
	name, _, _ := strings.Cut(file, "/")
	return strings.TrimSuffix(name, ".py")
}
