package cause_test

import (
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
	"testing"
)

// Reads that a fast disk answers are seen asleep now and then only, or never, where the kernel counts them; the same line on files in
// memory is neither seen asleep nor counted, and a line that decodes is no read.
func TestFastDiskIsStorage(t *testing.T) {
	for _, c := range []struct {
		name, line, sub string
		asleep          int   // ms of 60
		counted         int64 // bytes of a step
	}{
		{"a fast disk", "        return os.pread(self.file, SIZE, at)", "storage", 15, 0},
		{"a faster disk", "        return os.pread(self.file, SIZE, at)", "storage", 0, 2 << 20},
		{"the page cache", "        return os.pread(self.file, SIZE, at)", "workers", 0, 4096},
		{"a decoder", "        return decode(self.files[at])", "workers", 15, 0},
		{"a decoder of files on a disk", "        return decode(self.files[at])", "workers", 0, 2 << 20},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := testkit.NewProgram()
			lines := make([]string, 20)
			lines[7] = c.line
			p.S.Sources["/home/u/lib.py"] = &model.Source{Path: "/home/u/lib.py", Lines: lines}
			p.P.Loaders = []model.Loader{{BatchSize: 32}}
			stack := []testkit.Frame{module, loop(38), torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__"),
				user("__getitem__", 5, 8)}
			acts := []testkit.Act{forward, testkit.Native(60-c.asleep, stack...).In(model.SpanDataWait)}
			if c.asleep > 0 {
				acts = append(acts, testkit.Blocked(c.asleep, stack...).In(model.SpanDataWait))
			}
			p.Steps(20, model.PhaseBaseline, acts...)
			for i := range p.P.Steps {
				p.P.Usage = append(p.P.Usage, model.Usage{At: p.P.Steps[i].Start, Read: int64(i) * c.counted})
			}
			res, _ := find(t, p)
			if len(res.Findings) == 0 || res.Findings[0].Cause != finding.Input || res.Findings[0].Sub != c.sub {
				t.Fatalf("findings %+v, want input/%s", res.Findings, c.sub)
			}
			if f := res.Findings[0]; c.sub == "storage" && (f.Step.Mid < 50e6 || f.Step.Mid > 58e6) {
				t.Errorf("saves %.1f ms a step, want about 54", f.Step.Mid/1e6)
			}
		})
	}
}

// A data set that asks a NumPy archive by name for each batch has the whole array read and unpacked each time: what helps is to ask once,
// and nothing is taken off for it. Arrays that were loaded before are not meant.
func TestArchivesAreUnpackedOnce(t *testing.T) {
	numpy := func(name string) testkit.Frame {
		return testkit.Frame{File: "/usr/lib/python3.13/site-packages/numpy/lib/_npyio_impl.py", Function: name, First: 200, Line: 260}
	}
	for _, c := range []struct {
		name   string
		frame  testkit.Frame
		advice string
	}{
		{"an archive", numpy("NpzFile.__getitem__"), "input.fix-archive"},
		{"text", numpy("loadtxt"), "input.fix-slow"},
	} {
		p := testkit.NewProgram()
		p.P.Loaders = []model.Loader{{BatchSize: 32, Length: 20}}
		stack := []testkit.Frame{module, loop(38), torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__"),
			user("__getitem__", 5, 8), c.frame}
		p.Steps(40, model.PhaseBaseline, forward, testkit.Python(60, stack...).In(model.SpanDataWait))
		res, _ := find(t, p)
		f := res.Findings[0]
		if f.Cause != finding.Input || f.Sub != "transform" || f.Fix.Advice[0].ID != c.advice {
			t.Errorf("%s: %s/%s, %+v", c.name, f.Cause, f.Sub, f.Fix.Advice)
		} else if c.advice == "input.fix-archive" && (f.Step.Low < 30e6 || f.Step.Mid < 52e6) {
			t.Errorf("%s: saves %.0f to %.0f ms of 60, want 35 at least", c.name, f.Step.Low/1e6, f.Step.High/1e6)
		}
	}
}
