package again

import (
	"regexp"
	"strings"

	"bottleneck/internal/analyse/cause/facts"
	"bottleneck/internal/analyse/cause/finding"
	"bottleneck/internal/analyse/cause/price"
	"bottleneck/internal/analyse/cause/pysource"
	"bottleneck/internal/analyse/code"
	"bottleneck/internal/model"
	"bottleneck/internal/wording"
)

// attention matches what calls of a model with attention have on their stacks: in lines of the user's, or in names of files and functions.
var attention = regexp.MustCompile(`(?i)attention|attn|\batt\b|softmax\(`)

// FindWriting names texts that a program writes beside its training, computed whole for each token. FindPrefix needs a step for each token;
// here a text is a part of a step, or stands between two, and the source tells.
func FindWriting(c *facts.Facts, _ finding.Ledger) []finding.Draft {
	if c.Text(c.B.Kind) != "train" || !c.B.PerStep || c.Wall <= 0 {
		return nil
	}
	lines := map[facts.PlaceKey]bool{}
	stacks := map[model.StackID]asking{}
	samples := map[facts.PlaceKey]int{}
	writes := func(i int) bool {
		id := c.P.Samples.Stack[i]
		a, seen := stacks[id]
		if !seen {
			a = askingOf(c, id, lines)
			stacks[id] = a
		}
		if a.writes && a.attends {
			samples[a.at]++
		}
		return a.writes
	}
	t := c.SampledTime(c.FirstStep(), c.LastStep(), writes)
	best, n := facts.PlaceKey{}, 0
	for at, k := range samples {
		if k > n || k == n && at.Compare(best) < 0 {
			best, n = at, k
		}
	}
	if n < facts.MinSamples || t < price.WritingShare*c.Wall {
		return nil
	}
	where := c.At(best.F.File, best.Line)
	where.Function = c.Text(best.F.Name)
	f := finding.NewDraft(finding.Finding{Cause: finding.Again, Sub: "prefix", OfRun: true, Where: where, Share: t / c.Wall,
		Confidence: finding.Confidence{Level: finding.Medium, Why: []wording.Text{wording.Say("again.basis-writing")}}}, nil)
	f.Run = f.By(price.Writing).Times(t)
	f.Title = wording.Say("again.title-writing", wording.Share("share", f.Share))
	f.Evidence = []wording.Text{wording.Say("again.writing", wording.Time("time", t))}
	f.Fix.Advice = []wording.Text{wording.Say("again.fix-prefix")}
	if source := c.S.Sources[where.File]; source != nil {
		if name := pysource.GivenAlike(source.Lines, best.Line); name != "" {
			f.Fix.Advice = []wording.Text{wording.Say("again.fix-encoder", wording.Named("name", name)), wording.Say("again.fix-prefix")}
		}
	}
	f.Caveat = []wording.Text{wording.Say("again.caveat-prefix")}
	if c.OnDevice() {
		// As many operators are called for one token as for all: only what the device computes becomes less, at most as large a part as in
		// the steps, whose batches are larger.
		f.Run = f.Run.Scale(c.B.Device.Computes)
		f.Run.Low = 0
		f.Caveat = append(f.Caveat, wording.Say("again.caveat-writing-device"))
	}
	return []finding.Draft{f}
}

// asking is what a stack does for a text.
type asking struct {
	at              facts.PlaceKey // the user's line around the outermost module's call
	attends, writes bool           // what it calls is attention; the line stands in a loop that writes a text from all of it
}

// askingOf tells it of a stack outside of backward passes and optimizers; lines holds what is known of lines.
func askingOf(c *facts.Facts, id model.StackID, lines map[facts.PlaceKey]bool) (a asking) {
	if c.C.Info(id).Acts&(code.ActBackward|code.ActOptimizer) != 0 {
		return a
	}
	at, ok := callOfModel(c, id, func(*model.Frame, bool) {})
	if !ok {
		return a
	}
	writes, seen := lines[at]
	if !seen {
		source := c.S.Sources[c.Text(at.F.File)]
		writes = source != nil && pysource.WritesFromAll(source.Lines, at.Line)
		lines[at] = writes
	}
	a = asking{at: at, writes: writes}
	if writes {
		callOfModel(c, id, func(f *model.Frame, user bool) {
			file := c.Text(f.File)
			a.attends = a.attends || attention.MatchString(file) || attention.MatchString(c.Text(f.Function)) ||
				user && attention.MatchString(c.Source(file, int(f.Line)))
		})
	}
	return a
}

// callOfModel finds the user's line around the outermost module's call; inside is called for frames below it, innermost first, and for
// those between two such lines.
func callOfModel(c *facts.Facts, id model.StackID, inside func(f *model.Frame, user bool)) (at facts.PlaceKey, ok bool) {
	called := false
	c.C.Walk(id, func(fr model.FrameID) bool {
		f := &c.C.Stacks.Frames[fr]
		user := c.C.File(f.File) == code.FileUser
		switch {
		case strings.HasSuffix(c.Text(f.File), model.ModuleFile):
			ok, called = false, true
		case user && called && !ok:
			at, ok = facts.PlaceKey{F: facts.KeyOf(f), Line: f.Line}, true
		}
		if !ok {
			inside(f, user)
		}
		return true
	})
	return at, ok
}
