package cause_test

import (
	"strings"
	"testing"

	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/model"
	"bottleneck/internal/testkit"
)

// What a data set makes anew for each sample, though nothing that it is made of changes, is made once: its line is the place, and the price
// is what that takes, not the rest of the fetch.
func TestMadeAnewForEachSample(t *testing.T) {
	source := strings.Split(`import torchaudio.transforms as T

class Speech(Dataset):
    def __getitem__(self, i):
        mel = T.MelSpectrogram(sample_rate=RATE)
        return mel(self.clips[i])

    def __init__(self):
        self.clips = load()

RATE = 16000`, "\n")
	for text, want := range map[string]bool{
		"mel = T.MelSpectrogram(sample_rate=RATE)": true,
		"mel = T.MelSpectrogram(self.clips[i])":    false,
	} {
		p := testkit.NewProgram()
		source[4] = "        " + text
		p.S.Sources["/home/u/data.py"] = &model.Source{Path: "/home/u/data.py", Lines: source}
		p.P.Loaders = []model.Loader{{BatchSize: 32, Length: 20}}
		within := func(line int, ms int) testkit.Act {
			item := testkit.Frame{File: "/home/u/data.py", Function: "Speech.__getitem__", First: 4, Line: line}
			return testkit.Python(ms, module, loop(38), torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__"), item,
				testkit.Frame{File: "/usr/lib/python3.13/site-packages/torchaudio/functional.py", Function: "melscale_fbanks", First: 500, Line: 560})
		}
		p.Steps(40, model.PhaseBaseline, forward, within(5, 30).In(model.SpanDataWait), within(6, 30).In(model.SpanDataWait))
		res, _ := find(t, p)
		f := res.Findings[0]
		if got := f.Fix.Advice[0].ID == "input.fix-alike"; f.Cause != finding.Input || got != want {
			t.Errorf("%s: %s/%s, %+v", text, f.Cause, f.Sub, f.Fix.Advice)
		} else if want && (f.Where.Line != 5 || f.Step.Mid < 25e6 || f.Step.Mid > 35e6) {
			t.Errorf("%s: saves %.0f ms at line %d, want 30 at line 5", text, f.Step.Mid/1e6, f.Where.Line)
		}
	}
}

// A fetch that takes nearly all of the time is the place, no function that drives the loop.
func TestFetchThatIsNearlyAllDrivesNothing(t *testing.T) {
	p := testkit.NewProgram()
	p.P.Loaders = []model.Loader{{BatchSize: 32, Length: 20}}
	p.Steps(40, model.PhaseBaseline, testkit.Native(1, module, loop(40)), testkit.Python(300, module, loop(38),
		torchFrame("utils/data/dataloader.py", "_BaseDataLoaderIter.__next__"), torchFrame("utils/data/_utils/fetch.py", "fetch"),
		user("__getitem__", 5, 8)).In(model.SpanDataWait))
	res, _ := find(t, p)
	if f := res.Findings[0]; f.Cause != finding.Input || f.Sub != "transform" || f.Where.Line != 8 {
		t.Errorf("%s/%s at %+v", f.Cause, f.Sub, f.Where)
	}
}
