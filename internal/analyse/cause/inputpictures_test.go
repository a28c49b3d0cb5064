package cause_test

import (
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// Large pictures that are decoded and made smaller for each sample are made small once; what files of small ones take stays, so that small
// pictures are no such finding, nor are those that nothing makes smaller.
func TestLargePicturesAreMadeSmallOnce(t *testing.T) {
	pillow := func(file, function string) testkit.Frame {
		return testkit.Frame{File: "/usr/lib/python3.13/site-packages/PIL/" + file, Function: function, First: 200, Line: 260}
	}
	resize := pillow("Image.py", "Image.resize")
	for _, c := range []struct {
		name            string
		batch, ms       int // samples of a batch; ms of the fetch in each of three parts
		then            testkit.Frame
		found           bool
		atLeast, atMost float64 // ms of a step
	}{
		{"photographs", 3, 60, resize, true, 95, 112},
		{"thumbnails", 64, 60, resize, false, 0, 0},
		{"whole pictures", 3, 60, pillow("Image.py", "Image.transpose"), false, 0, 0},
	} {
		p := testkit.NewProgram()
		p.P.Loaders = []model.Loader{{BatchSize: c.batch, Length: 20}}
		within := func(frames ...testkit.Frame) testkit.Act {
			stack := []testkit.Frame{module, loop(38), torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__"),
				user("__getitem__", 5, 8)}
			return testkit.Native(c.ms, append(stack, frames...)...).In(model.SpanDataWait)
		}
		p.Steps(20, model.PhaseBaseline, forward, within(pillow("Image.py", "Image.convert"), pillow("ImageFile.py", "ImageFile.load")),
			within(c.then), within(pillow("Image.py", "Image.tobytes")))
		res, _ := find(t, p)
		f := res.Findings[0]
		if got := f.Fix.Advice[0].ID == "input.fix-pictures"; f.Cause != finding.Input || got != c.found {
			t.Errorf("%s: %s/%s, %+v", c.name, f.Cause, f.Sub, f.Fix.Advice)
		} else if got && (f.Step.Mid < c.atLeast*1e6 || f.Step.Mid > c.atMost*1e6 || f.Step.High > 130e6) {
			t.Errorf("%s: saves %.0f ms of %d, up to %.0f", c.name, f.Step.Mid/1e6, 3*c.ms, f.Step.High/1e6)
		}
	}
}
